/**
 * Signed action envelopes of the upstream project, `cognitum.action.v1`: read, verified and made without a server.
 *
 *     const found = await verifySignedActionEnvelope(signed, { audience: "ruflo.memory", tenant, nowMs, hooks });
 *     if (!found.ok) console.log(found.code, found.issues);
 *
 * Codes, issue codes, their paths and the order of judgement are those of the published upstream verifier.
 */

export { type Availability, availability, type Check, type Health, type IdentityCheck } from "./health.js";
export { commitActionEnvelope, type CommitEnvelopeTerms } from "./committing.js";
export { ActionEnvelopeInvalid, actionTime, signActionEnvelope } from "./making.js";
export { type ReadEnvelope, readSignedEnvelope, readSignedEnvelopeJson } from "./signed.js";
export { readActionEnvelope } from "./structure.js";
export {
  type ActionEnvelope,
  type ActionEnvelopeRefused,
  type ActionRef,
  type AuthoritativeSource,
  type Denial,
  DENIALS,
  type Issue,
  ISSUE_CODES,
  type IssueCode,
  type SignedActionEnvelope,
} from "./values.js";
export {
  type Arrival,
  type Decision,
  envelopeDigest,
  type EnvelopeHooks,
  judgeDestination,
  judgeEncoding,
  judgeSignature,
  judgeTimes,
  MOST_AGE_MS,
  MOST_SKEW_MS,
  type ReplayClaim,
  replayKey,
  type Reservation,
  type SignedBytes,
  type VerifiedActionEnvelope,
  verifySignedActionEnvelope,
} from "./verification.js";
export {
  type ActionRule,
  ACTIONS,
  AUTHORITIES,
  COMMIT_VALIDATED,
  IDENTITY_NAMESPACES,
  SCHEMA_VERSION,
  TENANT_NAMESPACES,
} from "./vocabulary.js";
