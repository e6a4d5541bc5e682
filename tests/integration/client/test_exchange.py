"""One complete exchange through every verb."""

from datetime import UTC, datetime, timedelta

import pytest

from capability_authority import CapabilityAuthority, Credentials
from capability_authority.client import (
    BindingMismatch,
    Decision,
    ExportRejected,
    NotFound,
    Observation,
    ProposalWithdrawal,
    RecordRevocation,
    Reference,
    Revision,
    Revocation,
    UnknownRpc,
    UnvalidatedWrite,
)
from capability_authority.offline import (
    Check,
    CheckVerdict,
    check_export,
    open_statement,
    parse_statement,
    to_wire,
    verify_receipt,
)
from capability_authority.v1.capability_service_pb2 import GetKeySetRequest, GetKeySetResponse
from capability_authority.v1.memory_service_pb2 import (
    ExportRecordRequest,
    GetMemoryRecordRequest,
    GetMemoryRecordResponse,
    RecallRecordsRequest,
    RecordExport,
)
from capability_authority.v1.policy_service_pb2 import EvaluatePolicyRequest
from capability_authority.v1.proposal_service_pb2 import CreateProposalRequest, DecideProposalRequest
from capability_authority.v1.statements_pb2 import EvidenceClaim
from capability_authority.v1.types_pb2 import (
    DECISION_OUTCOME_REQUIRE_APPROVAL,
    MEMORY_TYPE_CRITIQUE,
    VISIBILITY_TEAM,
    Cost,
)
from tests.integration.client.exchange import CONTENT, CONTENT_BYTES, issued
from tests.integration.client.small_authority import SmallAuthority
from tests.integration.client.state import NOW_MS


async def test_a_validation_that_takes_long_is_asked_for_again_by_its_request(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    proposal = await client.propose(memory_namespace="engineering/reviews", memory_type="critique", content=CONTENT)
    small_authority.state.takes_long = True
    first = await client.validate(proposal)
    assert (first.state, first.outcome, first.findings) == ("validating", "unspecified", ())
    again = await client.validate(proposal, request_id=first.request_id)
    assert (again.state, again.outcome, again.request_id) == ("validated", "pass", first.request_id)


async def test_erased_content_is_told(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    proposal = await client.propose(memory_namespace="engineering/reviews", memory_type="critique", content=CONTENT)
    assert not (await client.get_proposal(proposal.proposal_id)).content_erased
    small_authority.state.proposals[proposal.proposal_id].content = b""
    found = await client.get_proposal(proposal.proposal_id)
    assert (found.content, found.content_erased) == (b"", True)


async def test_a_proposal_becomes_a_record_with_a_receipt_that_verifies_offline(client: CapabilityAuthority) -> None:
    # Given a proposal, as a dict, validated and allowed
    proposal = await client.propose(memory_namespace="engineering/reviews", memory_type="critique", content=CONTENT)
    validation = await client.validate(proposal)
    decision = await client.evaluate_policy(proposal)
    assert (proposal.state, proposal.content, proposal.media_type) == ("proposed", CONTENT_BYTES, "application/json")
    assert (validation.outcome, validation.state) == ("pass", "validated")
    assert [(finding.validator, finding.outcome, finding.confidence) for finding in validation.findings] == [
        ("schema", "pass", 1.0)
    ]
    assert (decision.outcome, decision.determining_policies) == ("allow", ("allow-approved",))
    policy = await client.get_policy(decision.policy_version)
    assert (policy.policy_version, policy.active_memory_namespaces) == (decision.policy_version, ("notes",))
    assert policy.bundle.startswith("forbid")

    # When it is issued, judged, committed and committed again
    capability = await client.issue(
        proposal,
        validation_receipt=validation.receipt,
        decision_receipt=decision.receipt,
        lifetime=timedelta(minutes=2),
    )
    verdict = await client.verify(capability, content=CONTENT)
    first = await client.commit(capability, content=CONTENT)
    again = await client.commit(capability.statement, content=CONTENT_BYTES)

    # Then the second commit is the first one
    assert verdict.granted
    assert (first.replayed, again.replayed) == (False, True)
    assert first.receipt.statement == again.receipt.statement

    # And the record and the receipt are what was proposed, provable from bytes alone
    record = await client.get_record(first.record_id)
    assert (record.content, record.memory_type, record.receipt_id) == (CONTENT_BYTES, "critique", first.receipt_id)
    stored = first.receipt.statement.SerializeToString(deterministic=True)
    receipt = verify_receipt(parse_statement(stored), await client.key_set(), content=CONTENT_BYTES)
    assert receipt.capability.commit_idempotency_key == capability.commit_idempotency_key
    assert receipt == first.receipt.says


async def test_a_verdict_is_an_answer_and_names_the_term(client: CapabilityAuthority) -> None:
    capability = await issued(client)

    verdict = await client.verify(capability, content="something else")

    assert (verdict.granted, verdict.reason, verdict.facts) == (
        False,
        "BINDING_MISMATCH",
        {"term": "content_digest"},
    )
    assert (await client.verify(capability)).granted


async def test_a_capability_is_revoked_by_itself_its_statement_or_its_id(client: CapabilityAuthority) -> None:
    capability = await issued(client)

    first = await client.revoke(capability)
    others = [await client.revoke(capability.statement), await client.revoke(capability.capability_id)]

    at = datetime.fromtimestamp(NOW_MS / 1000, UTC)
    assert first == Revocation(at, replayed=False)
    assert others == [Revocation(at, replayed=True)] * 2


async def test_a_proposal_is_withdrawn_by_itself_or_its_id(client: CapabilityAuthority) -> None:
    proposal = await client.propose(memory_namespace="notes", memory_type="durable_fact", content="Tea is out.")

    answers = [await client.withdraw(proposal), await client.withdraw(proposal.proposal_id)]

    at = datetime.fromtimestamp(NOW_MS / 1000, UTC)
    assert answers == [ProposalWithdrawal(at, replayed=False), ProposalWithdrawal(at, replayed=True)]
    assert (await client.get_proposal(proposal.proposal_id)).state == "withdrawn"


async def test_a_record_is_written_without_validation_and_says_so(client: CapabilityAuthority) -> None:
    async def write() -> UnvalidatedWrite:
        return await client.write_unvalidated(
            memory_namespace="engineering/reviews", memory_type="snapshot", content="tea", request_id="0190f3a0-0001"
        )

    written, again = await write(), await write()

    assert (written.record.validated, written.record.receipt_id, written.record.content) == (False, "", b"tea")
    assert (written.replayed, again.replayed, again.record_id) == (False, True, written.record_id)
    assert written.observation == Observation("NOT_VALIDATED", ("secrets:aws_key",), ("deny-failed",), "")


async def test_a_record_is_revoked_by_itself_its_commit_or_its_id(client: CapabilityAuthority) -> None:
    committed = await client.commit(await issued(client), content=CONTENT)
    record = await client.get_record(committed.record_id)

    first = await client.revoke_record(record, note="wrong")
    others = [await client.revoke_record(committed), await client.revoke_record(record.record_id)]

    at = datetime.fromtimestamp(NOW_MS / 1000, UTC)
    assert first == RecordRevocation(at, 7, replayed=False, revision_token="token")
    assert others == [RecordRevocation(at, 7, replayed=True, revision_token="token")] * 2
    with pytest.raises(NotFound):
        await client.get_record(committed.record_id)


async def test_a_correction_is_a_proposal_that_names_the_record(client: CapabilityAuthority) -> None:
    committed = await client.commit(await issued(client), content=CONTENT)
    record = await client.get_record(committed.record_id)
    assert record.supersedes_record_id == ""

    like_it = await client.correct(record, content="It is otherwise.")
    said = await client.correct(
        committed, content={"is": "otherwise"}, memory_type="snapshot", visibility="team", request_id="r"
    )

    assert [it.supersedes_record_id for it in (like_it, said)] == [record.record_id] * 2
    assert (like_it.content, like_it.memory_type) == (b"It is otherwise.", record.memory_type)
    assert (said.content, said.memory_type, said.proposal_id) == (b'{"is":"otherwise"}', "snapshot", "r")
    with pytest.raises(NotFound):
        await client.correct("nothing", content="It is otherwise.")
    with pytest.raises(ValueError, match="none of"):
        await client.correct(record, content="It is otherwise.", memory_type="rumour")  # type: ignore[arg-type]


async def test_a_receipt_is_found_by_each_of_its_names(client: CapabilityAuthority) -> None:
    committed = await client.commit(await issued(client, commit_idempotency_key="nightly-1"), content=CONTENT)

    by_key = await client.get_receipt(commit_idempotency_key="nightly-1", content=CONTENT_BYTES)
    by_id = await client.get_receipt(receipt_id=committed.receipt_id)
    by_record = await client.get_receipt(record_id=committed.record_id, verify=False)

    assert by_key == by_id == committed.receipt
    assert by_record.statement == committed.receipt.statement
    assert by_record.says is None
    with pytest.raises(NotFound):
        await client.get_receipt(receipt_id="none")
    with pytest.raises(ValueError, match="exactly one"):
        await client.get_receipt()
    with pytest.raises(ValueError, match="exactly one"):
        await client.get_receipt(receipt_id="a", record_id="b")


async def test_lists_follow_every_page(client: CapabilityAuthority) -> None:
    # Given five of each, with two on a page
    for number in range(5):
        await client.commit(await issued(client, commit_idempotency_key=f"key-{number}"), content=CONTENT)

    # When each is listed
    proposals = [proposal async for proposal in client.list_proposals(memory_namespace="engineering/reviews")]
    receipts = [receipt async for receipt in client.list_receipts(memory_namespace="engineering/reviews")]
    records = [record async for record in client.list_records(memory_namespace="engineering/reviews")]

    # Then each comes once
    assert len({proposal.proposal_id for proposal in proposals}) == len(proposals) == 5
    assert len({receipt.receipt_id for receipt in receipts}) == len(receipts) == 5
    assert [record.receipt_id for record in records] == [receipt.receipt_id for receipt in receipts]
    assert {receipt.says for receipt in receipts} == {None}


async def test_recall_finds_as_many_as_are_wanted_and_asks_for_no_more(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given five records that say it, two on a page, and the token of the last commit
    commits = [
        await client.commit(await issued(client, commit_idempotency_key=f"key-{number}"), content=CONTENT)
        for number in range(5)
    ]

    # When three are recalled
    begun = datetime.fromtimestamp(NOW_MS / 1000, UTC)
    found = client.recall(
        CONTENT_BYTES.decode(),
        memory_namespace="engineering/reviews",
        limit=3,
        memory_types=["critique"],
        provenances=["agent_output"],
        subject_refs=["client:7"],
        created_after_time=begun,
        at_least_as_fresh_as=commits[-1].revision_token,
    )
    hits = [hit async for hit in found]

    # Then three come, with all that was asked for in each call
    assert [hit.record_id for hit in hits] == list(small_authority.state.records)[:3]
    assert (hits[0].score, hits[0].observe_time, hits[0].record.provenance) == (0.5, begun, "agent_output")
    sent = [attempt.request_bytes for attempt in small_authority.attempts("RecallRecords")]
    asked = [RecallRecordsRequest.FromString(one) for one in sent]
    assert [(it.page_size, it.page_token) for it in asked] == [(3, ""), (1, "2")]
    assert {it.at_least_as_fresh_as for it in asked} == {"fresh"}
    assert [list(it.subject_refs) for it in asked] == [["client:7"]] * 2
    with pytest.raises(ValueError, match="durable_fact"):
        await anext(client.recall("tea", memory_namespace="m", memory_types=["fact"]))  # type: ignore[list-item]


async def test_what_cites_a_record_is_found_by_the_record_and_by_its_content(client: CapabilityAuthority) -> None:
    # Given three answers that rest on a record
    committed = await client.commit(await issued(client), content=CONTENT)
    told = [
        await client.cite(committed.record_id, citing_kind="answer", citing_ref=f"answer {number}")
        for number in range(3)
    ]

    # When they are looked for, then they come, whichever way the record is named
    digest = told[0].content_digest
    by_record = [it async for it in client.citations(record_id=committed.record_id)]
    by_content = [it async for it in client.citations(memory_namespace="m", content_digest=digest)]
    assert by_record == by_content == told
    assert (told[2].citing_kind, told[2].citing_ref, told[2].cited_by) == (
        "answer",
        "answer 2",
        Reference("acme", "reader"),
    )
    assert told[0].create_time == datetime.fromtimestamp(NOW_MS / 1000, UTC)
    with pytest.raises(ValueError, match="either"):
        await anext(client.citations())


async def test_an_export_is_checked_before_it_is_handed_over(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given two records
    commits = [
        await client.commit(await issued(client, commit_idempotency_key=key), content=CONTENT) for key in ("k1", "k2")
    ]
    record_id, other_id = (committed.record_id for committed in commits)
    for record in small_authority.state.records.values():
        told = next(it.receipt.says for it in commits if it.record_id == record.record_id)
        assert told is not None
        record.proposer.CopyFrom(told.capability.subject)
        record.proposal_id, record.proposal_revision = told.capability.proposal_id, told.capability.proposal_revision
        record.create_time.CopyFrom(told.commit_time)

    # When one is exported, then what came is checked part by part, and can be checked again from its bytes
    export = await client.export(record_id)
    assert (export.record.record_id, export.state, export.broken) == (record_id, "live", ())
    assert export.checks[0] == Check("content", CheckVerdict.HOLDS, export.checks[0].because)
    stored = RecordExport.FromString(export.message.SerializeToString())
    tenant = (client.credentials.tenant.namespace, client.credentials.tenant.id)
    assert check_export(stored, await client.key_set(), tenant=tenant) == export.checks
    asked = small_authority.attempts("ExportRecord")[0].request_bytes
    assert ExportRecordRequest.FromString(asked).form == ExportRecordRequest.FORM_COMPACT

    # And what does not hold together is refused, or told when that is asked for
    small_authority.state.spoils_exports = b"!"
    with pytest.raises(ExportRejected, match="content: content_digest") as rejected:
        await client.export(other_id, form="audit")
    told_all = await client.export(other_id, verify=False)
    assert told_all.broken[0] == rejected.value.export.broken[0]
    with pytest.raises(ValueError, match="compact, audit"):
        await client.export(other_id, form="whole")  # type: ignore[arg-type]


async def test_a_page_is_asked_for_only_when_it_is_needed(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    for number in range(3):
        await client.propose(memory_namespace="m", memory_type="critique", content=f"proposal {number}")

    async for _ in client.list_proposals(memory_namespace="m", state="proposed", page_size=2):
        break

    assert len(small_authority.attempts("ListProposals")) == 1


async def test_a_person_decides_on_exactly_what_was_read(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    small_authority.state.outcome = DECISION_OUTCOME_REQUIRE_APPROVAL
    proposed = await client.propose(memory_namespace="m", memory_type="procedure", content="Restart, then look.")
    decision = await client.evaluate_policy(Revision(proposed.proposal_id, proposed.revision))
    read = await client.get_proposal(proposed.proposal_id)

    review = await client.decide(read, "approve", note="I looked.", expire_time=datetime(2030, 1, 1, tzinfo=UTC))

    assert decision.outcome == "require_approval"
    assert (review.state, bool(review.approval_reference)) == ("approved", True)
    sent = DecideProposalRequest.FromString(small_authority.attempts("DecideProposal")[0].request_bytes)
    assert (sent.proposal_digest, sent.note) == (proposed.proposal_digest, "I looked.")
    assert sent.expire_time.ToDatetime(tzinfo=UTC) == datetime(2030, 1, 1, tzinfo=UTC)


async def test_many_decisions_go_in_one_request_and_each_has_its_outcome(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # given three proposals that wait, the last of which changed since it was read
    for number in range(3):
        await client.propose(memory_namespace="m", memory_type="procedure", content=f"Step {number}.")
    waiting = [it async for it in client.list_reviews(memory_namespace="m")]
    assert {(it.asking_policies, it.persons_needed, it.persons_approving) for it in waiting} == {(("ask",), 2, 1)}
    last = waiting[-1].proposal
    small_authority.state.proposals[last.proposal_id].proposal_digest = to_wire(bytes(32))

    # when a person decides on all of them
    holder = Reference("cognitum-service", "committer")
    approvals = [Decision(it.proposal, "approve", holder=holder, max_uses=2) for it in waiting]
    answers = await client.decide_many([*approvals, Decision(last, "adopt")])

    # then the first two are taken, the others refused, each alone, in one request
    assert [isinstance(it, BindingMismatch) for it in answers] == [False, False, True, True]
    [attempt] = small_authority.attempts("DecideProposal")
    sent = DecideProposalRequest.FromString(attempt.request_bytes)
    assert sent.request_id
    assert [(it.holder.id, it.max_uses) for it in sent.decisions] == [("committer", 2)] * 3 + [("", 0)]
    assert await client.decide_many([]) == []


async def test_every_field_of_a_proposal_arrives(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    digest = to_wire(bytes(32))
    until = datetime(2030, 1, 1, 12, 0, 0, 123_456, tzinfo=UTC)

    await client.propose(
        memory_namespace="m",
        memory_type="critique",
        content="text",
        source_refs=["thread:1"],
        subject_refs=["client:2"],
        evidence_digests=[digest],
        validator_profile="strict",
        visibility="team",
        visibility_scope="crew",
        valid_until_time=until,
        correlation_id="run-1",
        costs=[Cost(stage="critique", usd_micros=12)],
        request_id="request-1",
    )

    sent = CreateProposalRequest.FromString(small_authority.attempts("CreateProposal")[0].request_bytes)
    expected = CreateProposalRequest(
        request_id="request-1",
        memory_namespace="m",
        memory_type=MEMORY_TYPE_CRITIQUE,
        content=b"text",
        media_type="text/plain",
        source_refs=["thread:1"],
        subject_refs=["client:2"],
        evidence_digests=[digest],
        validator_profile="strict",
        visibility=VISIBILITY_TEAM,
        visibility_scope="crew",
        correlation_id="run-1",
        costs=[Cost(stage="critique", usd_micros=12)],
    )
    # Microseconds are finer than the contract's instants.
    expected.valid_until_time.FromDatetime(until.replace(microsecond=123_000))
    assert sent == expected


async def test_a_capability_can_be_issued_to_another_holder(client: CapabilityAuthority) -> None:
    key_id = to_wire(bytes(32))

    capability = await issued(client, holder=Reference("workload", "other"), holder_key_id=key_id, audience="elsewhere")

    terms = capability.terms
    assert (terms.holder.id, terms.holder_key, terms.audience) == ("other", bytes(32), "elsewhere")
    assert capability.expire_time == datetime.fromtimestamp(1_790_000_900, tz=UTC)


async def test_any_rpc_can_be_called_by_its_name(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    committed = await client.commit(await issued(client), content=CONTENT)
    request = GetMemoryRecordRequest(record_id=committed.record_id)

    by_name = await client.call("GetMemoryRecord", request)
    by_path = await client.call("/capability_authority.v1.MemoryService/GetMemoryRecord", request)
    keys = await client.call("GetKeySet", GetKeySetRequest())

    assert isinstance(by_name, GetMemoryRecordResponse)
    assert by_name == by_path
    assert isinstance(keys, GetKeySetResponse)
    with pytest.raises(UnknownRpc, match="GetMemoryRecord"):
        await client.call("GetMemoryRecrod", request)
    with pytest.raises(TypeError, match="EvaluatePolicyRequest"):
        await client.call("EvaluatePolicy", request)


async def test_a_request_id_is_filled_in_without_touching_the_callers_message(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    request = EvaluatePolicyRequest(proposal_id="p", proposal_revision=1)

    await client.call("EvaluatePolicy", request)

    assert request.request_id == ""
    assert EvaluatePolicyRequest.FromString(small_authority.attempts("EvaluatePolicy")[0].request_bytes).request_id


async def test_credentials_are_found_by_the_environment(
    small_authority: SmallAuthority, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{tmp_path}/credentials.json"
    credentials: Credentials = small_authority.register()
    credentials.save(path)
    monkeypatch.setenv("AUTHORITY_CREDENTIALS", path)

    async with CapabilityAuthority.connect() as client:
        proposal = await client.propose(memory_namespace="m", memory_type="critique", content="text")

    assert proposal.revision == 1
    invocation = small_authority.attempts("CreateProposal")[0].invocation
    assert invocation is not None
    assert (invocation.principal.namespace, invocation.principal.id) == credentials.principal


async def test_evidence_is_put_and_read_by_its_digest(client: CapabilityAuthority) -> None:
    # given a claim of one's own, when evidence is put with it, then it comes back with its content and its voucher
    claim = client.vouch_for("three tests failed")
    put = await client.put_evidence("three tests failed", visibility="workspace", claim=claim)
    assert (put.state, put.visibility, put.content, put.signed_by) == ("pending", "workspace", None, put.put_by)
    found = await client.read_evidence(put.digest)
    assert (found.content, found.reference, found.media_type) == (b"three tests failed", None, "text/plain")
    assert found.claim == claim
    assert repr(found) == f"<Evidence {put.digest}, pending>"
    vouched = open_statement(claim, expected=EvidenceClaim, keys=lambda _: client.credentials.signing_key.public_key)
    assert to_wire(vouched.content_digest) == put.digest

    # and what is only referred to has no content
    elsewhere = to_wire(bytes(32))
    await client.put_evidence(reference="s3://logs/7", digest=elsewhere, media_type="application/gzip")
    found = await client.read_evidence(elsewhere)
    assert (found.content, found.reference, found.claim, found.signed_by) == (None, "s3://logs/7", None, None)
    assert found.put_time == datetime.fromtimestamp(NOW_MS / 1000, UTC)
    with pytest.raises(NotFound):
        await client.read_evidence(to_wire(b"\x01" * 32))


@pytest.mark.parametrize("both", [True, False])
async def test_evidence_is_either_content_or_a_reference(client: CapabilityAuthority, *, both: bool) -> None:
    with pytest.raises(ValueError, match="either"):
        await (client.put_evidence("a log", reference="s3://logs/7") if both else client.put_evidence())
