/** What is known of a call that failed, and the error that says it. */

import { Code } from "@connectrpc/connect";

const SHOWN_CHARACTERS = 240;
const WORTH_ANOTHER_TRY: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.Aborted,
  Code.DeadlineExceeded,
  // By a server that stops: a call that its own caller cancelled throws the reason of that and never comes here.
  Code.Canceled,
]);

/** What is known of a call that failed. */
export interface Failure {
  /** The RPC's short name, "CommitValidated". */
  readonly rpc: string;
  /** What went wrong: a fixed sentence of the authority, or the words of the transport. */
  readonly sentence: string;
  /** The gRPC status; undefined when the call itself succeeded but its answer is not believed. */
  readonly code?: Code | undefined;
  /** The name of an ErrorReason without its prefix; empty when the authority itself said nothing. */
  readonly reason: string;
  /** What the refusal names: `term`, `field`, `problem`, `differs`, `receipt_id`, … */
  readonly metadata: Readonly<Record<string, string>>;
  /** How long the authority asks to wait before another try, in milliseconds. */
  readonly retryDelayMs?: number | undefined;
  /** For a mutation: the request field that makes another try the same request. */
  readonly keyField: string;
  /** Its value in this call. */
  readonly key: string;
  /** How often the call was sent. */
  readonly attempts: number;
  /** Whether the mutation may have happened all the same. */
  readonly outcomeUnknown: boolean;
}

/** A call that did not succeed. `message` says what was expected, what was presented, and whether to try again. */
export class AuthorityError extends Error {
  /** What is known of it, as data. */
  readonly failure: Failure;

  constructor(failure: Failure, options?: ErrorOptions) {
    super("", options);
    this.failure = failure;
    Object.defineProperty(this, "name", { value: new.target.name, enumerable: false });
    this.say();
  }

  /** Make `message` and the head of `stack` anew: a class whose own fields enter into them does so once it has them. */
  protected say(): void {
    Object.defineProperty(this, "message", { value: this.inWords(), enumerable: false, configurable: true });
    Error.captureStackTrace(this, this.constructor);
  }

  /** Whether such an answer proves that earlier attempts with the same key did not succeed either. */
  get settles(): boolean {
    return false;
  }

  /** Whether the mutation may happen, or have happened, after such an answer. */
  get leavesDoubt(): boolean {
    return false;
  }

  /** What the caller can do, where the reason alone tells. */
  get remedy(): string {
    return "";
  }

  /** The name of an ErrorReason without its prefix, such as "EXPIRED"; empty when the transport failed. */
  get reason(): string {
    return this.failure.reason;
  }

  /** The gRPC status code; undefined when the call succeeded but its answer is not believed. */
  get code(): Code | undefined {
    return this.failure.code;
  }

  /** What the refusal names, by name: ids, fields and terms, never content or keys. */
  get metadata(): Readonly<Record<string, string>> {
    return this.failure.metadata;
  }

  /** The authority's fixed sentence, or the words of the transport. */
  get sentence(): string {
    return this.failure.sentence;
  }

  /** Whether the same request, with the same key, may succeed later. The client has tried that already. */
  get retryable(): boolean {
    return (this.code !== undefined && WORTH_ANOTHER_TRY.has(this.code)) || this.failure.retryDelayMs !== undefined;
  }

  /** Whether the mutation may have happened: asking again with the same `key` gives its result. */
  get outcomeUnknown(): boolean {
    return this.failure.outcomeUnknown;
  }

  /** The idempotency key or request id of a mutation, also when the client made it; empty for a read. */
  get key(): string {
    return this.failure.key;
  }

  /** How often the call was sent. */
  get attempts(): number {
    return this.failure.attempts;
  }

  /** The same failure with some of it said otherwise. */
  with(changes: Partial<Failure>): this {
    const kind = this.constructor as new (failure: Failure, options?: ErrorOptions) => this;
    return new kind({ ...this.failure, ...changes }, { cause: this.cause });
  }

  /** The same failure as the last of so many attempts; `inDoubt` when an earlier one may have succeeded. */
  after(attempts: number, inDoubt: boolean): this {
    const unknown = this.failure.keyField !== "" && (this.leavesDoubt || (inDoubt && !this.settles));
    return this.with({ attempts, outcomeUnknown: unknown });
  }

  /** What is particular to this refusal, in words. */
  specifics(): string {
    return Object.entries(this.metadata)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => `${name}: ${shown(value)}`)
      .join(", ");
  }

  private inWords(): string {
    const { rpc, attempts, sentence, reason } = this.failure;
    const tried = attempts > 1 ? ` after ${attempts} attempts` : "";
    const head = `${rpc}${tried}: ${shown(sentence)}${reason === "" ? "" : ` (${shown(reason)})`}`;
    return [head, this.specifics(), this.advice()].filter((part) => part !== "").join("; ");
  }

  private advice(): string {
    const { rpc, keyField, key } = this.failure;
    const same = keyField === "" ? "call again" : `call again with the same ${keyField} ${key}`.trimEnd();
    if (this.outcomeUnknown) {
      const what = rpc.endsWith("CommitValidated") ? "commit" : "change";
      return `the ${what} may have happened: ${same}, which gives its result and repeats nothing`;
    }
    return this.remedy || (this.retryable ? `${same} later` : "");
  }
}

/** `text` fit for one line of a log: what is no printable ASCII escaped, and cut short. */
export function shown(text: string): string {
  const escaped = text
    .slice(0, SHOWN_CHARACTERS)
    .replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return text.length <= SHOWN_CHARACTERS ? escaped : `${escaped}…`;
}
