/** The envelope that asks for a commit, made from the capability that allows it. */

import { capabilityFingerprint } from "../offline/fingerprint.js";
import { toWire } from "../offline/digests.js";
import { referenceOf } from "../offline/claims.js";
import type { CommitCapability } from "../proto/capability_authority/v1/statements_pb.js";
import { actionTime } from "./making.js";
import type { ActionEnvelope, ActionRef } from "./values.js";
import { MOST_AGE_MS } from "./verification.js";
import { COMMIT_VALIDATED, SCHEMA_VERSION } from "./vocabulary.js";

const OWNER = "ruflo.memory";
const SOURCE_TYPE = "ruflo.memory/validated-memory";

/** What of a commit's envelope the capability does not say. */
export interface CommitEnvelopeTerms {
  readonly eventId: string;
  readonly subject: ActionRef;
  readonly actor?: ActionRef | undefined;
  /** Now, by the clock of whoever signs, in milliseconds since 1970. */
  readonly occurredMs: number;
  /** "ruflo.memory" unless given. */
  readonly issuer?: string | undefined;
  /** "P1" unless given. */
  readonly privacyClass?: string | undefined;
}

/**
 * The envelope that asks for exactly the commit which a capability allows; sign it with a key of its holder.
 *
 * It is about the capability's proposal, and expires when it is too old to be taken. Only an authority whose audience
 * is one of `AUTHORITIES` takes such envelopes, in tenants of one of `TENANT_NAMESPACES`; signing any other throws
 * `ActionEnvelopeInvalid`.
 *
 * @throws {DigestError} for a capability with digests that are none.
 * @throws {InstantError} for a time out of range.
 */
export function commitActionEnvelope(capability: CommitCapability, terms: CommitEnvelopeTerms): ActionEnvelope {
  const { eventId, subject, actor, occurredMs, issuer = OWNER, privacyClass = "P1" } = terms;
  const tenantRef = referenceOf(capability.tenant);
  const contentDigest = toWire(capability.contentDigest);
  const evidenceDigests = capability.evidenceDigests.map(toWire);
  const presented = { contentDigest, mediaType: capability.mediaType, evidenceDigests };
  return {
    schemaVersion: SCHEMA_VERSION,
    eventId,
    issuer,
    audience: capability.audience,
    subject,
    ...(actor === undefined ? {} : { actor }),
    tenantRef,
    action: COMMIT_VALIDATED,
    resourceRefs: [capability.memoryNamespace],
    requestDigest: toWire(capabilityFingerprint(capability, presented)),
    contentDigest,
    idempotencyKey: capability.commitIdempotencyKey,
    correlationId: capability.correlationId || eventId,
    authoritativeSource: {
      authority: OWNER,
      tenantRef,
      sourceType: SOURCE_TYPE,
      sourceId: capability.proposalId,
      sourceVersion: String(capability.proposalRevision),
      sourceDigest: toWire(capability.proposalDigest),
    },
    policyReceiptId: toWire(capability.decisionReceiptDigest),
    capabilityId: capability.capabilityId,
    validationReceiptId: toWire(capability.validationReceiptDigest),
    occurredAt: actionTime(occurredMs),
    expiresAt: actionTime(occurredMs + MOST_AGE_MS),
    privacyClass,
  };
}
