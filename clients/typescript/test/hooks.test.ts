import assert from "node:assert/strict";
import { test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";

import { createAuthorityHooks } from "../src/index.js";
import { canonicalize, generatePrivateKey } from "../src/offline/index.js";
import {
  ResolveKeyRequestSchema,
  ResolveKeyResponseSchema,
  VerifyActionEnvelopeRequestSchema,
  VerifyActionEnvelopeResponseSchema,
  VerifyActionEnvelopeResponse_Verdict_Outcome as Outcome,
} from "../src/proto/capability_authority/v1/interop_service_pb.js";
import { SignerMemory } from "../src/upstream/signers.js";
import { type Answer, type Answering, answer, answering, arrived, clientOf, refusal } from "./answering.js";

const mine = generatePrivateKey();
const others = generatePrivateKey();
const envelope = { action: "memory.commit-validated" };
const bytes = canonicalize(envelope);
const ALLOWED = { outcome: Outcome.ALLOWED };
const DENIED = { outcome: Outcome.DENIED };

/** A server that knows two keys by name, and allows what the first of them signed. */
async function interop(verdict?: Answer): Promise<Answering> {
  return answering((call) => {
    if (call.path.endsWith("/ResolveKey")) {
      const { publicKey } = arrived(ResolveKeyRequestSchema, call).keyId === "other" ? others : mine;
      const found = { keyId: publicKey.keyId, publicKey: publicKey.raw };
      return answer(ResolveKeyResponseSchema, create(ResolveKeyResponseSchema, found));
    }
    const { keyId } = arrived(VerifyActionEnvelopeRequestSchema, call);
    const said = keyId === mine.publicKey.keyId ? ALLOWED : DENIED;
    const response = create(VerifyActionEnvelopeResponseSchema, { policy: said, capability: said });
    return verdict ?? answer(VerifyActionEnvelopeResponseSchema, response);
  });
}

function signed(name: string, key = mine) {
  return { keyId: name, canonicalBytes: bytes, signature: key.sign(bytes) };
}

test("both sides are asked about by one call, with the thumbprint of the key whatever it was called", async () => {
  const server = await interop();
  let now = 0;
  const hooks = createAuthorityHooks(clientOf(server).client, { clock: () => now });

  assert.equal(await hooks.verifySignature(signed("name")), true);
  assert.deepEqual(await hooks.policyVerifier(envelope), { allowed: true });
  assert.deepEqual(await hooks.capabilityVerifier(envelope), { allowed: true });
  const asked = server.calls.filter(({ path }) => path.endsWith("/VerifyActionEnvelope"));
  assert.equal(asked.length, 1);
  assert.equal(arrived(VerifyActionEnvelopeRequestSchema, asked[0]).keyId, mine.publicKey.keyId);

  // A second later it is asked again: what was withdrawn meanwhile is seen.
  now = 1_000;
  await hooks.capabilityVerifier(envelope);
  assert.equal(server.calls.filter(({ path }) => path.endsWith("/VerifyActionEnvelope")).length, 2);
});

test("an object that says something else by now is another envelope", async () => {
  const hooks = createAuthorityHooks(clientOf(await interop()).client);
  const reused = { ...envelope };
  await hooks.verifySignature(signed("name"));
  assert.equal((await hooks.policyVerifier(reused)).allowed, true);

  reused.action = "memory.propose";
  assert.equal((await hooks.policyVerifier(reused)).allowed, false);
  assert.equal((await hooks.capabilityVerifier(reused)).allowed, false);
});

test("a key that is another than was asked for verifies nothing", async () => {
  const server = await answering(() => {
    const found = { keyId: others.publicKey.keyId, publicKey: mine.publicKey.raw };
    return answer(ResolveKeyResponseSchema, create(ResolveKeyResponseSchema, found));
  });
  const hooks = createAuthorityHooks(clientOf(server).client);
  await assert.rejects(hooks.verifySignature(signed("name")), /was answered by the key/);
  const another = createAuthorityHooks(clientOf(await interop()).client);
  await assert.rejects(another.verifySignature(signed(others.publicKey.keyId)), /was answered by the key/);
});

test("what nobody was seen to sign, or somebody else, is denied", async () => {
  const hooks = createAuthorityHooks(clientOf(await interop()).client);

  assert.equal((await hooks.policyVerifier({ ...envelope })).allowed, false);
  assert.equal(await hooks.verifySignature(signed("name", others)), false);
  assert.equal((await hooks.policyVerifier({ ...envelope })).allowed, false);
  assert.equal(await hooks.verifySignature(signed("other", others)), true);
  assert.equal((await hooks.capabilityVerifier({ ...envelope })).allowed, false);

  // Whose own signature was seen, too, may do what it asked for, whoever repeats it.
  assert.equal(await hooks.verifySignature(signed("name")), true);
  assert.equal(await hooks.verifySignature(signed("other", others)), true);
  assert.equal((await hooks.capabilityVerifier({ ...envelope })).allowed, true);
});

test("an answer that does not plainly allow, denies; none at all throws", async () => {
  const empty = answer(VerifyActionEnvelopeResponseSchema, create(VerifyActionEnvelopeResponseSchema));
  const silent = createAuthorityHooks(clientOf(await interop(empty)).client);
  await silent.verifySignature(signed("name"));
  assert.equal((await silent.policyVerifier(envelope)).allowed, false);
  await assert.rejects(silent.replayStore.reserve({ key: "k", bindingDigest: "sha256:", expiresAt: 1 }));

  for (const verdict of [refusal(Code.PermissionDenied, "NOT_ALLOWED"), "hang", "cut"] as const) {
    const client = clientOf(await interop(verdict), { retries: { attempts: 1 } }).client;
    const hooks = createAuthorityHooks(client, { timeoutMs: 2_000 });
    await hooks.verifySignature(signed("name"));
    await assert.rejects(hooks.policyVerifier(envelope));
  }
});

test("signers are remembered for five minutes, the latest first, and not without end", () => {
  let now = 0;
  const memory = new SignerMemory(() => now);
  for (const keyId of ["a", "b", "a", "c", "d", "e"]) {
    memory.remember("digest", keyId);
  }
  assert.deepEqual(memory.of("digest"), ["e", "d", "c", "a"]);
  assert.deepEqual(memory.of("another"), []);
  now = 5 * 60_000 - 1;
  assert.equal(memory.of("digest").length, 4);
  now += 1;
  assert.deepEqual(memory.of("digest"), []);

  memory.remember("digest", "a");
  for (let number = 0; number < 4_096; number += 1) {
    memory.remember(String(number), "b");
  }
  assert.deepEqual(memory.of("digest"), []);
  assert.deepEqual(memory.of("0"), ["b"]);
});
