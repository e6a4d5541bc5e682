import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { Code, decodeBinaryHeader } from "@connectrpc/connect";

import {
  CapabilityAuthority,
  ConnectionClosed,
  DeadlineExceeded,
  InProgress,
  NotAllowed,
  PlaintextRefused,
  TransportError,
  Unavailable,
  UnknownRpc,
} from "../src/index.js";
import { openStatement, parseStatement, PROOF_METADATA_KEY, sha256 } from "../src/offline/index.js";
import {
  CommitValidatedRequestSchema,
  RevokeCapabilityRequestSchema,
  RevokeCapabilityResponseSchema,
} from "../src/proto/capability_authority/v1/capability_service_pb.js";
import {
  GetMemoryRecordRequestSchema,
  GetMemoryRecordResponseSchema,
} from "../src/proto/capability_authority/v1/memory_service_pb.js";
import { type Invocation, InvocationSchema } from "../src/proto/capability_authority/v1/statements_pb.js";
import { type Arrived, answer, answering, arrived, clientOf, refusal, someCredentials } from "./answering.js";

const REVOKED = answer(RevokeCapabilityResponseSchema, create(RevokeCapabilityResponseSchema, { replayed: true }));
const RECORD = answer(
  GetMemoryRecordResponseSchema,
  create(GetMemoryRecordResponseSchema, { record: { recordId: "r" } }),
);
const BUSY = refusal(Code.Unavailable, "DEPENDENCY_UNAVAILABLE");

function proofOf({ headers }: Arrived, credentials: CapabilityAuthority["credentials"]): Invocation {
  const statement = parseStatement(decodeBinaryHeader(String(headers[PROOF_METADATA_KEY])));
  return openStatement(statement, { expected: InvocationSchema, keys: () => credentials.privateKey?.publicKey });
}

test("each attempt is signed anew over exactly the bytes that were sent, and all are the same request", async () => {
  const server = await answering((_, number) => (number < 3 ? BUSY : REVOKED));
  const { client } = clientOf(server);

  const revoked = await client.revoke("capability");

  assert.equal(revoked.replayed, true);
  assert.equal(server.calls.length, 3);
  const proofs = server.calls.map((call) => proofOf(call, client.credentials));
  for (const [index, call] of server.calls.entries()) {
    assert.deepEqual(proofs[index]?.requestDigest, sha256(call.bytes));
    assert.equal(proofs[index]?.method, call.path);
    assert.equal(proofs[index]?.audience, "memory.test");
    assert.deepEqual(call.bytes, server.calls[0]?.bytes);
  }
  assert.equal(new Set(proofs.map(({ nonce }) => Buffer.from(nonce).toString("hex"))).size, 3);
  const { requestId } = arrived(RevokeCapabilityRequestSchema, server.calls[0]);
  assert.match(requestId, /^[0-9a-f-]{36}$/);
});

test("a read that is tried again has another proof, for each works once", async () => {
  const server = await answering((_, number) => (number < 2 ? BUSY : RECORD));
  const { client } = clientOf(server);

  assert.equal((await client.getRecord("r")).recordId, "r");

  const [first, second] = server.calls.map(({ headers }) => headers[PROOF_METADATA_KEY]);
  assert.notEqual(first, second);
});

test("waits double up to the longest, with jitter, on top of what the authority asks for", async () => {
  const server = await answering((_, number) =>
    number < 5 ? refusal(Code.Aborted, "IN_PROGRESS", { retryMs: 50 }) : REVOKED,
  );
  const { client, waits } = clientOf(server, { retries: { longestDelayMs: 300 } });

  await client.revoke("capability");

  assert.deepEqual(waits, [100, 150, 200, 200]);
});

test("after enough attempts the last refusal is thrown, and says what is in doubt, and the key", async () => {
  const server = await answering(() => BUSY);
  const { client } = clientOf(server, { retries: { attempts: 3 } });

  const error = await client.revoke("capability", { requestId: "mine" }).catch((thrown: unknown) => thrown);

  assert(error instanceof Unavailable);
  assert.equal(error.attempts, 3);
  assert.equal(error.outcomeUnknown, true);
  assert.equal(error.key, "mine");
  assert.match(
    error.message,
    /^RevokeCapability after 3 attempts: .*the change may have happened: call again with the same request_id mine/,
  );
});

test("no wait outlasts the time of the call", async () => {
  const server = await answering(() => refusal(Code.Aborted, "IN_PROGRESS", { retryMs: 6_000 }));
  const { client, waits } = clientOf(server, { timeoutMs: 10_000 });

  await assert.rejects(client.revoke("capability"), InProgress);

  assert.equal(server.calls.length, 2);
  assert.deepEqual(waits, [6_050]);
});

test("what is refused for good is asked for once", async () => {
  const server = await answering(() => refusal(Code.PermissionDenied, "NOT_ALLOWED", { metadata: { right: "issue" } }));
  const { client } = clientOf(server);

  const error = await client.revoke("capability").catch((thrown: unknown) => thrown);

  assert(error instanceof NotAllowed);
  assert.equal(error.right, "issue");
  assert.equal(error.outcomeUnknown, false);
  assert.equal(server.calls.length, 1);
});

test("a connection that is cut is opened again, with the same request", async () => {
  const server = await answering((_, number) => (number === 1 ? "cut" : REVOKED));
  const { client } = clientOf(server);

  await client.revoke("capability");

  assert.equal(server.calls.length, 2);
  assert.deepEqual(server.calls[0]?.bytes, server.calls[1]?.bytes);
});

test("where nobody listens, the transport fails as unavailable", async () => {
  const client = CapabilityAuthority.connect({ credentials: someCredentials(), retries: { attempts: 1 } });

  const error = await client.getRecord("r").catch((thrown: unknown) => thrown);

  assert(error instanceof TransportError);
  assert.equal(error.code, Code.Unavailable);
  assert.equal(error.retryable, true);
  client.close();
});

test("an answer that is no message leaves a change in doubt", async () => {
  const server = await answering(() => ({ bytes: [new Uint8Array([0xff, 0xff])] }));
  const { client } = clientOf(server, { retries: { attempts: 1 } });

  const error = await client.revoke("capability").catch((thrown: unknown) => thrown);

  assert(error instanceof TransportError);
  assert.equal(error.outcomeUnknown, true);
});

test("an attempt ends after its share of the time", async () => {
  const server = await answering((_, number) => (number === 1 ? "hang" : REVOKED));
  const { client } = clientOf(server, { timeoutMs: 3_000 });

  await client.revoke("capability");

  assert(server.calls.length > 1);
  assert.equal(server.calls[0]?.headers["grpc-timeout"], "1500m");
});

test("nothing that takes longer than the call's time is waited for", async () => {
  const server = await answering(() => "hang");
  const { client } = clientOf(server, { timeoutMs: 50, retries: { attempts: 1, attemptShare: 1 } });

  const error = await client.revoke("capability").catch((thrown: unknown) => thrown);

  assert(error instanceof DeadlineExceeded);
  assert.equal(error.outcomeUnknown, true);
});

test("a call that its caller gives up ends with the caller's reason, also between attempts", async () => {
  const server = await answering((_, number) => (number === 1 ? "hang" : BUSY));
  const { client } = clientOf(server);
  const reason = new Error("enough");

  const during = new AbortController();
  const waiting = client.revoke("capability", { signal: during.signal });
  const watched = assert.rejects(waiting, reason);
  await until(() => server.calls.length === 1);
  during.abort(reason);
  await watched;

  const between = new AbortController();
  const { client: patient } = clientOf(server, {
    retries: {
      sleep: async (_ms, signal) => {
        between.abort(reason);
        signal?.throwIfAborted();
      },
    },
  });
  await assert.rejects(patient.revoke("capability", { signal: between.signal }), reason);
  await assert.rejects(client.revoke("capability", { signal: AbortSignal.abort(reason) }), reason);
});

test("closing ends what runs, and nothing is called afterwards", async () => {
  const server = await answering(() => "hang");
  const { client } = clientOf(server, { retries: { attempts: 1 } });

  const running = assert.rejects(client.revoke("capability"), TransportError);
  await until(() => server.calls.length === 1);
  client.close();
  await running;

  await assert.rejects(client.revoke("capability"), ConnectionClosed);
  client.close();
});

test("a request that gRPC would not take is not sent", async () => {
  const server = await answering(() => REVOKED);
  const { client } = clientOf(server);
  const content = new Uint8Array(5 * 1024 * 1024);

  const asked = client.propose({ memoryNamespace: "notes", memoryType: "critique", content, mediaType: "image/png" });
  const error = await asked.catch((thrown: unknown) => thrown);

  assert(error instanceof TransportError);
  assert.equal(error.code, Code.ResourceExhausted);
  assert.equal(server.calls.length, 0);
});

test("any RPC is called by its name, with its own request", async () => {
  const server = await answering(() => RECORD);
  const { client } = clientOf(server);
  const request = create(GetMemoryRecordRequestSchema, { recordId: "r" });

  assert.equal(
    (await client.call("MemoryService/GetMemoryRecord", request)).$typeName,
    GetMemoryRecordResponseSchema.typeName,
  );
  assert.equal(
    (await client.call("/capability_authority.v1.MemoryService/GetMemoryRecord", request)).$typeName,
    GetMemoryRecordResponseSchema.typeName,
  );

  await assert.rejects(client.call("GetMemoryRecords", request), UnknownRpc);
  await assert.rejects(client.call("RevokeCapability", request), TypeError);
  await assert.rejects(client.call("WatchRevocations", request), TypeError);
});

test("the trace goes along: what is given, or what the source gives", async () => {
  const server = await answering(() => RECORD);
  const given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const current = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  const { client } = clientOf(server, { trace: () => ({ traceparent: current, tracestate: "a=b" }) });

  await client.getRecord("r", { traceparent: given });
  await client.getRecord("r");

  assert.deepEqual(
    server.calls.map(({ headers }) => headers["traceparent"]),
    [given, current],
  );
  assert.deepEqual(
    server.calls.map(({ headers }) => headers["tracestate"]),
    [undefined, "a=b"],
  );
  assert.match(
    String(server.calls[0]?.headers["user-agent"]),
    /^capability-authority-typescript\/\d+\.\d+\.\d+ contract\/\d+$/,
  );
  await assert.rejects(client.getRecord("r", { traceparent: `${given}\n` }), TypeError);
  await assert.rejects(client.getRecord("r", { traceparent: "00-0" }), TypeError);
});

test("without a key the tenant is named, and a token is asked for every attempt", async () => {
  const server = await answering((_, number) => (number < 2 ? BUSY : RECORD));
  let tokens = 0;
  const credentials = someCredentials({ privateKey: undefined, bearerToken: () => `token-${(tokens += 1)}` });
  const { client } = clientOf(server, { credentials });

  await client.getRecord("r");

  assert.deepEqual(
    server.calls.map(({ headers }) => headers["authorization"]),
    ["Bearer token-1", "Bearer token-2"],
  );
  assert.equal(server.calls[0]?.headers["capability-authority-tenant"], "test|one");
  assert.equal(server.calls[0]?.headers[PROOF_METADATA_KEY], undefined);
});

test("a commit that brings a signed envelope has no other proof", async () => {
  const server = await answering(() =>
    refusal(Code.PermissionDenied, "PROOF_INVALID", { metadata: { proof: "action" } }),
  );
  const { client } = clientOf(server);
  const request = create(CommitValidatedRequestSchema, { presentation: {}, upstreamEnvelopeJson: "{}" });

  await assert.rejects(client.call("CommitValidated", request));

  assert.equal(server.calls[0]?.headers[PROOF_METADATA_KEY], undefined);
  assert.equal(server.calls[0]?.headers["capability-authority-tenant"], "test|one");
});

test("a Unix socket is called like a port", async () => {
  const folder = mkdtempSync(join(tmpdir(), "authority-"));
  after(() => rmSync(folder, { recursive: true }));
  const server = await answering(() => RECORD, join(folder, "socket"));

  assert.equal((await clientOf(server).client.getRecord("r")).recordId, "r");
});

test("plaintext is spoken on this machine alone", () => {
  const connect = (target: string): void =>
    CapabilityAuthority.connect({ credentials: someCredentials(), target }).close();

  for (const target of ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "unix:/run/authority.sock"]) {
    connect(target);
  }
  for (const target of [
    "localhost:1",
    "authority.example:443",
    "10.0.0.1:1",
    "0.0.0.0:1",
    "[::2]:1",
    "127.0.0.1.example:1",
    "127.0.0.256:1",
  ]) {
    assert.throws(() => connect(target), PlaintextRefused, target);
  }
  for (const target of ["", "127.0.0.1", "http://127.0.0.1:1", "user@127.0.0.1:1", "127.0.0.1:1/path"]) {
    assert.throws(() => connect(target), TypeError, target);
  }
});

/** Resolves once the condition holds: whoever waits for it is told by the event loop, not by a clock. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
