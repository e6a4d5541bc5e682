/**
 * Action envelopes of upstream beyond the published verdicts: edges of times and texts, hooks, text that is read
 * strictly.
 */

import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { test } from "node:test";

import { InstantError, privateKeyFromSeed } from "../src/offline/index.js";
import * as upstream from "../src/upstream/index.js";

const KEY = privateKeyFromSeed(new Uint8Array(32).fill(1));
const TENANT = { namespace: "cognitum-tenant", id: "acme" };
const OCCURRED_MS = Date.parse("2026-07-28T12:00:00.000Z");
const DIGEST = `sha256:${"a".repeat(64)}`;

const RECALL: upstream.ActionEnvelope = {
  schemaVersion: "cognitum.action.v1",
  eventId: "event-01",
  issuer: "ruflo.policy",
  audience: "ruflo.memory",
  subject: { namespace: "ruflo-agent", id: "agent-7" },
  tenantRef: TENANT,
  action: "memory.recall",
  resourceRefs: ["ruflo.memory://ns/project-notes"],
  requestDigest: DIGEST,
  correlationId: "corr-01",
  authoritativeSource: {
    authority: "ruflo.memory",
    tenantRef: TENANT,
    sourceType: "ruflo.memory/record",
    sourceId: "memory-01",
    sourceVersion: "1",
    sourceDigest: DIGEST,
  },
  policyReceiptId: "receipt-01",
  capabilityId: "grant-01",
  occurredAt: upstream.actionTime(OCCURRED_MS),
  expiresAt: upstream.actionTime(OCCURRED_MS + 240_000),
  privacyClass: "P1",
};

/** An action that needs neither a capability nor an expiry. */
const {
  capabilityId: _capabilityId,
  expiresAt: _expiresAt,
  requestDigest: _requestDigest,
  ...READ
} = {
  ...RECALL,
  action: "dashboard.read",
  authoritativeSource: {
    ...RECALL.authoritativeSource,
    authority: "cognitum.control-plane",
    sourceType: "cognitum.control-plane/board",
  },
};

function hooksOf(more: Partial<upstream.EnvelopeHooks> = {}): upstream.EnvelopeHooks {
  return {
    resolveKey: () => KEY.publicKey,
    policyVerifier: () => true,
    capabilityVerifier: () => true,
    replayStore: { reserve: () => "reserved" },
    ...more,
  };
}

async function codeOf(envelope: upstream.ActionEnvelope, more: Partial<upstream.Arrival> = {}): Promise<string> {
  const signed = upstream.signActionEnvelope(envelope, KEY);
  const arrival = { audience: "ruflo.memory", tenant: TENANT, nowMs: OCCURRED_MS, hooks: hooksOf(), ...more };
  const found = await upstream.verifySignedActionEnvelope(signed, arrival);
  return found.ok ? "ok" : found.code;
}

const TIMES: readonly (readonly [upstream.ActionEnvelope, number, string])[] = [
  [RECALL, -30_000, "ok"],
  [RECALL, -30_001, "not_yet_valid"],
  [RECALL, 239_999, "ok"],
  [RECALL, 240_000, "expired"],
  [RECALL, 300_001, "stale"],
  [{ ...RECALL, expiresAt: upstream.actionTime(OCCURRED_MS + 900_000) }, 300_000, "ok"],
  [{ ...RECALL, expiresAt: upstream.actionTime(OCCURRED_MS + 900_000) }, 300_001, "stale"],
  [READ, 299_999, "ok"],
  [READ, 300_000, "expired"],
  [RECALL, Number.NaN, "verification_error"],
];

for (const [envelope, afterMs, code] of TIMES) {
  test(`${envelope.action} after ${afterMs} ms: ${code}`, async () => {
    assert.equal(await codeOf(envelope, { nowMs: OCCURRED_MS + afterMs }), code);
  });
}

test("a capability is asked for where the action needs it, or the envelope names one", async () => {
  const hooks = hooksOf({ capabilityVerifier: () => false });
  assert.equal(await codeOf(RECALL, { hooks }), "capability_denied");
  assert.equal(await codeOf({ ...READ, capabilityId: "grant-01" }, { hooks }), "capability_denied");
  assert.equal(await codeOf(READ, { hooks }), "ok");
});

const EC_KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvTXz5K7bgCkt5jjlYWrrEIyvZu0v
bDhONdHs5iRo7pS9pGNitMAzPm5C9e7G58cpE3RPcIIXDTavTCMzn2JdvA==
-----END PUBLIC KEY-----`;
const SMALL_ORDER_KEY = { key: { kty: "OKP", crv: "Ed25519", x: "A".repeat(43) }, format: "jwk" as const };

const HOOKS: readonly (readonly [string, Partial<upstream.EnvelopeHooks>, string])[] = [
  ["no key resolver", { resolveKey: undefined }, "signature_configuration_missing"],
  ["no key", { resolveKey: () => null }, "key_not_found"],
  ["a key of another algorithm", { resolveKey: () => createPublicKey(EC_KEY) }, "key_not_found"],
  ["a key of small order", { resolveKey: () => createPublicKey(SMALL_ORDER_KEY) }, "key_not_found"],
  ["a key of node:crypto", { resolveKey: () => createPublicKey(KEY.toPem()) }, "ok"],
  ["another's key", { resolveKey: () => privateKeyFromSeed(new Uint8Array(32)).publicKey }, "signature_invalid"],
  ["a verifier that has seen the signature", { verifySignature: () => true, resolveKey: undefined }, "ok"],
  ["a verifier that has not", { verifySignature: async () => false }, "signature_invalid"],
  ["a verifier that answers something", { verifySignature: () => 1 as unknown as boolean }, "signature_invalid"],
  ["a policy that answers something", { policyVerifier: () => 1 as unknown as boolean }, "policy_denied"],
  ["a policy that answers nothing", { policyVerifier: () => undefined as unknown as boolean }, "policy_denied"],
  ["a hook that rejects", { policyVerifier: () => Promise.reject(new Error("down")) }, "verification_error"],
  ["a store that answers something", { replayStore: { reserve: () => "?" as "replay" } }, "verification_error"],
];

for (const [name, hooks, code] of HOOKS) {
  test(`${name}: ${code}`, async () => {
    assert.equal(await codeOf(RECALL, { hooks: hooksOf(hooks) }), code);
  });
}

test("what denies says why, and nothing is reserved for what is denied", async () => {
  const claims: upstream.ReplayClaim[] = [];
  const replayStore = { reserve: (claim: upstream.ReplayClaim) => (claims.push(claim), "reserved" as const) };
  const policyVerifier = (): upstream.Decision => ({ allowed: false, reason: "not on Sundays" });
  const signed = upstream.signActionEnvelope(RECALL, KEY);
  const arrival = { audience: "ruflo.memory", tenant: TENANT, nowMs: OCCURRED_MS };

  const denied = await upstream.verifySignedActionEnvelope(signed, {
    ...arrival,
    hooks: hooksOf({ policyVerifier, replayStore }),
  });
  assert.deepEqual(denied, { ok: false, code: "policy_denied", issues: [], reason: "not on Sundays" });
  assert.deepEqual(claims, []);

  const found = await upstream.verifySignedActionEnvelope(signed, { ...arrival, hooks: hooksOf({ replayStore }) });
  assert.ok(found.ok);
  const expiresAt = OCCURRED_MS + 240_000;
  assert.deepEqual(claims, [{ key: found.replayKey, bindingDigest: found.canonicalDigest, expiresAt }]);
});

const PUBLISH = {
  action: "ruview.semantic.publish",
  idempotencyKey: "key-01",
  authoritativeSource: {
    ...RECALL.authoritativeSource,
    authority: "ruview.edge",
    sourceType: "ruview.edge/semantic-state",
  },
};

const WRONG: readonly (readonly [object, string])[] = [
  [{ expiresAt: RECALL.occurredAt }, "$.expiresAt unsupported_value"],
  [{ eventId: "a".repeat(257) }, "$.eventId invalid_format"],
  [{ eventId: "two words" }, "$.eventId invalid_format"],
  [{ eventId: null }, "$.eventId invalid_type"],
  [{ subject: { namespace: "workload", id: "a".repeat(513) } }, "$.subject.id invalid_format"],
  [{ subject: { namespace: "workload", id: "a\u0001" } }, "$.subject.id invalid_format"],
  [{ resourceRefs: Array.from({ length: 33 }, (_, index) => `r${index}`) }, "$.resourceRefs invalid_type"],
  [{ resourceRefs: ["a".repeat(513)] }, "$.resourceRefs[0] invalid_format"],
  [{ resourceRefs: [1] }, "$.resourceRefs[0] invalid_format"],
  [{ sequence: "01" }, "$.sequence invalid_format"],
  [{ occurredAt: "2026-07-28T24:00:00.000Z" }, "$.occurredAt invalid_format"],
  [{ issuer: "someone" }, "$.issuer invalid_authority"],
  [{ tenantRef: new Map() }, "$.tenantRef invalid_type"],
  [{ authoritativeSource: { ...RECALL.authoritativeSource, more: 1 } }, "$.authoritativeSource.more unknown_field"],
  [
    { authoritativeSource: { ...RECALL.authoritativeSource, authority: undefined } },
    "$.authoritativeSource.authority missing",
  ],
  [{ ...PUBLISH, privacyClass: "P1" }, "$.privacyClass privacy_ceiling_exceeded"],
  [{ subject: null }, "$.subject invalid_type"],
  [{ subject: [] }, "$.subject invalid_type"],
  [{ subject: { id: "x" } }, "$.subject.namespace missing"],
  [{ subject: { namespace: "nobody", id: "x" } }, "$.subject.namespace identity_namespace_required"],
];

for (const [fields, issue] of WRONG) {
  test(`no envelope: ${issue}`, () => {
    const envelope = { ...RECALL, ...fields } as upstream.ActionEnvelope;
    assert.throws(
      () => upstream.signActionEnvelope(envelope, KEY),
      (error) =>
        error instanceof upstream.ActionEnvelopeInvalid &&
        error.issues.map(({ path, code }) => `${path} ${code}`).join() === issue,
    );
  });
}

test("an envelope of the longest texts is one", () => {
  const resourceRefs = Array.from({ length: 32 }, (_, index) => `${index}`.padEnd(512, "a"));
  const subject = { namespace: "workload", id: "a".repeat(512) };
  upstream.signActionEnvelope({ ...RECALL, eventId: "a".repeat(256), subject, resourceRefs, sequence: "0" }, KEY);
});

test("text that has two readings is no envelope", () => {
  const text = JSON.stringify(upstream.signActionEnvelope(RECALL, KEY));
  const read = (json: string): string => {
    const found = upstream.readSignedEnvelopeJson(new TextEncoder().encode(json));
    return found.ok ? "ok" : found.code;
  };
  assert.equal(read(text), "ok");
  assert.equal(read(text.replace('"keyId"', '"keyId":"k","keyId"')), "malformed_signed_envelope");
  assert.equal(read(text.slice(1)), "malformed_signed_envelope");
  assert.equal(read(text.replace('"algorithm":"Ed25519"', '"algorithm":"none"')), "malformed_signed_envelope");
  assert.equal(read(text.replace(/"signature":"[^"]*"/, '"signature":"AA"')), "malformed_signed_envelope");
});

test("times are written as envelopes read them", () => {
  assert.equal(upstream.actionTime(0), "1970-01-01T00:00:00.000Z");
  for (const ms of [0.5, Number.NaN, 8.64e15]) assert.throws(() => upstream.actionTime(ms), InstantError);
});

test("five dimensions of health come to one word, as upstream counts them", () => {
  const counts = new Map<string, number>();
  const checks = ["yes", "no", "unknown"] as const;
  for (const identity of ["verified", "unverified", "invalid", "unknown"] as const) {
    for (let number = 0; number < 81; number += 1) {
      const [configured, reachable, healthy, authorized] = [1, 3, 9, 27].map(
        (place) => checks[Math.floor(number / place) % 3] ?? "unknown",
      ) as [upstream.Check, upstream.Check, upstream.Check, upstream.Check];
      const word = upstream.availability({ identity, configured, reachable, healthy, authorized });
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  assert.deepEqual(Object.fromEntries(counts), { blocked: 162, unavailable: 114, available: 1, degraded: 47 });
});

test("ADR-328 test 2: a valid claim with an unreachable service is unavailable, whatever else is known of it", () => {
  for (const configured of ["yes", "no", "unknown"] as const) {
    for (const healthy of ["yes", "no", "unknown"] as const) {
      const health: upstream.Health = { identity: "verified", configured, reachable: "no", healthy, authorized: "yes" };
      assert.equal(upstream.availability(health), "unavailable");
    }
  }
});

test("ADR-328 test 3: a healthy service with a denied action is blocked, and so is one of an invalid identity", () => {
  const healthy = { configured: "yes", reachable: "yes", healthy: "yes" } as const;
  for (const identity of ["verified", "unverified", "invalid", "unknown"] as const) {
    assert.equal(upstream.availability({ ...healthy, identity, authorized: "no" }), "blocked");
  }
  assert.equal(upstream.availability({ ...healthy, identity: "invalid", authorized: "yes" }), "blocked");
  assert.equal(upstream.availability({ ...healthy, identity: "unknown", authorized: "yes" }), "degraded");
});

test("only what is known to be good is available, and whatever is not known is not", () => {
  const good = { identity: "verified", configured: "yes", reachable: "yes", healthy: "yes", authorized: "yes" } as const;
  assert.equal(upstream.availability(good), "available");
  for (const dimension of ["identity", "configured", "reachable", "healthy", "authorized"] as const) {
    assert.equal(upstream.availability({ ...good, [dimension]: "unknown" }), "degraded");
  }
  const unknown = { configured: "unknown", reachable: "unknown", healthy: "unknown", authorized: "unknown" } as const;
  assert.equal(upstream.availability({ identity: "verified", ...unknown }), "degraded");
});
