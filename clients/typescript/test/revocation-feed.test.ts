/** The feed of revocations of a tenant: nothing is left out, and what it withdraws counts no more. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { create, type MessageInitShape } from "@bufbuild/protobuf";

import * as offline from "../src/offline/index.js";
import {
  CommitCapabilitySchema,
  DecisionReceiptSchema,
  GrantSchema,
  RevocationHeartbeatSchema,
  RevocationSchema,
  RevokedKind,
  type SignedStatement,
} from "../src/proto/capability_authority/v1/statements_pb.js";
import { TenantRefSchema } from "../src/proto/capability_authority/v1/types_pb.js";
import {
  ISSUER,
  keySetOf,
  messageNamed,
  NOW_MS,
  recordOf,
  signerOf,
  statementNamed,
  TENANT,
} from "./golden/samples.js";

const KEYS = keySetOf("revocation");
const OTHERS = { namespace: TENANT.namespace, id: "others" };

function item(fields: MessageInitShape<typeof RevocationSchema>): SignedStatement {
  const tenant = create(TenantRefSchema, fields.tenant ?? TENANT);
  const message = create(RevocationSchema, {
    issuer: ISSUER,
    sequence: 7n,
    revokeTime: offline.timestamp(NOW_MS),
    ...fields,
    tenant,
  });
  return offline.sign(RevocationSchema, message, signerOf("revocation"));
}

function heartbeat(sequence: bigint, asOfMs: number, tenant: offline.Reference = TENANT): SignedStatement {
  const message = create(RevocationHeartbeatSchema, {
    issuer: ISSUER,
    tenant: create(TenantRefSchema, tenant),
    sequence,
    asOfTime: offline.timestamp(asOfMs),
  });
  return offline.sign(RevocationHeartbeatSchema, message, signerOf("revocation"));
}

/** What may be believed of a feed that withdrew this, or nothing. */
function viewOf(kind?: RevokedKind, subject = ""): offline.RevocationView {
  const feed = new offline.RevocationFeed(TENANT);
  if (kind !== undefined) feed.take(item({ kind, subject }), KEYS);
  feed.hear(heartbeat(feed.cursor, NOW_MS), KEYS);
  return feed.view({ nowMs: NOW_MS, maximumAgeMs: 0 });
}

test("items are taken in their order, and what does not follow leaves the feed as it was", () => {
  const feed = new offline.RevocationFeed(TENANT);
  assert.equal(feed.cursor, 0n);
  feed.take(item({ kind: RevokedKind.RECORD, subject: "rec_09" }), KEYS);

  const broken = [
    item({ kind: RevokedKind.RECORD, subject: "rec_09" }),
    item({ sequence: 9n, previousSequence: 8n }),
    item({ sequence: 7n, previousSequence: 7n }),
    item({ sequence: 6n, previousSequence: 7n }),
    item({ sequence: 9n, previousSequence: 7n, tenant: create(TenantRefSchema, OTHERS) }),
  ];
  for (const statement of broken) {
    assert.throws(() => feed.take(statement, KEYS), offline.FeedBroken);
    assert.equal(feed.cursor, 7n);
  }

  feed.take(item({ sequence: 9n, previousSequence: 7n, kind: RevokedKind.RECORD, subject: "rec_10" }), KEYS);
  assert.equal(feed.cursor, 9n);
});

test("what was not signed by the revocation key is not taken in", () => {
  const feed = new offline.RevocationFeed(TENANT);
  const message = messageNamed(RevocationSchema, "revocation");
  const forged = offline.sign(RevocationSchema, message, signerOf("commit-receipt"));
  assert.throws(() => feed.take(forged, keySetOf("commit-receipt")), offline.KeyPurposeMismatch);
  assert.throws(() => feed.take(forged, KEYS), offline.KeyUnknown);
  assert.equal(feed.cursor, 0n);
});

test("a heartbeat says how far the feed goes, neither further nor not as far", () => {
  const feed = new offline.RevocationFeed(TENANT);
  feed.take(item({}), KEYS);
  for (const sequence of [0n, 6n, 8n]) {
    assert.throws(() => feed.hear(heartbeat(sequence, NOW_MS), KEYS), offline.FeedBroken);
  }
  assert.throws(() => feed.hear(heartbeat(7n, NOW_MS, OTHERS), KEYS), offline.FeedBroken);
  assert.equal(feed.asOfMs, undefined);

  feed.hear(heartbeat(7n, NOW_MS), KEYS);
  feed.hear(heartbeat(7n, NOW_MS - 1_000), KEYS);
  assert.equal(feed.asOfMs, NOW_MS);
});

test("a feed that has not been heard of for too long proves nothing", () => {
  const feed = new offline.RevocationFeed(TENANT);
  assert.throws(() => feed.view({ nowMs: NOW_MS, maximumAgeMs: 60_000 }), offline.FeedStale);
  feed.hear(heartbeat(0n, NOW_MS), KEYS);
  feed.view({ nowMs: NOW_MS + 60_000, maximumAgeMs: 60_000 });
  for (const nowMs of [NOW_MS + 60_001, Number.NaN]) {
    assert.throws(() => feed.view({ nowMs, maximumAgeMs: 60_000 }), offline.FeedStale);
  }
});

const CAPABILITY = messageNamed(CommitCapabilitySchema, "commit-capability");
const DECISION = messageNamed(DecisionReceiptSchema, "decision-receipt");
const GRANT = messageNamed(GrantSchema, "grant");
const GRANT_DIGEST = offline.toWire(offline.digestOf(statementNamed("grant")));

const WITHDRAWALS: readonly (readonly [string, RevokedKind, string])[] = [
  ["commit-capability", RevokedKind.CAPABILITY, CAPABILITY.capabilityId],
  ["commit-capability", RevokedKind.PRINCIPAL, "workload|committer"],
  ["commit-capability", RevokedKind.PRINCIPAL_KEY, offline.toWire(CAPABILITY.holderKey)],
  ["commit-capability", RevokedKind.APPROVAL, CAPABILITY.approvalReference],
  ["decision-receipt", RevokedKind.APPROVAL, DECISION.approvalReferences[0] ?? ""],
  ["decision-receipt", RevokedKind.PRINCIPAL, "workload|committer"],
  ["commit-receipt", RevokedKind.RECORD, "rec_01"],
  ["grant", RevokedKind.GRANT, GRANT_DIGEST],
  ["grant", RevokedKind.PRINCIPAL, "cognitum-principal|mira"],
  ["grant", RevokedKind.PRINCIPAL, "workload|committer"],
  ["grant", RevokedKind.PRINCIPAL_KEY, offline.toWire(GRANT.holderKey)],
];

for (const [id, kind, subject] of WITHDRAWALS) {
  test(`${id} counts no more without ${RevokedKind[kind]} ${subject.slice(0, 24)}`, () => {
    const statement = statementNamed(id);
    const verify = (revocations: offline.RevocationView): unknown =>
      offline.verifyStatement(statement, keySetOf(id), { revocations });

    verify(viewOf());
    verify(viewOf(kind, `${subject}x`));
    assert.throws(() => verify(viewOf(kind, subject)), offline.Withdrawn);
  });
}

test("the receipt of a record that was withdrawn counts no more, whatever its content", () => {
  const verify = (revocations: offline.RevocationView): unknown =>
    offline.verifyReceipt(statementNamed("commit-receipt"), keySetOf("commit-receipt"), { revocations });
  verify(viewOf());
  verify(viewOf(RevokedKind.RECORD, "rec_02"));
  assert.throws(() => verify(viewOf(RevokedKind.RECORD, "rec_01")), offline.Withdrawn);
});

test("a key of the authority that was withdrawn signs nothing that counts", () => {
  const { publicKey } = recordOf("commit-receipt");
  const revocations = viewOf(RevokedKind.ISSUER_KEY, publicKey.keyId);
  const verify = (): unknown =>
    offline.verifyReceipt(statementNamed("commit-receipt"), keySetOf("commit-receipt"), { revocations });
  assert.throws(verify, offline.KeyRevoked);
});

test("a withdrawn grant ends what was derived from it", () => {
  const chain = [statementNamed("grant"), statementNamed("derived-grant")];
  const verify = (revocations: offline.RevocationView): unknown =>
    offline.verifyGrantChain(chain, keySetOf("grant"), { nowMs: NOW_MS, revocations });
  verify(viewOf());
  assert.throws(() => verify(viewOf(RevokedKind.GRANT, GRANT_DIGEST)), offline.Withdrawn);
  assert.throws(() => verify(viewOf(RevokedKind.PRINCIPAL, "ruflo-agent|build-agent")), offline.Withdrawn);
});

test("the feed of one tenant says nothing of another's", () => {
  const feed = new offline.RevocationFeed(OTHERS);
  feed.hear(heartbeat(0n, NOW_MS, OTHERS), KEYS);
  const revocations = feed.view({ nowMs: NOW_MS, maximumAgeMs: 0 });
  assert.throws(
    () => offline.verifyStatement(statementNamed("commit-receipt"), keySetOf("commit-receipt"), { revocations }),
    offline.FeedBroken,
  );
});
