/** Proofs that a call is made by whoever holds a key: what no proof is made of. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as offline from "../src/offline/index.js";

const CALL: offline.Call = {
  privateKey: offline.privateKeyFromSeed(new Uint8Array(32).fill(1)),
  tenant: { namespace: "cognitum-tenant", id: "acme" },
  principal: { namespace: "workload", id: "committer" },
  audience: "memory.example",
  method: "/capability_authority.v1.CapabilityService/GetCommitReceipt",
  requestBytes: new Uint8Array(),
  nonce: new Uint8Array(16),
  issuedMs: 0,
};

test("the same call with the same nonce and time has the same proof", () => {
  assert.deepEqual(offline.makeInvocation(CALL), offline.makeInvocation({ ...CALL }));
});

test("a nonce has 16 to 32 bytes", () => {
  for (const length of [16, 32]) offline.makeInvocation({ ...CALL, nonce: new Uint8Array(length) });
  for (const length of [0, 15, 33]) {
    assert.throws(() => offline.makeInvocation({ ...CALL, nonce: new Uint8Array(length) }), offline.InvocationRefused);
  }
});

test("a method is a full RPC name", () => {
  for (const method of ["", "Method", "/a.B", "/a.B/C/D", "/a.B/C\n", "a.B/C"]) {
    assert.throws(() => offline.makeInvocation({ ...CALL, method }), offline.InvocationRefused);
  }
});

test("a proof fits into metadata, to the last byte", () => {
  const shortest = offline.makeInvocation({ ...CALL, audience: "a".repeat(200) }).length - 200;
  const largest = "a".repeat(offline.MAX_PROOF_BYTES - shortest);
  // Lengths beyond 127 take no more bytes to write until 16,384.
  assert.equal(offline.makeInvocation({ ...CALL, audience: largest }).length, offline.MAX_PROOF_BYTES);
  assert.throws(() => offline.makeInvocation({ ...CALL, audience: `${largest}a` }), offline.InvocationRefused);
});

test("what nobody could read is not said", () => {
  assert.throws(() => offline.makeInvocation({ ...CALL, audience: "\ud800" }), offline.PayloadRefused);
  for (const issuedMs of [0.5, Number.NaN, offline.LAST_INSTANT_MS + 1, offline.FIRST_INSTANT_MS - 1]) {
    assert.throws(() => offline.makeInvocation({ ...CALL, issuedMs }), offline.InstantError);
  }
});
