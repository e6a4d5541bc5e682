/** Exports of records, checked without a server: whatever does not hold together is told, part by part. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { clone, create } from "@bufbuild/protobuf";

import * as offline from "../src/offline/index.js";
import {
  AuditTrail_ApprovalSchema,
  AuditTrail_RevisionSchema,
  AuditTrailSchema,
  CitationSchema,
  MemoryRecordSchema,
  type RecordExport,
  RecordExportSchema,
} from "../src/proto/capability_authority/v1/memory_service_pb.js";
import {
  DecideProposalRequest_Verdict,
  DeciderKind,
} from "../src/proto/capability_authority/v1/proposal_service_pb.js";
import { CommitReceiptSchema, DecisionReceiptSchema, type SignedStatement } from "../src/proto/capability_authority/v1/statements_pb.js";
import { KeyState, MemoryType } from "../src/proto/capability_authority/v1/types_pb.js";
import { vectorsOf } from "./golden/running.js";
import { ISSUER, keySetOf, messageNamed, recordOf, signerOf, statementNamed, TENANT } from "./golden/samples.js";
import { hex } from "./golden/vectors.js";

const SIGNED = ["validation-receipt", "decision-receipt", "commit-capability", "commit-receipt"] as const;
const KEYS = keySetOf(...SIGNED);
const CONTENT = new TextEncoder().encode('{"duration_minutes":40,"fact":"The nightly build takes forty minutes."}');
const TERMS = messageNamed(CommitReceiptSchema, "commit-receipt");
const CAPABILITY = TERMS.capability ?? assert.fail("a receipt without terms");
const REVISION_PAYLOAD = revisionPayload();

function revisionPayload(): Uint8Array {
  const members = { group: ["payload_type"], vector: ["message", "payload"] } as const;
  const found = vectorsOf<{ readonly payload: string; readonly message: unknown }, { readonly payload_type: string }>(
    "reading",
    members,
  );
  const revision = found.find(({ vector }) => vector.id === "proposal-revision");
  return hex(revision?.vector.payload ?? "");
}

/** The export of the record that the golden statements are about, in the audit form. */
function audited(): RecordExport {
  const schema = offline.PAYLOAD_SCHEMAS.get(offline.PROPOSAL_REVISION);
  assert.ok(schema);
  const revision = offline.readPayload(offline.PROPOSAL_REVISION, REVISION_PAYLOAD, schema) as unknown as Record<
    string,
    unknown
  >;
  const shared = [
    "memoryType",
    "provenance",
    "sourceRefs",
    "subjectRefs",
    "visibility",
    "validFromTime",
    "validUntilTime",
  ];
  const record = create(MemoryRecordSchema, {
    ...Object.fromEntries(
      [...shared, "costs", "supersedesRecordId", "visibilityScope"].map((name) => [name, revision[name]]),
    ),
    recordId: TERMS.recordId,
    receiptId: TERMS.receiptId,
    content: CONTENT,
    contentDigest: offline.toWire(offline.sha256(CONTENT)),
    evidenceDigests: CAPABILITY.evidenceDigests.map(offline.toWire),
    validated: true,
  });
  record.memoryNamespace = CAPABILITY.memoryNamespace;
  record.mediaType = CAPABILITY.mediaType;
  record.proposer = CAPABILITY.subject;
  record.proposalId = CAPABILITY.proposalId;
  record.proposalRevision = CAPABILITY.proposalRevision;
  record.correlationId = CAPABILITY.correlationId;
  record.createTime = TERMS.commitTime;
  const { recordExpireTime } = revision as { readonly recordExpireTime?: NonNullable<typeof record.expireTime> };
  record.expireTime = recordExpireTime;
  const receipt = statementNamed("commit-receipt");
  return create(RecordExportSchema, { record, receipt, trail: trailOf(receipt) });
}

function trailOf(receipt: SignedStatement): RecordExport["trail"] {
  return create(AuditTrailSchema, {
    capability: statementNamed("commit-capability"),
    validationReceipt: statementNamed("validation-receipt"),
    decisionReceipt: statementNamed("decision-receipt"),
    approvals: [
      create(AuditTrail_ApprovalSchema, {
        approvalReference: CAPABILITY.approvalReference,
        verdict: DecideProposalRequest_Verdict.APPROVE,
        decidedByKind: DeciderKind.USER,
        proposalDigest: offline.toWire(CAPABILITY.proposalDigest),
        validationReceiptDigest: offline.toWire(CAPABILITY.validationReceiptDigest),
      }),
    ],
    revisions: [
      create(AuditTrail_RevisionSchema, { payloadType: offline.PROPOSAL_REVISION, payload: REVISION_PAYLOAD }),
    ],
    citations: [
      create(CitationSchema, {
        citationId: "cit_01",
        recordId: TERMS.recordId,
        contentDigest: offline.toWire(CAPABILITY.contentDigest),
        receiptDigest: offline.toWire(offline.digestOf(receipt)),
      }),
    ],
  });
}

/** Each part with its verdict; of what is broken also why. */
function verdicts(exported: RecordExport, keys = KEYS, tenant = TENANT): Readonly<Record<string, string>> {
  const checks = offline.checkExport(exported, keys, tenant);
  return Object.fromEntries(checks.map(({ part, verdict }) => [part, verdict]));
}

const HOLDS = { content: "holds", receipt: "holds", record: "holds" };
const ALL_HOLD = {
  ...HOLDS,
  ...{
    capability: "holds",
    validation: "holds",
    decision: "holds",
    approval: "holds",
    proposal: "holds",
    citations: "holds",
  },
};

test("an export in the audit form holds together", () => {
  const checks = offline.checkExport(audited(), KEYS, TENANT);
  assert.deepEqual(
    checks.filter(({ verdict }) => verdict !== "holds"),
    [],
  );
  assert.deepEqual(verdicts(audited()), ALL_HOLD);
});

test("a compact export proves what the receipt says", () => {
  const { record, receipt } = audited();
  assert.ok(record && receipt);
  assert.deepEqual(verdicts(create(RecordExportSchema, { record, receipt })), HOLDS);
});

type Change = (exported: RecordExport) => void;

function recordIn(exported: RecordExport): NonNullable<RecordExport["record"]> {
  return exported.record ?? assert.fail();
}

function trailIn(exported: RecordExport): NonNullable<RecordExport["trail"]> {
  return exported.trail ?? assert.fail();
}

const CHANGES: readonly (readonly [string, Change, readonly string[]])[] = [
  ["another byte of content", (it) => (recordIn(it).content = new Uint8Array([1])), ["content", "receipt"]],
  ["another digest", (it) => (recordIn(it).contentDigest = "x"), ["content", "record", "proposal", "citations"]],
  ["another record", (it) => (recordIn(it).recordId = "rec_02"), ["record", "citations"]],
  ["another proposer", (it) => (recordIn(it).proposer = CAPABILITY.holder), ["record", "proposal"]],
  ["another time", (it) => (recordIn(it).createTime = offline.timestamp(0)), ["record"]],
  ["evidence in another order", (it) => recordIn(it).evidenceDigests.reverse(), ["record", "proposal"]],
  ["another type", (it) => (recordIn(it).memoryType = MemoryType.CRITIQUE), ["proposal"]],
  ["another reference", (it) => recordIn(it).sourceRefs.push("more"), ["proposal"]],
  ["no longer validated", (it) => (recordIn(it).validated = false), ["record"]],
  ["another capability", (it) => (trailIn(it).capability = statementNamed("grant")), ["capability"]],
  ["no validation", (it) => delete trailIn(it).validationReceipt, ["validation"]],
  ["no decision", (it) => delete trailIn(it).decisionReceipt, ["decision", "approval"]],
  ["no approval", (it) => (trailIn(it).approvals = []), ["approval"]],
  ["no revision", (it) => (trailIn(it).revisions = []), ["proposal"]],
  ["a citation of other content", (it) => (trailIn(it).citations = [create(CitationSchema)]), ["citations"]],
  ["a rejection", (it) => approvalIn(it, { verdict: DecideProposalRequest_Verdict.REJECT }), ["approval"]],
  ["an approval of no person", (it) => approvalIn(it, { decidedByKind: DeciderKind.SYSTEM_POLICY }), ["approval"]],
  ["an approval of another proposal", (it) => approvalIn(it, { proposalDigest: "x" }), ["approval"]],
];

function approvalIn(exported: RecordExport, fields: object): void {
  for (const approval of trailIn(exported).approvals) Object.assign(approval, fields);
}

for (const [name, change, broken] of CHANGES) {
  test(`${name} breaks ${broken.join(", ")}, and nothing else`, () => {
    const exported = clone(RecordExportSchema, audited());
    change(exported);
    const found = Object.entries(verdicts(exported)).filter(([, verdict]) => verdict === "broken");
    assert.deepEqual(
      found.map(([part]) => part),
      broken,
    );
  });
}

test("fewer persons than policy wanted are not enough", () => {
  const decision = messageNamed(DecisionReceiptSchema, "decision-receipt");
  decision.personsNeeded = decision.approvalReferences.length + 1;
  const exported = audited();
  trailIn(exported).decisionReceipt = offline.sign(DecisionReceiptSchema, decision, signerOf("decision-receipt"));
  const approval = offline.checkExport(exported, KEYS, TENANT).find(({ part }) => part === "approval");
  assert.equal(approval?.verdict, "broken");
  assert.match(approval.because, /policy wanted 2 persons/);
});

test("another tenant's export is not this one's", () => {
  assert.equal(verdicts(audited(), KEYS, { ...TENANT, id: "others" })["record"], "broken");
});

test("what was never validated is proved by nothing", () => {
  const exported = create(RecordExportSchema, {
    record: create(MemoryRecordSchema, {
      content: CONTENT,
      contentDigest: offline.toWire(offline.sha256(CONTENT)),
    }),
  });
  assert.deepEqual(verdicts(exported), { content: "holds", receipt: "broken" });
});

test("a revoked key's statements are vouched for: the receipt by an attestation, the others by the receipt", () => {
  const records = SIGNED.map((id) => recordOf(id, KeyState.REVOKED));
  const keys = offline.keySetOf(ISSUER, ...records, recordOf("key-attestation"));
  const exported = audited();
  assert.equal(verdicts(exported, keys)["receipt"], "broken");
  exported.attestation = statementNamed("key-attestation");
  const vouched = { receipt: "vouched", capability: "vouched", validation: "vouched", decision: "vouched" };
  assert.deepEqual(verdicts(exported, keys), { ...ALL_HOLD, ...vouched });
});
