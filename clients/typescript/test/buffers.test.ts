/** A Buffer is bytes like any other, although its `slice` shares what it cuts: nothing here changes what is given. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { toBinary } from "@bufbuild/protobuf";

import * as offline from "../src/offline/index.js";
import { InvocationSchema, SignedStatementSchema } from "../src/proto/capability_authority/v1/statements_pb.js";
import { keySetOf, NOW_MS, recordOf, signerOf, statementNamed, TENANT } from "./golden/samples.js";

/** As programs have bytes that they read from a file or the network. */
function bufferOf(bytes: Uint8Array): Uint8Array {
  return Buffer.from(bytes) as unknown as Uint8Array;
}

test("a key of a Buffer is the key, and the Buffer stays as it was", () => {
  const { publicKey } = recordOf("commit-receipt");
  const raw = bufferOf(publicKey.raw);

  assert.equal(offline.publicKeyOf(raw).keyId, publicKey.keyId);
  assert.deepEqual([...raw], [...publicKey.raw]);
  raw.fill(0);
  assert.equal(offline.publicKeyOf(bufferOf(publicKey.raw)).keyId, publicKey.keyId);
});

test("a statement read from a Buffer keeps its own bytes, and verifies", () => {
  const written = bufferOf(toBinary(SignedStatementSchema, statementNamed("commit-receipt")));
  const before = [...written];

  const statement = offline.parseStatement(written);
  assert.deepEqual([...written], before);
  written.fill(0);

  const buffered = { ...statement, payload: bufferOf(statement.payload) };
  const receipt = offline.verifyReceipt(buffered, keySetOf("commit-receipt"));
  buffered.payload.fill(0);
  assert.deepEqual(receipt.capabilityDigest, offline.digestOf(statementNamed("commit-capability")));
});

test("a proof is the same whatever its bytes came in", () => {
  const bytes = { requestBytes: new Uint8Array([1, 2, 3]), nonce: new Uint8Array(16).fill(4) };
  const call = {
    ...{ privateKey: signerOf("invocation"), tenant: TENANT, principal: TENANT, audience: "a", method: "/a.B/C" },
    issuedMs: NOW_MS,
  };

  const proof = offline.makeInvocation({ ...call, ...bytes });

  const buffered = { requestBytes: bufferOf(bytes.requestBytes), nonce: bufferOf(bytes.nonce) };
  assert.deepEqual(offline.makeInvocation({ ...call, ...buffered }), proof);
  const said = offline.parseStatement(bufferOf(proof));
  assert.deepEqual([...offline.readPayload(said.payloadType, said.payload, InvocationSchema).nonce], [...bytes.nonce]);
});

test("documents in Buffers are read, seeds and messages taken", () => {
  const document = bufferOf(new TextEncoder().encode('{"a":1}'));
  assert.deepEqual(offline.requireCanonical(document), { a: 1 });
  const key = offline.privateKeyFromSeed(bufferOf(new Uint8Array(32).fill(6)));
  assert.ok(key.publicKey.verify(bufferOf(key.sign(document)), document));
});
