/** What may be said of any call. */
export interface CallOptions {
  /** For the call with all its attempts and waits, in milliseconds; the client's own unless given. */
  readonly timeoutMs?: number | undefined;
  /**
   * Gives the call up: it rejects with the signal's reason. A commit that has reached the database may land all the
   * same; the same key tells.
   */
  readonly signal?: AbortSignal | undefined;
  /** The trace that the call belongs to, in the form of W3C Trace Context; the client's `trace` unless given. */
  readonly traceparent?: string | undefined;
}
