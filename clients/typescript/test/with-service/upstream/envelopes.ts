/** Signed envelopes for commits that the authority allows, as a caller of upstream makes them. */

import { randomUUID } from "node:crypto";

import type { CapabilityAuthority, IssuedCapability } from "../../../src/index.js";
import { canonicalize, capabilityFingerprint, type PrivateKey, toWire } from "../../../src/offline/index.js";

export type Envelope = Readonly<Record<string, unknown>>;

/** The envelope that asks for exactly the commit which a capability allows, but for what is given. */
export function envelopeFor({ terms }: IssuedCapability, given: Envelope = {}): Envelope {
  const tenant = { namespace: terms.tenant?.namespace ?? "", id: terms.tenant?.id ?? "" };
  const contentDigest = toWire(terms.contentDigest);
  const evidenceDigests = terms.evidenceDigests.map(toWire);
  const fingerprint = capabilityFingerprint(terms, { contentDigest, mediaType: terms.mediaType, evidenceDigests });
  const now = Date.now();
  return {
    schemaVersion: "cognitum.action.v1",
    eventId: randomUUID(),
    issuer: "ruflo.memory",
    audience: terms.audience,
    subject: { namespace: "workload", id: "nightly" },
    tenantRef: tenant,
    action: "memory.commit-validated",
    resourceRefs: [terms.memoryNamespace],
    requestDigest: toWire(fingerprint),
    contentDigest,
    idempotencyKey: terms.commitIdempotencyKey,
    correlationId: randomUUID(),
    authoritativeSource: {
      authority: "ruflo.memory",
      tenantRef: tenant,
      sourceType: "ruflo.memory/validated-memory",
      sourceId: terms.proposalId,
      sourceVersion: String(terms.proposalRevision),
      sourceDigest: toWire(terms.proposalDigest),
    },
    policyReceiptId: toWire(terms.decisionReceiptDigest),
    capabilityId: terms.capabilityId,
    validationReceiptId: toWire(terms.validationReceiptDigest),
    occurredAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 4 * 60_000).toISOString(),
    privacyClass: "P1",
    ...given,
  };
}

/** The envelope in its wrapper, signed by this client's key unless by another. */
export function signedBy(client: CapabilityAuthority, envelope: Envelope, keyId?: string): Envelope {
  const { privateKey } = client.credentials;
  if (privateKey === undefined) {
    throw new Error("these credentials sign nothing");
  }
  return signedWith(privateKey, envelope, keyId);
}

/** The envelope in its wrapper, signed by this key. */
export function signedWith(privateKey: PrivateKey, envelope: Envelope, keyId = privateKey.publicKey.keyId): Envelope {
  const signature = Buffer.from(privateKey.sign(canonicalize(envelope))).toString("base64url");
  return { envelope, algorithm: "Ed25519", keyId, signature };
}
