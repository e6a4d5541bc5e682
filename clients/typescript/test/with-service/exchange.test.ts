import assert from "node:assert/strict";
import { test } from "node:test";

import { BindingMismatch, NotAllowed, NotFound } from "../../src/index.js";
import { member, ready } from "./team.js";

const user = member("user");
const service = member("service");

test("one whole exchange: proposed, validated, allowed, issued, committed, replayed, read", async () => {
  const content = { finding: "Step 3 drops the index too early.", judged: ["plan", 7] };
  const proposal = await user.propose({ memoryNamespace: "notes", memoryType: "durable_fact", content });
  assert.equal(proposal.state, "proposed");
  assert.equal(proposal.provenance, "user_claim");

  const validation = await service.validate(proposal);
  assert.equal(validation.outcome, "pass");
  const decision = await service.evaluatePolicy(proposal);
  assert.equal(decision.outcome, "allow");

  const capability = await service.issue(proposal, {
    validationReceipt: validation.receipt,
    decisionReceipt: decision.receipt,
  });
  const committed = await service.commit(capability, { content });
  assert.equal(committed.replayed, false);
  assert.equal(committed.receipt.says?.capability?.proposalId, proposal.proposalId);

  const again = await service.commit(capability, { content });
  assert.equal(again.replayed, true);
  assert.deepEqual(again.receipt.statement, committed.receipt.statement);

  const read = await service.getReceipt({ recordId: committed.recordId }, { content: proposal.content });
  assert.equal(read.receiptId, committed.receiptId);
  const stored = await user.getProposal(proposal.proposalId);
  assert.equal(stored.state, "committed");
  assert.deepEqual(stored.validationReceipt, validation.receipt);
});

test("a refusal says what was expected and what was presented", async () => {
  const { capability } = await ready(user, service, "The staging database is restored every night.");

  const refused = await service.commit(capability, { content: "Something else." }).catch((error: unknown) => error);

  assert(refused instanceof BindingMismatch);
  assert.equal(refused.term, "content_digest");
  assert.match(refused.message, /content_digest: expected sha256:[0-9a-f]{64}, presented sha256:[0-9a-f]{64}/);
  assert.equal(refused.outcomeUnknown, false);
});

test("what the caller may not do, and what is not there, is told apart", async () => {
  const proposal = await user.propose({ memoryNamespace: "notes", memoryType: "durable_fact", content: "Here." });

  await assert.rejects(user.evaluatePolicy(proposal), NotAllowed);
  await assert.rejects(user.getProposal("00000000-0000-4000-8000-000000000000"), NotFound);
});

test("client, authority and contract tell each other their versions", async () => {
  const versions = await service.versions();

  assert.equal(versions.client, "0.1.0");
  assert.notEqual(versions.service, "");
  assert.equal(versions.contract, versions.clientContract);
  assert.equal(versions.authorityIsOlder, false);
});
