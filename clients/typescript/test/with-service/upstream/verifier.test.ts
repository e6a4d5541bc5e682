import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:net";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

import {
  type AuthorityHooks,
  CapabilityAuthority,
  createAuthorityHooks,
  type IssuedCapability,
} from "../../../src/index.js";
import { generatePrivateKey } from "../../../src/offline/index.js";
import { verifySignedActionEnvelope } from "../../../src/upstream/index.js";
import { member, ready, setting } from "../team.js";
import { type Envelope, envelopeFor, signedBy, signedWith } from "./envelopes.js";

/** What upstream's verifier answers. */
interface Answer {
  readonly ok: boolean;
  readonly code?: string;
  readonly reason?: string;
}

type Verify = (signed: unknown, options: object) => Promise<Answer>;

const upstream = (await import(pathToFileURL(setting("UPSTREAM_MODULE")).href)) as {
  readonly verifySignedProductActionEnvelope: Verify;
};

const user = member("user");
const service = member("service");
const otherService = member("other-service");
const hooks = createAuthorityHooks(service, { timeoutMs: 30_000 });
const tenant = service.credentials.tenant;

function verify(signed: unknown, asked: Partial<AuthorityHooks> = hooks, more: object = {}): Promise<Answer> {
  const options = { expectedAudience: "ruflo.memory", expectedTenantRef: tenant, ...asked, ...more };
  return upstream.verifySignedProductActionEnvelope(signed, options);
}

let number = 0;

/** A capability of the service on a new content, and that content. */
async function issued(): Promise<{ readonly capability: IssuedCapability; readonly content: string }> {
  number += 1;
  const content = `Fact ${number} of ${randomUUID()}.`;
  return { capability: (await ready(user, service, content)).capability, content };
}

/** What the verifier answers to a commit's envelope that differs so, signed by the service. */
async function answerTo(given: Envelope): Promise<Answer> {
  const { capability } = await issued();
  return verify(signedBy(service, envelopeFor(capability, given)));
}

test("what the authority allows passes, and commits with the same envelope as its proof", async () => {
  const { capability, content } = await issued();
  const signed = signedBy(service, envelopeFor(capability));

  const answer = await verify(signed);
  assert.deepEqual([answer.ok, answer.code], [true, undefined], JSON.stringify(answer));

  const committed = await service.commit(capability, { content, upstreamEnvelope: JSON.stringify(signed) });
  assert.equal(committed.replayed, false);
  const again = await service.commit(capability, { content, upstreamEnvelope: JSON.stringify(signed) });
  assert.equal(again.replayed, true);
  assert.deepEqual(again.receipt.statement, committed.receipt.statement);

  // Its right is used up: it passes no more, and nothing else does by the same capability.
  const after = await verify(signedBy(service, envelopeFor(capability)));
  assert.equal(after.code, "capability_denied");
  assert.match(after.reason ?? "", /ALREADY_COMMITTED/);
});

test("the same envelope passes once, of twenty at once too", async () => {
  const { capability } = await issued();
  const signed = signedBy(service, envelopeFor(capability));

  const answers = await Promise.all(Array.from({ length: 20 }, () => verify(signed)));

  assert.equal(answers.filter(({ ok }) => ok).length, 1);
  assert.equal(answers.filter(({ code }) => code === "replay_detected").length, 19);
  assert.equal((await verify(signed)).code, "replay_detected");
});

test("another envelope under the same idempotency key is a conflict", async () => {
  const { capability } = await issued();

  assert.equal((await verify(signedBy(service, envelopeFor(capability)))).ok, true);
  assert.equal((await verify(signedBy(service, envelopeFor(capability)))).code, "idempotency_conflict");
});

test("what policy did not decide, and what the capability does not bind, is denied", async () => {
  const digest = `sha256:${"1".repeat(64)}`;
  const others: readonly (readonly [Envelope, string])[] = [
    [{ policyReceiptId: digest }, "policy_denied"],
    [{ policyReceiptId: "no-digest" }, "policy_denied"],
    [{ contentDigest: digest }, "policy_denied"],
    [{ validationReceiptId: digest }, "policy_denied"],
    [{ resourceRefs: ["plans"] }, "policy_denied"],
    [{ resourceRefs: ["notes", "plans"] }, "policy_denied"],
    [{ capabilityId: randomUUID() }, "capability_denied"],
    [{ capabilityId: "no-uuid" }, "capability_denied"],
    [{ requestDigest: digest }, "capability_denied"],
    [{ idempotencyKey: randomUUID() }, "capability_denied"],
  ];
  for (const [other, code] of others) {
    const answer = await answerTo(other);
    assert.equal(answer.code, code, JSON.stringify([other, answer]));
  }
});

test("what another than the holder signed is denied, by policy and by the capability", async () => {
  const { capability } = await issued();
  const signed = signedBy(otherService, envelopeFor(capability));

  assert.equal((await verify(signed)).code, "policy_denied");
  const capabilityAlone = await verify(signed, { ...hooks, policyVerifier: async () => ({ allowed: true }) });
  assert.equal(capabilityAlone.code, "capability_denied");
  assert.match(capabilityAlone.reason ?? "", /HOLDER_MISMATCH/);
});

test("our own verifier takes the same hooks to the same answers", async () => {
  const { capability } = await issued();
  const signed = signedBy(service, envelopeFor(capability));
  const arrival = { audience: "ruflo.memory", tenant, nowMs: Date.now(), hooks };

  const found = await verifySignedActionEnvelope(signed, arrival);
  assert.equal(found.ok, true);
  const again = await verifySignedActionEnvelope(signed, arrival);
  assert.equal(!again.ok && again.code, "replay_detected");
  const forged = await verifySignedActionEnvelope(signedWith(generatePrivateKey(), envelopeFor(capability)), arrival);
  assert.equal(!forged.ok && forged.code, "signature_invalid");
});

test("a revoked capability is denied at once", async () => {
  const { capability } = await issued();
  await service.revoke(capability);

  const answer = await verify(signedBy(service, envelopeFor(capability)));

  assert.equal(answer.code, "capability_denied");
  assert.match(answer.reason ?? "", /REVOKED/);
});

test("a signature by no key of the authority, or over something else, is invalid", async () => {
  const { capability } = await issued();
  const envelope = envelopeFor(capability);
  const signed = signedBy(service, envelope);

  assert.equal((await verify(signedWith(generatePrivateKey(), envelope))).code, "signature_invalid");
  const changed = { ...signed, envelope: { ...envelope, correlationId: "another" } };
  assert.equal((await verify(changed)).code, "signature_invalid");
  assert.equal(
    (await verify({ ...signed, keyId: otherService.credentials.privateKey?.publicKey.keyId })).code,
    "signature_invalid",
  );
});

test("a verifier with resolveKey alone finds keys, and lets nothing pass whose signer it cannot tell", async () => {
  const { capability } = await issued();
  const { verifySignature: _, ...withoutIt } = hooks;
  const envelope = envelopeFor(capability);

  assert.equal((await verify(signedWith(generatePrivateKey(), envelope), withoutIt)).code, "key_not_found");
  assert.equal((await verify(signedBy(service, envelope), withoutIt)).code, "policy_denied");
});

test("what upstream denies by itself never reaches the authority", async () => {
  const { capability } = await issued();
  const signed = signedBy(service, envelopeFor(capability));
  const closed = createAuthorityHooks(unreachable());

  const elsewhere = await verify(signed, closed, { expectedAudience: "ruflo.policy" });
  assert.equal(elsewhere.code, "audience_mismatch");
  const other = await verify(signed, closed, { expectedTenantRef: { ...tenant, id: "another" } });
  assert.equal(other.code, "tenant_mismatch");
  assert.equal((await verify(signed, closed, { now: () => Date.now() + 3_600_000 })).code, "stale");
  assert.equal((await verify(signed, closed, { now: () => Date.now() - 3_600_000 })).code, "not_yet_valid");
  // Upstream asks for an expiry, and holds nothing for fresh for longer than five minutes.
  const soon = signedBy(service, envelopeFor(capability, { expiresAt: new Date(Date.now() + 60_000).toISOString() }));
  assert.equal((await verify(soon, closed, { now: () => Date.now() + 90_000 })).code, "expired");
  assert.equal((await verify({ ...signed, algorithm: "none" }, closed)).code, "malformed_signed_envelope");
  assert.equal((await verify({ ...signed, envelope: {} }, closed)).code, "invalid_envelope");
});

test("nothing passes when the authority cannot be reached, does not answer, or will not", async () => {
  const { capability } = await issued();
  const signed = signedBy(service, envelopeFor(capability));

  assert.equal((await verify(signed, createAuthorityHooks(unreachable()))).code, "verification_error");
  assert.equal(
    (await verify(signed, createAuthorityHooks(await silent(), { timeoutMs: 200 }))).code,
    "verification_error",
  );
  // Its principal is no service.
  assert.equal((await verify(signed, createAuthorityHooks(user))).code, "verification_error");
  const givenUp = createAuthorityHooks(service, { signal: AbortSignal.abort() });
  assert.equal((await verify(signed, givenUp)).code, "verification_error");
});

test("nothing passes when the authority is lost between two hooks", async () => {
  const { capability } = await issued();
  const signed = signedBy(service, envelopeFor(capability));
  const lost = createAuthorityHooks(unreachable());

  for (const hook of ["policyVerifier", "capabilityVerifier", "replayStore"] as const) {
    const answer = await verify(signed, { ...hooks, [hook]: lost[hook] });
    // The lost ones know of no signer, so that those of them which ask for none deny.
    assert.equal(answer.ok, false);
    assert.match(answer.code ?? "", hook === "replayStore" ? /^verification_error$/ : /^(policy|capability)_denied$/);
  }
  assert.equal((await verify(signed)).ok, true);
});

test("once a key is revoked nothing passes that it signed, before or after", async () => {
  const content = `Fact of ${randomUUID()}.`;
  const { capability } = await ready(user, otherService, content);
  const before = signedBy(otherService, envelopeFor(capability));
  const asked = createAuthorityHooks(service, { timeoutMs: 30_000 });
  const { privateKey } = otherService.credentials;
  assert.equal(
    (await verify(before, { ...asked, replayStore: { reserve: async () => "conflict" } })).code,
    "idempotency_conflict",
  );

  await operator(
    "principals",
    "revoke",
    "--tenant",
    `${tenant.namespace}|${tenant.id}`,
    "--key",
    privateKey!.publicKey.keyId,
    "--yes",
  );

  assert.equal((await verify(before, asked)).code, "signature_invalid");
  assert.equal((await verify(signedBy(otherService, envelopeFor(capability)), asked)).code, "signature_invalid");
});

/** A client of a port where nobody listens. */
function unreachable(): CapabilityAuthority {
  return other("127.0.0.1:1");
}

/** A client of a port where somebody takes connections and says nothing. */
async function silent(): Promise<CapabilityAuthority> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("no port");
  }
  return other(`127.0.0.1:${address.port}`);
}

function other(target: string): CapabilityAuthority {
  const client = CapabilityAuthority.connect({ credentials: service.credentials, target, retries: { attempts: 1 } });
  after(() => client.close());
  return client;
}

/** The operator's command. */
async function operator(...parts: readonly string[]): Promise<void> {
  await promisify(execFile)(setting("AUTHORITY_PROGRAM"), [...parts]);
}
