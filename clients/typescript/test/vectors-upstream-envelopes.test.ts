import assert from "node:assert/strict";

import * as offline from "../src/offline/index.js";
import { type CommitCapability, CommitCapabilitySchema } from "../src/proto/capability_authority/v1/statements_pb.js";
import { type ActionEnvelope, type Issue, judgeSignature, readSignedEnvelopeJson } from "../src/upstream/index.js";
import { everyVector } from "./golden/running.js";
import { hex } from "./golden/vectors.js";

interface Presented {
  readonly presented: string;
  readonly now_ms: number;
  readonly issues: readonly Issue[] | null;
}

interface Commit {
  readonly capability: string;
  readonly key: { readonly public_key: string };
  readonly key_names: readonly string[];
}

const MOST_AGE_MS = 5 * 60_000;

/** As an authority does, which knows one key under the names of the group. */
everyVector<Presented, Commit>(
  "upstream_envelopes",
  { group: ["capability", "key", "key_names"], vector: ["issues", "now_ms", "presented"] },
  ({ presented, now_ms: nowMs, issues }, group) => {
    const read = readSignedEnvelopeJson(hex(presented));
    assert.deepEqual(read.ok ? null : read.issues, issues);
    if (!read.ok) return read.code;
    const misfit = misfitOf(read.envelope, capabilityOf(group.capability), nowMs);
    if (misfit !== undefined) return misfit;
    if (!group.key_names.includes(read.keyId)) return "key_id";
    return judgeSignature(read, offline.publicKeyOf(hex(group.key.public_key))) === undefined ? null : "signature";
  },
);

function capabilityOf(digits: string): CommitCapability {
  const { payloadType, payload } = offline.parseStatement(hex(digits));
  return offline.readPayload(payloadType, payload, CommitCapabilitySchema);
}

/** The first condition of the envelope that does not hold for exactly this commit (semantics §5). */
function misfitOf(says: ActionEnvelope, terms: CommitCapability, nowMs: number): string | undefined {
  const ageMs = nowMs - Date.parse(says.occurredAt);
  const conditions: Readonly<Record<string, boolean>> = {
    audience: says.audience === terms.audience,
    tenant_ref: says.tenantRef.namespace === terms.tenant?.namespace && says.tenantRef.id === terms.tenant.id,
    occurred_at: ageMs >= -offline.NOT_BEFORE_SKEW_MS && ageMs <= MOST_AGE_MS,
    expires_at: says.expiresAt !== undefined && nowMs < Date.parse(says.expiresAt),
    action: says.action === terms.action,
    capability_id: says.capabilityId === terms.capabilityId,
    resource_refs: says.resourceRefs.length === 1 && says.resourceRefs[0] === terms.memoryNamespace,
    content_digest: says.contentDigest === offline.toWire(terms.contentDigest),
    idempotency_key: says.idempotencyKey === terms.commitIdempotencyKey,
    request_digest: says.requestDigest === offline.toWire(fingerprintOf(terms)),
    policy_receipt_id: says.policyReceiptId === offline.toWire(terms.decisionReceiptDigest),
    validation_receipt_id: says.validationReceiptId === offline.toWire(terms.validationReceiptDigest),
  };
  return Object.keys(conditions).find((name) => conditions[name] !== true);
}

/** Of committing exactly what the capability binds. */
function fingerprintOf(terms: CommitCapability): Uint8Array {
  return offline.capabilityFingerprint(terms, {
    contentDigest: offline.toWire(terms.contentDigest),
    mediaType: terms.mediaType,
    evidenceDigests: terms.evidenceDigests.map(offline.toWire),
  });
}
