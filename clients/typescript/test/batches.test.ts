import assert from "node:assert/strict";
import { test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";

import { BATCH_BYTES, BATCH_ITEMS, divided } from "../src/client/batches.js";
import { type AuthorityError, DeadlineExceeded, Expired, TransportError } from "../src/index.js";
import {
  BatchCommitValidatedRequestSchema,
  BatchCommitValidatedResponseSchema,
  type CommitOutcome,
  CommitOutcomeSchema,
} from "../src/proto/capability_authority/v1/capability_service_pb.js";
import { KeyPurpose } from "../src/proto/capability_authority/v1/types_pb.js";
import { ErrorInfoSchema } from "../src/proto/google/rpc/error_details_pb.js";
import { StatusSchema } from "../src/proto/google/rpc/status_pb.js";
import { type Answer, type Arrived, answer, answering, arrived, clientOf } from "./answering.js";
import { CONTENT, capability, known } from "./authority-keys.js";

const issuing = known(KeyPurpose.CAPABILITY);

function keys(call: Arrived | undefined): string[] {
  const { requests } = arrived(BatchCommitValidatedRequestSchema, call);
  return requests.map(({ presentation }) => presentation?.commitIdempotencyKey ?? "");
}

function commits(...keys: readonly string[]) {
  return keys.map((key) => ({ capability: capability(issuing, { commitIdempotencyKey: key }), content: CONTENT }));
}

function refused(code: Code, reason: string): CommitOutcome {
  const info = create(ErrorInfoSchema, { reason, domain: "capability-authority" });
  const value = create(StatusSchema, { code, message: "no", details: [anyPack(ErrorInfoSchema, info)] });
  return create(CommitOutcomeSchema, { outcome: { case: "status", value } });
}

function done(recordId: string): CommitOutcome {
  return create(CommitOutcomeSchema, { outcome: { case: "result", value: { recordId } } });
}

function outcomes(...all: readonly CommitOutcome[]): Answer {
  return answer(BatchCommitValidatedResponseSchema, create(BatchCommitValidatedResponseSchema, { outcomes: [...all] }));
}

test("items are divided by the limits of a batch, in their order", () => {
  const of = (bytesInBatch: number, count: number) => Array.from({ length: count }, () => ({ bytesInBatch }));

  assert.deepEqual(
    divided(of(1, BATCH_ITEMS + 1)).map(({ length }) => length),
    [BATCH_ITEMS, 1],
  );
  assert.deepEqual(
    divided(of(BATCH_BYTES / 2, 3)).map(({ length }) => length),
    [2, 1],
  );
  assert.deepEqual(
    divided([...of(1, 1), ...of(BATCH_BYTES + 1, 1), ...of(1, 1)]).map(({ length }) => length),
    [1, 1, 1],
  );
  assert.deepEqual(divided([]), []);
});

test("only what was refused for now is asked for again, under its own key", async () => {
  const server = await answering((_, number) =>
    number === 1
      ? outcomes(refused(Code.FailedPrecondition, "EXPIRED"), refused(Code.Aborted, "IN_PROGRESS"), done("b"))
      : outcomes(number === 2 ? refused(Code.Aborted, "IN_PROGRESS") : done("a")),
  );
  const { client, waits } = clientOf(server);

  const [expired, late, early] = await client.commitBatch(commits("x", "y", "z"), { verify: false });

  assert(expired instanceof Expired);
  assert.deepEqual([expired.key, expired.failure.rpc, expired.outcomeUnknown], ["x", "BatchCommitValidated", false]);
  assert.deepEqual(
    [late, early].map((one) => (one as { recordId: string }).recordId),
    ["a", "b"],
  );
  assert.deepEqual(server.calls.map(keys), [["x", "y", "z"], ["y"], ["y"]]);
  assert.equal(waits.length, 2);
});

test("a call that fails leaves each of its items in doubt, by its own key", async () => {
  const server = await answering(() => "cut");
  const { client } = clientOf(server, { retries: { attempts: 2 } });

  const answers = await client.commitBatch(commits("x", "y"), { verify: false });

  for (const [index, error] of answers.entries()) {
    assert(error instanceof TransportError);
    assert.deepEqual([error.key, error.attempts, error.outcomeUnknown], ["xy"[index], 2, true]);
  }
  assert.deepEqual(server.calls.map(keys), [
    ["x", "y"],
    ["x", "y"],
  ]);
});

test("an answer with too few outcomes, or empty ones, is nobody's", async () => {
  for (const said of [outcomes(done("a")), outcomes(create(CommitOutcomeSchema), create(CommitOutcomeSchema))]) {
    const { client } = clientOf(await answering(() => said), { retries: { attempts: 1 } });

    const answers = await client.commitBatch(commits("x", "y"), { verify: false });

    assert(answers.every((error) => error instanceof TransportError && error.outcomeUnknown));
  }
});

test("what there was no time for is not sent, and says so", async () => {
  const later = Array.from({ length: BATCH_ITEMS }, () => refused(Code.Aborted, "IN_PROGRESS"));
  const server = await answering(() => outcomes(...later));
  // The wait before the second attempt leaves four milliseconds of ten seconds.
  const retries = { attempts: 2, firstDelayMs: 19_992, longestDelayMs: 19_992 };
  const { client } = clientOf(server, { timeoutMs: 10_000, retries });
  const many = commits(...Array.from({ length: BATCH_ITEMS + 1 }, (_, number) => `key-${number}`));

  const answers = (await client.commitBatch(many, { verify: false })) as readonly AuthorityError[];

  const last = answers.at(-1);
  assert(last instanceof DeadlineExceeded);
  assert.match(last.message, /not sent/);
  assert.equal(last.outcomeUnknown, false);
  assert(server.calls.every((call) => !keys(call).includes(`key-${BATCH_ITEMS}`)));
});
