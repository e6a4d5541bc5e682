"""Whether a capability may be issued: whose, on which receipts, and which refusal answers."""

from dataclasses import replace
from typing import Any

import pytest

from authority.domain.decision import COMMIT_ACTION, DecisionOutcome, DecisionReceipt, SignedDecision
from authority.domain.identity import Caller, Principal, PrincipalKind, Proof, Right
from authority.domain.issuing import (
    IssuingFacts,
    judge_caller,
    judge_caller_of_many,
    judge_holder,
    judge_offer,
    judge_receipts,
    may_revoke,
)
from authority.domain.proposal import (
    MemoryType,
    ProposalRevision,
    ProposalState,
    Provenance,
    StoredProposal,
    Visibility,
)
from authority.domain.reasons import Reason
from authority.domain.references import DAY, Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.domain.validation import SignedValidation, ValidationOutcome, ValidationReceipt
from tests.unit.domain.terms import HOLDER, NOW, TENANT

STATEMENT = Statement("type", b"", "key", b"")
ALL_RIGHTS = frozenset(Right)

REVISION = ProposalRevision(
    tenant=TENANT,
    memory_namespace="notes",
    proposal_id="p1",
    revision=1,
    proposer=PrincipalRef("workload", "agent"),
    proposer_kind=PrincipalKind.AGENT,
    actor_chain=(),
    provenance=Provenance.AGENT_OUTPUT,
    memory_type=MemoryType.DURABLE_FACT,
    content_digest=b"c" * 32,
    media_type="text/plain",
    source_refs=(),
    subject_refs=(),
    evidence_digests=(),
    validator_profile="baseline",
    visibility=Visibility.WORKSPACE,
    valid_from_time=None,
    valid_until_time=None,
    record_expire_time=None,
    correlation_id="",
    costs=(),
    supersedes_record_id="",
    create_time=NOW,
)
VALIDATION = SignedValidation(
    ValidationReceipt(
        validation_id="v1",
        issuer="issuer",
        tenant=TENANT,
        memory_namespace="notes",
        proposal_id="p1",
        proposal_revision=1,
        proposal_digest=b"p" * 32,
        validator_profile="baseline",
        validator_profile_version="1",
        findings=(),
        outcome=ValidationOutcome.PASS,
        validate_time=NOW,
        expire_time=Instant(NOW + DAY),
    ),
    STATEMENT,
    b"v" * 32,
)
DECISION = SignedDecision(
    DecisionReceipt(
        decision_id="d1",
        issuer="issuer",
        tenant=TENANT,
        memory_namespace="notes",
        holder=HOLDER,
        action=COMMIT_ACTION,
        proposal_id="p1",
        proposal_revision=1,
        proposal_digest=b"p" * 32,
        validation_receipt_digest=b"v" * 32,
        approval_references=(),
        policy_version=b"b" * 32,
        outcome=DecisionOutcome.ALLOW,
        determining_policies=(),
        sequence=1,
        decide_time=NOW,
        expire_time=Instant(NOW + DAY),
        correlation_id="",
    ),
    STATEMENT,
    b"d" * 32,
)
FACTS = IssuingFacts(
    proposal=StoredProposal(REVISION, b"content", b"p" * 32, ProposalState.VALIDATED),
    is_newest_revision=True,
    has_validation=True,
    has_decision=True,
    policy_version=b"b" * 32,
    holder=Principal(TENANT, HOLDER, PrincipalKind.SERVICE, ALL_RIGHTS),
    holder_key_active=True,
)


def validation(**changes: Any) -> SignedValidation:
    return replace(VALIDATION, receipt=replace(VALIDATION.receipt, **changes))


def decision(**changes: Any) -> SignedDecision:
    return replace(DECISION, receipt=replace(DECISION.receipt, **changes))


def judge(
    validated: SignedValidation = VALIDATION,
    decided: SignedDecision = DECISION,
    facts: IssuingFacts = FACTS,
    signatures: tuple[Refusal | None, ...] = (None, None),
    now: Instant = NOW,
) -> Refusal | None:
    return judge_receipts(validated, decided, signatures, HOLDER, facts, now)


def test_good_receipts_are_not_refused() -> None:
    assert judge() is None


@pytest.mark.parametrize(
    "changes",
    [
        {"proposal_digest": b"x" * 32},
        {"tenant": TenantRef("other", "acme")},
        {"memory_namespace": "elsewhere"},
        {"validator_profile": "lenient"},
    ],
)
def test_i13_a_validation_of_something_else_is_a_binding_mismatch(changes: dict[str, Any]) -> None:
    assert judge(validated=validation(**changes)) == Refusal(
        Reason.BINDING_MISMATCH, {"term": "validation_receipt_digest"}
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"proposal_digest": b"x" * 32},
        {"validation_receipt_digest": b"x" * 32},
        {"holder": PrincipalRef("workload", "other")},
        {"tenant": TenantRef("other", "acme")},
        {"memory_namespace": "elsewhere"},
    ],
)
def test_e16_a_decision_on_something_else_is_a_binding_mismatch(changes: dict[str, Any]) -> None:
    assert judge(decided=decision(**changes)) == Refusal(Reason.BINDING_MISMATCH, {"term": "decision_receipt_digest"})


@pytest.mark.parametrize(
    ("missing", "term"), [("has_validation", "validation_receipt_digest"), ("has_decision", "decision_receipt_digest")]
)
def test_a_receipt_that_was_never_stored_binds_nothing(missing: str, term: str) -> None:
    changes: dict[str, Any] = {missing: False}

    assert judge(facts=replace(FACTS, **changes)) == Refusal(Reason.BINDING_MISMATCH, {"term": term})


def test_i12_a_decision_under_another_policy_version_is_denied() -> None:
    assert judge(decided=decision(policy_version=b"x" * 32)) == Refusal(Reason.POLICY_DENIED)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [(DecisionOutcome.DENY, Reason.POLICY_DENIED), (DecisionOutcome.REQUIRE_APPROVAL, Reason.APPROVAL_REQUIRED)],
)
def test_only_allow_lets_a_capability_be_issued(outcome: DecisionOutcome, reason: Reason) -> None:
    assert judge(decided=decision(outcome=outcome)) == Refusal(reason)


def test_receipts_expire_at_their_boundary() -> None:
    assert judge(now=Instant(NOW + DAY - 1)) is None
    assert judge(now=Instant(NOW + DAY)) == Refusal(Reason.EXPIRED, {"field": "validation_receipt"})
    assert judge(decided=decision(expire_time=NOW)) == Refusal(Reason.EXPIRED, {"field": "decision_receipt"})


@pytest.mark.parametrize(
    "facts",
    [
        replace(FACTS, is_newest_revision=False),
        replace(FACTS, proposal=replace(FACTS.proposal, state=ProposalState.REJECTED)),
        replace(FACTS, proposal=replace(FACTS.proposal, state=ProposalState.PROPOSED)),
        replace(FACTS, proposal=replace(FACTS.proposal, state=ProposalState.CHANGES_REQUESTED)),
    ],
)
def test_a_revision_that_does_not_stand_is_not_validated(facts: IssuingFacts) -> None:
    assert judge(facts=facts) == Refusal(Reason.NOT_VALIDATED)


def test_a_failed_validation_is_not_validated() -> None:
    assert judge(validated=validation(outcome=ValidationOutcome.FAIL)) == Refusal(Reason.NOT_VALIDATED)


def test_i10_a_bad_signature_answers_before_everything_else() -> None:
    unknown = Refusal(Reason.ISSUER_UNKNOWN)

    refusal = judge(
        validated=validation(proposal_digest=b"x" * 32),
        decided=decision(outcome=DecisionOutcome.DENY),
        signatures=(unknown, None),
        now=Instant(NOW + DAY),
    )

    assert refusal is unknown


def caller(ref: PrincipalRef, kind: PrincipalKind, rights: frozenset[Right] = ALL_RIGHTS) -> Caller:
    return Caller(Principal(TENANT, ref, kind, rights), "key", Proof(b"", None), one_use=False)


def test_the_holder_and_whoever_may_issue_may_ask() -> None:
    other = PrincipalRef("workload", "issuer")

    assert judge_caller(caller(HOLDER, PrincipalKind.SERVICE, frozenset({Right.COMMIT})), HOLDER) is None
    assert judge_caller(caller(other, PrincipalKind.SERVICE), HOLDER) is None
    refused = judge_caller(caller(other, PrincipalKind.SERVICE, frozenset({Right.COMMIT})), HOLDER)
    assert refused == Refusal(Reason.NOT_ALLOWED, {"right": "issue"})


def test_a_holder_that_may_not_commit_is_told_only_that() -> None:
    refused = judge_caller(caller(HOLDER, PrincipalKind.SERVICE, ALL_RIGHTS - {Right.COMMIT}), HOLDER)

    assert refused == Refusal(Reason.NOT_ALLOWED, {"right": "commit"})


@pytest.mark.parametrize(
    ("kind", "rights", "may"),
    [
        (PrincipalKind.SERVICE, frozenset({Right.ISSUE}), True),
        (PrincipalKind.USER, frozenset({Right.ISSUE}), True),
        (PrincipalKind.ADMIN, frozenset(), True),
        (PrincipalKind.SERVICE, ALL_RIGHTS - {Right.ISSUE}, False),
        (PrincipalKind.AGENT, ALL_RIGHTS, False),
        (PrincipalKind.MODEL, ALL_RIGHTS, False),
    ],
)
def test_the_holder_an_admin_and_whoever_may_issue_may_revoke(
    kind: PrincipalKind, rights: frozenset[Right], *, may: bool
) -> None:
    assert may_revoke(caller(PrincipalRef("workload", "other"), kind, rights), HOLDER) is may
    assert may_revoke(caller(HOLDER, PrincipalKind.SERVICE, frozenset()), HOLDER)


def test_a_retry_after_a_revocation_is_revoked_unless_something_higher_answers() -> None:
    denied, committed = Refusal(Reason.POLICY_DENIED), Refusal(Reason.ALREADY_COMMITTED)

    undone = judge_offer(committed, asked_before=True, was_revoked=True)
    assert isinstance(undone, Refusal)
    assert undone.reason is Reason.REVOKED
    assert judge_offer(denied, asked_before=True, was_revoked=True) is denied
    for asked_before, was_revoked in ((True, False), (False, True), (False, False)):
        assert judge_offer(committed, asked_before=asked_before, was_revoked=was_revoked) is committed


@pytest.mark.parametrize("right", [Right.ISSUE, Right.COMMIT])
def test_whoever_may_issue_or_commit_may_ask_for_many(right: Right) -> None:
    assert judge_caller_of_many(caller(HOLDER, PrincipalKind.SERVICE, frozenset({right}))) is None
    refused = judge_caller_of_many(caller(HOLDER, PrincipalKind.SERVICE, ALL_RIGHTS - {Right.ISSUE, Right.COMMIT}))
    assert refused == Refusal(Reason.NOT_ALLOWED, {"right": "issue"})


@pytest.mark.parametrize("kind", [PrincipalKind.AGENT, PrincipalKind.MODEL])
def test_i09_an_agent_never_issues_whomever_it_names(kind: PrincipalKind) -> None:
    agent = caller(PrincipalRef("workload", "agent"), kind)

    for named in (HOLDER, agent.ref):
        refused = judge_caller(agent, named)
        assert refused is not None
        assert refused.reason is Reason.NOT_ALLOWED


@pytest.mark.parametrize(
    "facts",
    [
        replace(FACTS, holder=None),
        replace(FACTS, holder=Principal(TENANT, HOLDER, PrincipalKind.AGENT, ALL_RIGHTS)),
        replace(FACTS, holder=Principal(TENANT, HOLDER, PrincipalKind.SERVICE, frozenset())),
        replace(FACTS, holder_key_active=False),
    ],
)
def test_only_a_service_or_user_that_may_commit_holds_with_an_active_key(facts: IssuingFacts) -> None:
    refused = judge_holder(facts)

    assert refused is not None
    assert refused.reason is Reason.NOT_ALLOWED
