/**
 * Checking an exported record against the keys of a pinned issuer, without a server (semantics §8).
 *
 * The receipt is what everything hangs on: it is signed, it repeats every term of the capability, and these name the
 * digests of the proposal, the validation and the decision. So an export holds together, or one of its checks says
 * where it does not.
 */

import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";

import {
  type AuditTrail,
  type MemoryRecord,
  MemoryRecordSchema,
  type RecordExport,
} from "../proto/capability_authority/v1/memory_service_pb.js";
import { DecideProposalRequest_Verdict, DeciderKind } from "../proto/capability_authority/v1/proposal_service_pb.js";
import {
  type CommitCapability,
  CommitCapabilitySchema,
  type CommitReceipt,
  CommitReceiptSchema,
  type DecisionReceipt,
  DecisionReceiptSchema,
  type ProposalRevision,
  ProposalRevisionSchema,
  type SignedStatement,
  SignedStatementSchema,
  type ValidationReceipt,
  ValidationReceiptSchema,
} from "../proto/capability_authority/v1/statements_pb.js";
import { DecisionOutcome, ValidationOutcome } from "../proto/capability_authority/v1/types_pb.js";
import { sameBytes } from "./bytes.js";
import { referenceOf } from "./claims.js";
import { sha256, toWire } from "./digests.js";
import { KeyRevoked, OfflineError } from "./errors.js";
import { agree, Broken, same, type Terms } from "./export-terms.js";
import { capabilityFingerprint } from "./fingerprint.js";
import type { Reference } from "./invocation.js";
import { type KeySet, keyVerifies } from "./key-set.js";
import { digestOf, readPayload, statementDigest } from "./statements.js";
import { verifyAs, verifyReceipt } from "./verification.js";

/**
 * What came of a check. `vouched`: the key that signed was revoked since, and a signature that counts covers the
 * statement's digest.
 */
export type CheckVerdict = "holds" | "vouched" | "broken";

/** A part of an export; those from `capability` on are in the audit form alone. */
export type ExportPart =
  "content" | "receipt" | "record" | "capability" | "validation" | "decision" | "approval" | "proposal" | "citations";

/** One part of an export, and whether it is proved. */
export interface Check {
  readonly part: ExportPart;
  readonly verdict: CheckVerdict;
  /** For people: what was found, or what was expected and what was presented. */
  readonly because: string;
}

/**
 * Every check of an export of `tenant`, in the order in which one rests on the other.
 *
 * It is proved when no verdict is `broken`. Of a compact export that is what the receipt says itself: content, media
 * type, evidence, where it lives, who proposed and who committed it. Type, provenance, references, visibility, times
 * and costs are covered by the proposal digest, and so proved in the audit form alone.
 *
 * Times are not judged, and what nobody signs is not proved: the state of the record, the persons behind approval
 * references, and who cites it. Whatever is wrong is a verdict, and nothing is thrown.
 */
export function checkExport(exported: RecordExport, keySet: KeySet, tenant: Reference): readonly Check[] {
  const record = exported.record ?? create(MemoryRecordSchema);
  const receipt = exported.receipt ?? create(SignedStatementSchema);
  const checks = [
    checked("content", () => checkContent(record)),
    checked("receipt", () => checkReceipt(exported, record, receipt, keySet)),
  ];
  const said = readOrNothing(receipt);
  // Without a receipt there is nothing that the rest could be compared with.
  if (said === undefined) return checks;
  checks.push(checked("record", () => checkRecord(said, record, tenant)));
  return exported.trail === undefined
    ? checks
    : [...checks, ...trailChecks({ trail: exported.trail, record, receipt, said, keySet })];
}

interface Audited {
  readonly trail: AuditTrail;
  readonly record: MemoryRecord;
  readonly receipt: SignedStatement;
  readonly said: CommitReceipt;
  readonly keySet: KeySet;
}

function trailChecks({ trail, record, receipt, said, keySet }: Audited): readonly Check[] {
  const terms = said.capability ?? create(CommitCapabilitySchema);
  const named = <Desc extends DescMessage>(
    statement: SignedStatement | undefined,
    digest: Uint8Array,
    kind: Desc,
    termsOf: (message: MessageShape<Desc>) => Terms,
  ): Found => checkNamed(statement ?? create(SignedStatementSchema), digest, kind, termsOf, keySet);
  const checks = [
    checked("capability", () => named(trail.capability, said.capabilityDigest, CommitCapabilitySchema, () => [])),
    checked("validation", () =>
      named(trail.validationReceipt, terms.validationReceiptDigest, ValidationReceiptSchema, (message) =>
        validationTerms(message, terms),
      ),
    ),
    checked("decision", () =>
      named(trail.decisionReceipt, terms.decisionReceiptDigest, DecisionReceiptSchema, (message) =>
        decisionTerms(message, terms),
      ),
    ),
    checked("approval", () => checkApproval(trail, terms)),
    checked("proposal", () => checkProposal(trail, record, terms)),
  ];
  if (trail.citations.length > 0) checks.push(checked("citations", () => checkCitations(trail, record, receipt)));
  return checks;
}

/** What was found, in words; or that another signature vouches for it. */
type Found = string | { readonly vouched: string };

function checked(part: ExportPart, check: () => Found): Check {
  try {
    const found = check();
    return typeof found === "string"
      ? { part, verdict: "holds", because: found }
      : { part, verdict: "vouched", because: found.vouched };
  } catch (error) {
    if (!(error instanceof Broken || error instanceof OfflineError)) throw error;
    return { part, verdict: "broken", because: error.message };
  }
}

function readOrNothing(receipt: SignedStatement): CommitReceipt | undefined {
  try {
    return readPayload(receipt.payloadType, receipt.payload, CommitReceiptSchema);
  } catch (error) {
    if (error instanceof OfflineError) return undefined;
    throw error;
  }
}

function checkContent(record: MemoryRecord): Found {
  const digest = toWire(sha256(record.content));
  agree([["content_digest", digest, record.contentDigest]]);
  return `the bytes have the digest ${digest}`;
}

function checkReceipt(exported: RecordExport, record: MemoryRecord, statement: SignedStatement, keySet: KeySet): Found {
  if (exported.receipt === undefined && !record.validated) {
    throw new Broken("it was written without validation: there is no receipt, and nothing proves it");
  }
  const { attestation } = exported;
  const receipt = verifyReceipt(statement, keySet, { attestation, content: record.content });
  const terms = receipt.capability ?? create(CommitCapabilitySchema);
  const fingerprint = capabilityFingerprint(terms, {
    contentDigest: toWire(terms.contentDigest),
    mediaType: terms.mediaType,
    evidenceDigests: terms.evidenceDigests.map(toWire),
  });
  agree([["request_fingerprint", receipt.requestFingerprint, fingerprint]]);
  const key = keySet.record(statement.signature?.keyId ?? "");
  return key !== undefined && keyVerifies(key)
    ? `signed by ${keySet.issuer} for exactly this content`
    : { vouched: "its key was revoked since; the current receipt key vouches for it" };
}

function checkRecord(receipt: CommitReceipt, record: MemoryRecord, tenant: Reference): Found {
  const terms = receipt.capability ?? create(CommitCapabilitySchema);
  agree([
    ["validated", true, record.validated],
    ["tenant", referenceOf(terms.tenant), referenceOf(tenant)],
    ["record_id", receipt.recordId, record.recordId],
    ["receipt_id", receipt.receiptId, record.receiptId],
    ["create_time", receipt.commitTime, record.createTime],
    ["proposer", terms.subject, record.proposer],
    ["content_digest", toWire(terms.contentDigest), record.contentDigest],
    ["evidence_digests", terms.evidenceDigests.map(toWire), record.evidenceDigests],
    ...same(CommitCapabilitySchema, terms, record, [
      "memoryNamespace",
      "proposalId",
      "proposalRevision",
      "mediaType",
      "correlationId",
    ]),
  ]);
  return "it is the one that the receipt was given for";
}

/** A statement that the receipt covers by its digest, and that says what it must. */
function checkNamed<Desc extends DescMessage>(
  statement: SignedStatement,
  digest: Uint8Array,
  kind: Desc,
  termsOf: (message: MessageShape<Desc>) => Terms,
  keySet: KeySet,
): Found {
  agree([["digest", digest, digestOf(statement)]]);
  agree(termsOf(readPayload(statement.payloadType, statement.payload, kind)));
  try {
    verifyAs(statement, keySet, kind);
  } catch (error) {
    if (error instanceof KeyRevoked) return { vouched: "its key was revoked since; the receipt covers its digest" };
    throw error;
  }
  return "signed by the authority, and the one that the receipt covers";
}

function validationTerms(receipt: ValidationReceipt, terms: CommitCapability): Terms {
  return [
    ...same(CommitCapabilitySchema, terms, receipt, [
      "proposalId",
      "proposalRevision",
      "proposalDigest",
      "validatorProfile",
      "validatorProfileVersion",
    ]),
    ["failed", false, receipt.outcome === ValidationOutcome.FAIL],
  ];
}

function decisionTerms(receipt: DecisionReceipt, terms: CommitCapability): Terms {
  return [
    ...same(CommitCapabilitySchema, terms, receipt, [
      "proposalId",
      "proposalRevision",
      "proposalDigest",
      "holder",
      "action",
      "validationReceiptDigest",
      "policyVersion",
    ]),
    ["allowed", true, receipt.outcome === DecisionOutcome.ALLOW],
  ];
}

function checkApproval(trail: AuditTrail, terms: CommitCapability): Found {
  const { payloadType = "", payload = new Uint8Array() } = trail.decisionReceipt ?? {};
  const decision = readPayload(payloadType, payload, DecisionReceiptSchema);
  const given = new Map(trail.approvals.map((approval) => [approval.approvalReference, approval]));
  if (new Set(decision.approvalReferences).size < decision.personsNeeded) {
    throw new Broken(`policy wanted ${decision.personsNeeded} persons to approve, and the decision names fewer`);
  }
  const references = [...decision.approvalReferences, terms.approvalReference].filter((reference) => reference !== "");
  const needed = new Set(references.sort());
  for (const reference of needed) {
    const approval = given.get(reference);
    if (approval === undefined) throw new Broken(`the decision rests on approval ${reference}, which is not there`);
    if (approval.decidedByKind === DeciderKind.SYSTEM_POLICY) {
      throw new Broken(`the decision rests on approval ${reference}, which no person gave`);
    }
    agree([
      [`approval ${reference}`, DecideProposalRequest_Verdict.APPROVE, approval.verdict],
      [`approval ${reference}`, toWire(terms.proposalDigest), approval.proposalDigest],
      [`approval ${reference}`, toWire(terms.validationReceiptDigest), approval.validationReceiptDigest],
    ]);
  }
  return needed.size > 0 ? "they are what the decision names" : "none was required";
}

function checkProposal(trail: AuditTrail, record: MemoryRecord, terms: CommitCapability): Found {
  let committed: ProposalRevision | undefined;
  for (const { payloadType, payload } of trail.revisions) {
    const said = readPayload(payloadType, payload, ProposalRevisionSchema);
    agree([["proposal_id", terms.proposalId, said.proposalId]]);
    if (sameBytes(statementDigest(payloadType, payload), terms.proposalDigest)) committed = said;
  }
  if (committed === undefined) {
    throw new Broken(`no revision has the digest that was committed, ${toWire(terms.proposalDigest)}`);
  }
  agree(proposalTerms(committed, record, terms));
  return "its fields have the digest that validation, decision and capability bind";
}

function proposalTerms(revision: ProposalRevision, record: MemoryRecord, terms: CommitCapability): Terms {
  return [
    ["revision", terms.proposalRevision, revision.revision],
    ["content_digest", toWire(revision.contentDigest), record.contentDigest],
    ["record_expire_time", revision.recordExpireTime, record.expireTime],
    ["evidence_digests", revision.evidenceDigests.map(toWire), record.evidenceDigests],
    ...same(ProposalRevisionSchema, revision, record, [
      "proposer",
      "memoryNamespace",
      "memoryType",
      "provenance",
      "mediaType",
      "sourceRefs",
      "subjectRefs",
      "visibility",
      "validFromTime",
      "validUntilTime",
      "costs",
      "correlationId",
      "supersedesRecordId",
      "visibilityScope",
    ]),
  ];
}

function checkCitations(trail: AuditTrail, record: MemoryRecord, receipt: SignedStatement): Found {
  const digest = toWire(digestOf(receipt));
  for (const citation of trail.citations) {
    const name = `citation ${citation.citationId}`;
    agree([
      [name, record.recordId, citation.recordId],
      [name, record.contentDigest, citation.contentDigest],
      [name, digest, citation.receiptDigest],
    ]);
  }
  return "they name this content under this receipt";
}
