/** What an authority tells as it happens: one stream after the other, without loss between them. */

import { AuthorityError, type Failure } from "./failures.js";
import { ConnectionClosed, TransportError } from "./errors.js";
import { type RetryPolicy, delayAfter } from "./retries.js";
import { type KeyedCall, errorOf, failureOf } from "./statuses.js";

/** Milliseconds: an authority speaks every ten seconds, so a stream that is silent for so long is taken for cut. */
const SILENCE_MS = 30_000;

/** What a watch is made of. */
export interface WatchSettings<Told> {
  /** What failures are told as. */
  readonly call: KeyedCall;
  /** Opens a stream from where the watch is now; it ends when the signal aborts. */
  readonly connect: (signal: AbortSignal) => AsyncIterable<Told>;
  /** Moves the watch on, once the message after this one is asked for: what was handed over is not told again. */
  readonly takeIn: (told: Told) => void;
  readonly policy: RetryPolicy;
  readonly signal: AbortSignal | undefined;
  readonly silenceMs?: number;
}

/**
 * The messages of a watch, for as long as they are asked for.
 *
 * A stream that ends, is cut or falls silent is followed by another, after pauses that grow while nothing comes,
 * without end; what was lost on the way is told again.
 *
 * @throws {AuthorityError} that says that another would fare no better; the reason of an aborted signal.
 */
export async function* watched<Told>(settings: WatchSettings<Told>): AsyncGenerator<Told, void, undefined> {
  const { policy, signal } = settings;
  for (let fruitless = 0; ; fruitless += 1) {
    let failed: AuthorityError | undefined;
    try {
      for await (const told of oneStream(settings)) {
        fruitless = 0;
        yield told;
        settings.takeIn(told);
      }
    } catch (error) {
      if (!(error instanceof AuthorityError && error.retryable)) {
        throw error;
      }
      failed = error;
    }
    if (failed !== undefined || fruitless > 0) {
      await policy.sleep(delayAfter(policy, fruitless + 1, failed?.failure.retryDelayMs), signal);
    }
  }
}

/** One stream, which ends with an error when it is silent for too long. */
async function* oneStream<Told>(settings: WatchSettings<Told>): AsyncGenerator<Told, void, undefined> {
  const { call, connect, signal, silenceMs = SILENCE_MS } = settings;
  signal?.throwIfAborted();
  const ending = new AbortController();
  const giveUp = (): void => ending.abort();
  signal?.addEventListener("abort", giveUp);
  let isSilent = false;
  const fallsSilent = setTimeout(() => {
    isSilent = true;
    ending.abort();
  }, silenceMs);
  try {
    for await (const told of connect(ending.signal)) {
      fallsSilent.refresh();
      yield told;
      // However long the reader took: what came meanwhile waits to be read.
      fallsSilent.refresh();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ConnectionClosed) {
      throw error;
    }
    throw isSilent ? new TransportError(silence(call, silenceMs), { cause: error }) : errorOf(call, error);
  } finally {
    clearTimeout(fallsSilent);
    signal?.removeEventListener("abort", giveUp);
    ending.abort();
  }
}

function silence(call: KeyedCall, ms: number): Failure {
  return failureOf(call, `nothing came for ${ms / 1_000} s`, { retryDelayMs: 0 });
}
