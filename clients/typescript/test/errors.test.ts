import assert from "node:assert/strict";
import { test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";

import * as errors from "../src/client/errors.js";
import { rpcNamed } from "../src/client/rpcs.js";
import { errorIn } from "../src/client/statuses.js";
import { ErrorReasonSchema } from "../src/proto/capability_authority/v1/errors_pb.js";
import { ErrorInfoSchema } from "../src/proto/google/rpc/error_details_pb.js";
import { StatusSchema } from "../src/proto/google/rpc/status_pb.js";

const commit = { rpc: rpcNamed("CommitValidated"), keyField: "commit_idempotency_key", key: "mine" };

function refused(
  reason: string,
  metadata: Record<string, string> = {},
  code = Code.FailedPrecondition,
): errors.AuthorityError {
  const info = create(ErrorInfoSchema, { reason, domain: "capability-authority", metadata });
  return errorIn(commit, create(StatusSchema, { code, message: "no", details: [anyPack(ErrorInfoSchema, info)] }));
}

test("every reason of the contract has an error of its own", () => {
  const reasons = ErrorReasonSchema.values
    .filter(({ number }) => number !== 0)
    .map(({ name }) => name.slice("ERROR_REASON_".length));

  assert.deepEqual([...errors.BY_REASON.keys()], reasons);
  assert.equal(new Set(errors.BY_REASON.values()).size, reasons.length);
  for (const reason of reasons) {
    const error = refused(reason);
    assert.equal(error.constructor, errors.BY_REASON.get(reason));
    assert.equal(error.reason, reason);
    assert.equal(error.name, error.constructor.name);
    assert.match(String(error.stack), new RegExp(`${reason}`));
  }
});

test("a reason that is newer than this client is told as it is", () => {
  const error = refused("TOO_NEW", { what: "else" });

  assert(error instanceof errors.UnknownReason);
  assert.equal(error.message, "CommitValidated: no (TOO_NEW); what: else");
  assert.equal(error.after(1, false).outcomeUnknown, true);
});

test("a status without details, of another domain or damaged is the transport's", () => {
  const foreign = anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason: "EXPIRED", domain: "elsewhere" }));
  const damaged = { ...foreign, value: new Uint8Array([0xff]) };
  for (const details of [[], [foreign], [damaged]]) {
    const error = errorIn(commit, create(StatusSchema, { code: Code.Internal, message: "", details }));
    assert.equal(error.constructor, errors.TransportError);
    assert.equal(error.message, "CommitValidated: Internal: no details");
  }
  assert(errorIn(commit, create(StatusSchema, { code: Code.DeadlineExceeded })) instanceof errors.DeadlineExceeded);
  assert.equal(errorIn(commit, create(StatusSchema, { code: 99 })).code, Code.Unknown);
});

test("errors say what they name", () => {
  const malformed = refused("MALFORMED", { field: "presentation.media_type", problem: "is empty" });
  assert(malformed instanceof errors.RequestRefused);
  assert.deepEqual([malformed.field, malformed.problem], ["presentation.media_type", "is empty"]);

  const conflict = refused("IDEMPOTENCY_CONFLICT", { differs: "content_digest,media_type" });
  assert(conflict instanceof errors.IdempotencyConflict);
  assert.deepEqual(conflict.differs, ["content_digest", "media_type"]);
  assert.equal(
    conflict.message,
    "CommitValidated: no (IDEMPOTENCY_CONFLICT); content_digest, media_type: expected as when commit_idempotency_key mine" +
      " was first used, presented otherwise; use a new key for a new request",
  );

  const mismatch = refused("BINDING_MISMATCH", { term: "media_type" });
  assert(mismatch instanceof errors.BindingMismatch);
  assert.equal(
    mismatch.explained("text/plain", "image/png").message,
    "CommitValidated: no (BINDING_MISMATCH); media_type: expected text/plain, presented image/png",
  );

  const stale = refused("PROOF_INVALID", { proof: "issue_time" });
  assert.match(stale.message, /is this machine's clock right\?/);
});

test("what a server says cannot reach a log as more than one line of text", () => {
  const error = refused("MALFORMED", { problem: `\n\u001b[31m${"x".repeat(300)}` });

  assert.doesNotMatch(error.message, /[^\x20-\x7e…]/);
  assert(error.message.length < 400);
});
