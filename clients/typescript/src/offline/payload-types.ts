/** The payload types of statements, and the message of each (semantics §3). */

import type { DescMessage } from "@bufbuild/protobuf";

import * as statements from "../proto/capability_authority/v1/statements_pb.js";

/** Every kind of payload, under its name in semantics §1 and §3. */
export const COMMIT_CAPABILITY = "application/vnd.capability-authority.commit-capability.v1+protobuf";
export const COMMIT_RECEIPT = "application/vnd.capability-authority.commit-receipt.v1+protobuf";
export const DECISION_RECEIPT = "application/vnd.capability-authority.decision-receipt.v1+protobuf";
export const EVIDENCE_CLAIM = "application/vnd.capability-authority.evidence-claim.v1+protobuf";
export const GRANT = "application/vnd.capability-authority.grant.v1+protobuf";
export const INVOCATION = "application/vnd.capability-authority.invocation.v1+protobuf";
export const KEY_ATTESTATION = "application/vnd.capability-authority.key-attestation.v1+protobuf";
export const PROPOSAL_REVISION = "application/vnd.capability-authority.proposal-revision.v1+protobuf";
export const REVOCATION = "application/vnd.capability-authority.revocation.v1+protobuf";
export const REVOCATION_HEARTBEAT = "application/vnd.capability-authority.revocation-heartbeat.v1+protobuf";
export const VALIDATION_RECEIPT = "application/vnd.capability-authority.validation-receipt.v1+protobuf";

/** The message of every payload type. */
export const PAYLOAD_SCHEMAS: ReadonlyMap<string, DescMessage> = new Map<string, DescMessage>([
  [COMMIT_CAPABILITY, statements.CommitCapabilitySchema],
  [COMMIT_RECEIPT, statements.CommitReceiptSchema],
  [DECISION_RECEIPT, statements.DecisionReceiptSchema],
  [EVIDENCE_CLAIM, statements.EvidenceClaimSchema],
  [GRANT, statements.GrantSchema],
  [INVOCATION, statements.InvocationSchema],
  [KEY_ATTESTATION, statements.KeyAttestationSchema],
  [PROPOSAL_REVISION, statements.ProposalRevisionSchema],
  [REVOCATION, statements.RevocationSchema],
  [REVOCATION_HEARTBEAT, statements.RevocationHeartbeatSchema],
  [VALIDATION_RECEIPT, statements.ValidationReceiptSchema],
]);

/** Payload types of statements. A proposal revision is named by its digest and never signed by itself. */
export const SIGNED_PAYLOAD_TYPES: ReadonlySet<string> = new Set(
  [...PAYLOAD_SCHEMAS.keys()].filter((payloadType) => payloadType !== PROPOSAL_REVISION),
);

const PAYLOAD_TYPES: ReadonlyMap<string, string> = new Map(
  [...PAYLOAD_SCHEMAS].map(([payloadType, schema]) => [schema.typeName, payloadType]),
);

/**
 * The payload type of a payload message.
 *
 * @throws {TypeError} for any other message.
 */
export function payloadTypeOf(schema: DescMessage): string {
  const payloadType = PAYLOAD_TYPES.get(schema.typeName);
  if (payloadType === undefined) throw new TypeError(`${schema.name} is not a payload message`);
  return payloadType;
}
