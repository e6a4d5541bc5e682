import assert from "node:assert/strict";
import { test } from "node:test";

import {
  AlreadyCommitted,
  type AuthorityError,
  BindingMismatch,
  grantTerms,
  type Committed,
  IdempotencyConflict,
  IssuedCapability,
  NotAllowed,
  NotFound,
  NotValidated,
  type Proposal,
  Revoked,
} from "../../src/index.js";
import { digestOf, toWire } from "../../src/offline/index.js";
import { member, ready } from "./team.js";

const user = member("user");
const agent = member("agent");
const service = member("service");
const admin = member("admin");
const notes = { memoryNamespace: "notes" };

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found = [];
  for await (const item of items) {
    found.push(item);
  }
  return found;
}

async function committed(content: string): Promise<Committed> {
  return service.commit((await ready(user, service, content)).capability, { content });
}

/** A proposal that policy lets the service commit, and its receipts. */
async function allowed(content: string) {
  const proposal = await user.propose({ ...notes, memoryType: "durable_fact", content });
  const validation = await service.validate(proposal);
  const decision = await service.evaluatePolicy(proposal);
  return { proposal, validationReceipt: validation.receipt, decisionReceipt: decision.receipt };
}

test("what was committed is found, read, cited, exported, corrected and taken back", async () => {
  const first = await committed("The lighthouse keeper counts the ships at noon.");

  const hits = await all(user.recall("lighthouse keeper", { ...notes, atLeastAsFreshAs: first.revisionToken }));
  assert.deepEqual(
    hits.map((hit) => hit.recordId),
    [first.recordId],
  );
  const record = await user.getRecord(first.recordId);
  assert.deepEqual([record.memoryType, record.provenance, record.validated], ["durable_fact", "user_claim", true]);
  assert((await all(user.listRecords({ ...notes, pageSize: 1 }))).some(({ recordId }) => recordId === first.recordId));
  assert(
    (await all(service.listReceipts({ ...notes, pageSize: 1 }))).some(({ recordId }) => recordId === first.recordId),
  );

  const citation = await user.cite(first.recordId, { citingKind: "answer", citingRef: "chat/7" });
  const about = { ...notes, contentDigest: record.contentDigest };
  for (const cited of [{ recordId: first.recordId }, about]) {
    assert.deepEqual(
      (await all(user.citations(cited))).map(({ citationId }) => citationId),
      [citation.citationId],
    );
  }
  for (const form of ["compact", "audit"] as const) {
    const exported = await user.export(first.recordId, { form });
    assert.deepEqual([exported.state, exported.broken.length], ["live", 0]);
  }

  const content = "The lighthouse keeper counts the ships at dusk.";
  const correction = await user.correct(first, { content });
  assert.equal(correction.supersedesRecordId, first.recordId);
  await service.validate(correction);
  const revocation = await service.revokeRecord(first, { note: "counted wrongly" });
  assert.equal(revocation.replayed, false);
  await assert.rejects(user.getRecord(first.recordId), NotFound);
});

test("many are issued and committed in few calls, each with an answer of its own", async () => {
  const contents = Array.from({ length: 6 }, (_, number) => `Crate ${number} holds lanterns.`);
  const grounds = [];
  for (const content of contents) {
    grounds.push(await allowed(content));
  }
  const [broken, ...good] = grounds;
  const issued = await service.issueBatch([{ ...broken!, validationReceipt: broken!.decisionReceipt }, ...good]);
  assert.equal((issued[0] as AuthorityError).reason, "MALFORMED");
  const capabilities = issued.filter((one): one is IssuedCapability => one instanceof IssuedCapability);
  assert.equal(capabilities.length, 5);

  const commits = capabilities.map((capability, index) => ({ capability, content: contents[index + 1] ?? "" }));
  const answers = await service.commitBatch([
    { ...commits[0]!, content: "Another." },
    ...commits.slice(1),
    commits[1]!,
  ]);

  assert(answers[0] instanceof BindingMismatch);
  assert.match(answers[0].message, /content_digest: expected sha256:/);
  const records = answers.slice(1).map((answer) => (answer as Committed).recordId);
  assert.equal(new Set(records).size, 4);
  assert.equal(records[0], records[4]);
  assert.deepEqual(await service.commitBatch([]), []);
});

test("what comes is committed over a stream, each with an answer of its own", async () => {
  const made = [];
  for (const number of [1, 2, 3, 4]) {
    const content = `Barrel ${number} holds oil.`;
    made.push({ capability: (await ready(user, service, content)).capability, content });
  }
  const [first, ...rest] = made as [(typeof made)[0], ...typeof made];

  const found = new Map<string, string>();
  for await (const { item, outcome } of service.commitStream([{ ...first, content: "Water." }, ...rest, rest[0]!])) {
    found.set(String(item.content), outcome instanceof Error ? outcome.message : outcome.recordId);
  }

  assert.equal(found.size, 4);
  assert.match(found.get("Water.") ?? "", /content_digest: expected sha256:/);
  const stored = await Promise.all(rest.map(({ content }) => user.getRecord(found.get(content) ?? "")));
  assert.deepEqual(
    stored.map(({ content }) => Buffer.from(content).toString()),
    rest.map(({ content }) => content),
  );
});

test("persons decide on exactly what they read", async () => {
  const proposals: Proposal[] = [];
  for (const content of ["The agent saw smoke.", "The agent saw rain."]) {
    const proposal = await agent.propose({ ...notes, memoryType: "durable_fact", content });
    await service.validate(proposal);
    assert.equal((await service.evaluatePolicy(proposal)).outcome, "require_approval");
    proposals.push(proposal);
  }
  const waiting = await all(admin.listReviews(notes));
  assert.deepEqual(
    waiting.map(({ proposal }) => proposal.proposalId),
    proposals.map(({ proposalId }) => proposalId),
  );

  const [smoke, rain] = proposals as [Proposal, Proposal];
  await assert.rejects(agent.decide(smoke, "approve"), NotAllowed);
  const review = await admin.decide(smoke, "approve", { note: "seen from the pier" });
  assert.notEqual(review.approvalReference, "");
  const [rejected, refused] = await admin.decideMany([
    { proposal: rain, verdict: "reject" },
    {
      proposal: { ...rain, message: { ...rain.message, proposalId: smoke.proposalId } } as Proposal,
      verdict: "reject",
    },
  ]);
  assert.equal((rejected as { state: string }).state, "rejected");
  assert(refused instanceof Error);
  assert.equal((await service.evaluatePolicy(smoke)).outcome, "allow");
  const { decisions } = await admin.getProposal(smoke.proposalId);
  assert.deepEqual(
    decisions.map(({ note }) => note),
    ["seen from the pier"],
  );
});

test("a capability is judged without being used up, and withdrawn", async () => {
  const { capability, proposal } = await ready(user, service, "The bell rings twice.");

  assert.equal((await service.verify(capability, { content: "The bell rings twice." })).granted, true);
  const verdict = await service.verify(capability, { content: "The bell rings thrice." });
  assert.deepEqual(
    [verdict.granted, verdict.reason, verdict.facts["term"]],
    [false, "BINDING_MISMATCH", "content_digest"],
  );

  await service.revoke(capability);
  await assert.rejects(service.commit(capability, { content: "The bell rings twice." }), Revoked);
  await user.withdraw(proposal);
  await assert.rejects(service.validate(proposal), NotValidated);
  const done = await ready(user, service, "The bell rings four times.");
  await service.commit(done.capability, { content: "The bell rings four times." });
  await assert.rejects(service.revoke(done.capability), AlreadyCommitted);
});

test("a key that stands for another commit is a conflict that names what differs", async () => {
  const first = await ready(user, service, "The tide turns at six.");
  const second = await ready(user, service, "The tide turns at seven.");
  await service.commit(first.capability, { content: "The tide turns at six." });

  const { commitIdempotencyKey } = first.capability;
  const asked = service.commit(second.capability, { content: "The tide turns at seven.", commitIdempotencyKey });
  const error = await asked.catch((thrown: unknown) => thrown);

  assert(error instanceof IdempotencyConflict);
  assert(error.differs.includes("content_digest"), error.message);
  assert.match(error.message, new RegExp(`commit_idempotency_key ${commitIdempotencyKey}`));
});

test("evidence is put once, vouched for, and read by its digest", async () => {
  const log = "restored the staging database";
  const evidence = await agent.putEvidence({ content: log }, { visibility: "workspace", claim: agent.vouchFor(log) });

  assert.deepEqual([evidence.state, evidence.visibility, evidence.signedBy?.id], ["pending", "workspace", "agent"]);
  const read = await agent.readEvidence(evidence.digest);
  assert.equal(Buffer.from(read.content ?? []).toString(), log);
});

test("what happens is told: in the audit log, and in the feed of revocations", async () => {
  const { capability } = await ready(user, service, "The gulls leave before the storm.");
  await service.revoke(capability);

  for await (const { feed, revoked } of service.watchRevocations()) {
    if (revoked.some(({ subject }) => subject === capability.capabilityId)) {
      assert(feed.cursor > 0n);
      break;
    }
  }
  const kinds = (await all(admin.listAuditEvents({ subject: capability.capabilityId, pageSize: 1 }))).map(
    ({ kind }) => kind,
  );
  assert.deepEqual(kinds, ["capability.revoke", "capability.issue"]);
  for await (const news of admin.watchAuditEvents({ subject: capability.capabilityId, fromBeginning: true })) {
    assert.equal(news.events[0]?.kind, "capability.issue");
    break;
  }
  await assert.rejects(all(user.listAuditEvents()), NotAllowed);
});

test("a grant is exchanged, read and judged", async () => {
  const me = service.credentials;
  const holder = { holder: me.principal, holderKeyId: me.privateKey!.publicKey.keyId };
  const terms = grantTerms({
    audiences: [me.audience],
    actions: ["memory.recall"],
    readMemoryNamespaces: ["notes"],
    uses: 3n,
    delegationDepth: 1,
  });
  const root = await service.issueGrant(terms, { subject: me.principal, ...holder, lifetimeMs: 60_000 });
  const { principal, privateKey } = agent.credentials;

  const child = await service.exchangeGrant(root, {
    holder: principal,
    holderKeyId: privateKey!.publicKey.keyId,
    terms: root.narrowed({ uses: 1n }),
  });

  assert.equal(child.digest, toWire(digestOf(child.statement)));
  assert.equal((await service.getGrant(root.digest)).state, "active");
  const use = { action: "memory.recall", audience: me.audience, readMemoryNamespace: "notes" };
  assert.equal((await agent.verifyGrant(child, { use })).granted, true);
  const wider = await agent.verifyGrant(child, { use: { ...use, readMemoryNamespace: "plans" } });
  assert.deepEqual([wider.reason, wider.facts["dimension"]], ["GRANT_EXCEEDED", "read_memory_namespaces"]);
});
