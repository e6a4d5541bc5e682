/** Tries a call again, with the same key, until it succeeds or its time is up. */

import { setTimeout as wait } from "node:timers/promises";

import { AuthorityError } from "./failures.js";

/**
 * How patiently a call is tried again. Times are milliseconds.
 *
 * Tried again are UNAVAILABLE, ABORTED, whatever carries RetryInfo, and an attempt that ran out of its own time: the
 * outcome is then unknown and the same key finds it out. Every other refusal is final at once.
 */
export interface RetryPolicy {
  /** How often a call is sent at most; 1 tries nothing again. */
  readonly attempts: number;
  /** The longest wait before the second attempt; it doubles with every further one. */
  readonly firstDelayMs: number;
  /** The longest wait of our own choice. What RetryInfo asks for is waited on top. */
  readonly longestDelayMs: number;
  /** The part of the call's timeout that a single attempt may take: more than 0, at most 1. */
  readonly attemptShare: number;
  /** A number from 0 to below 1: callers that failed together must not come back together. */
  readonly random: () => number;
  /** Resolves after so many milliseconds; rejects with the signal's reason when that aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Milliseconds that never go back. */
  readonly clock: () => number;
}

/** Five attempts, with waits from 0.1 to 2 seconds. */
export const DEFAULT_RETRIES: RetryPolicy = {
  attempts: 5,
  firstDelayMs: 100,
  longestDelayMs: 2_000,
  attemptShare: 0.5,
  random: Math.random,
  sleep,
  clock: () => performance.now(),
};

/** Milliseconds: a timer that is set for longer goes off at once. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1;

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await wait(Math.min(ms, LONGEST_SLEEP_MS), undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/**
 * A policy that differs in some of it from the one that is used unless told otherwise.
 *
 * @throws {RangeError} for one that could never send anything.
 */
export function retryPolicy(changes: Partial<RetryPolicy> = {}): RetryPolicy {
  const policy = { ...DEFAULT_RETRIES, ...changes };
  const sends = Number.isInteger(policy.attempts) && policy.attempts >= 1;
  const takesTime = policy.attemptShare > 0 && policy.attemptShare <= 1;
  if (!sends || !takesTime || !(policy.firstDelayMs >= 0) || !(policy.longestDelayMs >= 0)) {
    throw new RangeError("a policy needs at least one attempt, a share above 0 and up to 1, and no negative delay");
  }
  return policy;
}

/** How long to wait after attempt number `attempt` (from 1), in milliseconds; `askedMs` is what RetryInfo says. */
export function delayAfter(policy: RetryPolicy, attempt: number, askedMs: number | undefined): number {
  const longest = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** Math.min(attempt - 1, 64));
  return (askedMs ?? 0) + policy.random() * longest;
}

/**
 * The first success of `attempt`, which is given the milliseconds that it may take.
 *
 * @throws {RangeError} unless `timeoutMs` is positive.
 * @throws {AuthorityError} of the last attempt: when it is final, when there were enough, or when waiting would take
 *   longer than `timeoutMs` allows. Whatever else `attempt` throws, and the reason of an aborted `signal`, ends it at
 *   once.
 */
export async function withRetries<T>(
  attempt: (ms: number) => Promise<T>,
  options: { readonly timeoutMs: number; readonly policy: RetryPolicy; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  const { timeoutMs, policy, signal } = options;
  if (!(timeoutMs > 0)) {
    throw new RangeError(`a timeout is a positive number of milliseconds, not ${timeoutMs}`);
  }
  const deadline = policy.clock() + timeoutMs;
  let inDoubt = false;
  for (let number = 1; ; number += 1) {
    let failed: AuthorityError;
    try {
      return await attempt(Math.min(timeoutMs * policy.attemptShare, deadline - policy.clock()));
    } catch (error) {
      if (!(error instanceof AuthorityError)) {
        throw error;
      }
      failed = error.after(number, inDoubt);
    }
    const delay = delayAfter(policy, number, failed.failure.retryDelayMs);
    if (!failed.retryable || number >= policy.attempts || policy.clock() + delay >= deadline) {
      throw failed;
    }
    inDoubt = failed.outcomeUnknown;
    await policy.sleep(delay, signal);
    if (policy.clock() >= deadline) {
      throw failed;
    }
  }
}
