/** How patiently a call is tried again, by a clock that stands still: exactly at its edges. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";

import { TransportError } from "../src/index.js";
import { DEFAULT_RETRIES, delayAfter, retryPolicy, withRetries } from "../src/client/retries.js";
import { failureOf, keyedCall } from "../src/client/statuses.js";
import { RPCS } from "../src/client/rpcs.js";
import { GetMemoryRecordRequestSchema } from "../src/proto/capability_authority/v1/memory_service_pb.js";

const READ = keyedCall(RPCS.get("GetMemoryRecord")!, create(GetMemoryRecordRequestSchema));
const LATER = new TransportError(failureOf(READ, "not now", { code: Code.Unavailable }));

for (const changes of [
  { attempts: 0 },
  { attempts: 1.5 },
  { attemptShare: 0 },
  { attemptShare: 1.01 },
  { attemptShare: Number.NaN },
  { firstDelayMs: -1 },
  { longestDelayMs: -1 },
  { longestDelayMs: Number.NaN },
]) {
  test(`a policy that could never send anything is refused: ${JSON.stringify(changes)}`, () => {
    assert.throws(() => retryPolicy(changes), RangeError);
  });
}

test("the least and the hastiest policy are ones", () => {
  const policy = retryPolicy({ attempts: 1, attemptShare: 1, firstDelayMs: 0, longestDelayMs: 0 });
  assert.equal(delayAfter(policy, 1, undefined), 0);
});

test("a wait is what was asked for and a part of what has doubled", () => {
  const policy = retryPolicy({ random: () => 0.5 });
  const asked = [1, 2, 5, 6, 1_000].map((attempt) => delayAfter(policy, attempt, 7));
  assert.deepEqual(asked, [57, 107, 807, 1_007, 1_007]);
});

/** How often it is tried in 1,000 ms, each time in vain, when each wait is `delayMs` and takes `tooLongMs` more. */
async function attemptsOf(delayMs: number, tooLongMs = 0): Promise<readonly number[]> {
  let now = 0;
  const policy = retryPolicy({
    clock: () => now,
    random: () => 1,
    firstDelayMs: delayMs,
    longestDelayMs: delayMs,
    sleep: async (ms) => void (now += ms + tooLongMs),
  });
  const allowed: number[] = [];
  const attempt = async (ms: number): Promise<never> => {
    allowed.push(ms);
    throw LATER;
  };
  await assert.rejects(withRetries(attempt, { timeoutMs: 1_000, policy }), (error) => {
    assert(error instanceof TransportError);
    assert.equal(error.attempts, allowed.length);
    return true;
  });
  return allowed;
}

test("what would be tried at the very end of the time is not tried, nor waited for", async () => {
  assert.deepEqual(await attemptsOf(999), [500, 1]);
  assert.deepEqual(await attemptsOf(1_000), [500]);
});

test("a wait that took too long is followed by no attempt without time", async () => {
  assert.deepEqual(await attemptsOf(600, 399), [500, 1]);
  assert.deepEqual(await attemptsOf(600, 400), [500]);
});

test("no attempt gets more than its share, nor more than what is left", async () => {
  assert.deepEqual(await attemptsOf(300), [500, 500, 400, 100]);
});

test("a call without time is not made", async () => {
  const policy = retryPolicy();
  for (const timeoutMs of [0, -1, Number.NaN]) {
    await assert.rejects(
      withRetries(async () => assert.fail("it was made"), { timeoutMs, policy }),
      RangeError,
    );
  }
});

test("whatever is no failure of a call ends it at once", async () => {
  const broken = new Error("broken");
  let attempts = 0;
  const attempt = async (): Promise<never> => {
    attempts += 1;
    throw broken;
  };
  await assert.rejects(withRetries(attempt, { timeoutMs: 1_000, policy: retryPolicy() }), broken);
  assert.equal(attempts, 1);
});

test("a read leaves no doubt and has no key", () => {
  const failed = new TransportError(failureOf(READ, "cut", { code: Code.Unavailable })).after(1, true);
  assert.deepEqual([failed.failure.keyField, failed.key, failed.outcomeUnknown], ["", "", false]);
});

test("a wait that is longer than any timer of Node.js is long, not over at once", async () => {
  const giveUp = new AbortController();
  let over = false;
  const waits = DEFAULT_RETRIES.sleep(2 ** 40, giveUp.signal).then(() => {
    over = true;
  });
  // Node.js would make one millisecond of it.
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(over, false);
  giveUp.abort(new Error("given up"));
  await assert.rejects(waits, /given up/);
});
