"""What live state says against a commit plan: the judgement of the database's commit function, over dicts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from authority.domain.capability import CommitCapability
from authority.domain.decision import Approval, ApprovalVerdict, DecisionOutcome, SignedDecision
from authority.domain.plan import CommitPlan
from authority.domain.proposal import ProposalState, StoredProposal
from authority.domain.proposal_states import COMMITTABLE, state_at
from authority.domain.quorum import Electorate, interested
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, binding_mismatch
from authority.domain.statement import KeyState, Statement
from authority.domain.validation import SignedValidation, ValidationOutcome
from authority.domain.verify import judge_time
from authority.inprocess.grants import grant_refusals
from authority.inprocess.tables import Head, KeptCapability, KeptKey, KeptPrincipal, Tables

_STANDING = COMMITTABLE | {ProposalState.COMMITTED}


@dataclass(frozen=True, slots=True)
class _Facts:
    """The stored rows that a plan names; absent ones are None."""

    head: Head | None
    proposal: StoredProposal | None
    capability: KeptCapability | None
    validation: SignedValidation | None
    decision: SignedDecision | None
    active_policy: bytes | None
    holder: KeptPrincipal | None
    holder_key: KeptKey | None


def live_refusals(tables: Tables, plan: CommitPlan, now: Instant) -> Iterator[Refusal | None]:
    """Everything that the stored state has against the plan; the highest of them answers."""
    terms = plan.capability.terms
    facts = _facts(tables, terms)
    yield _judge_keys(tables, terms.tenant, facts, plan.capability.statement)
    yield _judge_bindings(terms, facts)
    if terms.grant_digest:
        yield from grant_refusals(tables, terms.tenant, terms.grant_digest, now)
    yield from _judge_what_allowed_it(tables, terms, facts, now)
    if facts.head and facts.head.receipt_id:
        yield Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": facts.head.receipt_id})
    yield _judge_presence(plan, facts)


def decision_refusals(
    tables: Tables, decision: SignedDecision, proposal: StoredProposal, now: Instant
) -> Iterator[Refusal | None]:
    """Of all that, what does not depend on the capability, for one that would rest on this decision."""
    terms = _terms_resting_on(decision, proposal)
    facts = replace(_facts(tables, terms), capability=None, holder_key=None)
    yield _judge_keys(tables, terms.tenant, facts)
    yield from _judge_what_allowed_it(tables, terms, facts, now)


def is_revoked(tables: Tables, key_id: str) -> bool:
    """Whether the issuer key was withdrawn."""
    key = tables.issuer_keys.get(key_id)
    return key is not None and key.state is KeyState.REVOKED


def _judge_what_allowed_it(
    tables: Tables, terms: CommitCapability, facts: _Facts, now: Instant
) -> Iterator[Refusal | None]:
    """Policy, time, withdrawals, the revision, and the persons who approved it."""
    yield from _judge_policy(terms, facts)
    yield from _judge_times(facts, now)
    yield _judge_withdrawals(tables, terms, facts)
    yield from _judge_revision(terms, facts)
    yield _judge_superseded(tables, terms, facts)
    yield _judge_approvals(tables, terms, facts, now)


def _facts(tables: Tables, terms: CommitCapability) -> _Facts:
    tenant = terms.tenant
    revision = (tenant, terms.proposal_id, terms.proposal_revision)
    validation = tables.validations.get((tenant, terms.validation_receipt_digest))
    decision = tables.decisions.get((tenant, terms.decision_receipt_digest))
    namespace = tables.namespaces.get((tenant, terms.memory_namespace))
    holder_key = tables.keys.get((tenant, f"sha256:{terms.holder_key.hex()}"))
    return _Facts(
        head=tables.heads.get(revision[:2]),
        proposal=tables.revisions.get(revision),
        capability=tables.capabilities.get((tenant, terms.capability_id)),
        validation=validation if validation and _is_of_revision(validation, terms) else None,
        decision=decision if decision and _is_of_claim(decision, terms) else None,
        active_policy=namespace.policy_version if namespace else None,
        holder=tables.principals.get((tenant, terms.holder)),
        holder_key=holder_key if holder_key and holder_key.owner == terms.holder else None,
    )


def _terms_resting_on(decision: SignedDecision, proposal: StoredProposal) -> CommitCapability:
    """What a capability would bind that is issued on the decision, without what is a capability's own."""
    receipt, revision = decision.receipt, proposal.revision
    return CommitCapability(
        capability_id="",
        issuer=receipt.issuer,
        audience="",
        tenant=receipt.tenant,
        memory_namespace=receipt.memory_namespace,
        subject=revision.proposer,
        holder=receipt.holder,
        holder_key=b"",
        action=receipt.action,
        proposal_id=receipt.proposal_id,
        proposal_revision=receipt.proposal_revision,
        proposal_digest=receipt.proposal_digest,
        content_digest=revision.content_digest,
        media_type=revision.media_type,
        evidence_digests=revision.evidence_digests,
        validator_profile=revision.validator_profile,
        validator_profile_version="",
        validation_receipt_digest=receipt.validation_receipt_digest,
        policy_version=receipt.policy_version,
        decision_receipt_digest=decision.digest,
        approval_reference="",
        commit_idempotency_key="",
        not_before_time=receipt.decide_time,
        expire_time=receipt.expire_time,
        max_uses=1,
        correlation_id=receipt.correlation_id,
        grant_digest=b"",
    )


def _is_of_revision(validation: SignedValidation, terms: CommitCapability) -> bool:
    receipt = validation.receipt
    return (receipt.proposal_id, receipt.proposal_revision) == (terms.proposal_id, terms.proposal_revision)


def _is_of_claim(decision: SignedDecision, terms: CommitCapability) -> bool:
    receipt = decision.receipt
    decided = (receipt.proposal_id, receipt.proposal_revision, receipt.holder, receipt.validation_receipt_digest)
    return decided == (terms.proposal_id, terms.proposal_revision, terms.holder, terms.validation_receipt_digest)


def _judge_keys(tables: Tables, tenant: TenantRef, facts: _Facts, *capability: Statement) -> Refusal | None:
    statements = [*capability, *(signed.statement for signed in (facts.validation, facts.decision) if signed)]
    holder_key_revoked = facts.holder_key is not None and not facts.holder_key.is_active
    revoked = holder_key_revoked or any(is_revoked(tables, statement.key_id) for statement in statements)
    externals = facts.decision.external_key_ids if facts.decision else ()
    revoked = revoked or any(_is_external_revoked(tables, tenant, it) for it in externals)
    return Refusal(Reason.KEY_REVOKED) if revoked else None


def _is_external_revoked(tables: Tables, tenant: TenantRef, key_id: str) -> bool:
    found = (it.key(key_id) for it in tables.externals_of(tenant))
    return any(key is not None and not key.is_active for key in found)


def _judge_bindings(terms: CommitCapability, facts: _Facts) -> Refusal | None:
    if facts.proposal is None:
        return None
    revision, validation, decision = facts.proposal.revision, facts.validation, facts.decision
    stored: list[tuple[str, object]] = [
        ("memory_namespace", revision.memory_namespace),
        ("proposal_digest", facts.proposal.digest),
        ("content_digest", revision.content_digest),
        ("validation_receipt_digest", validation and validation.digest),
    ]
    if validation:
        stored.append(("validator_profile", validation.receipt.validator_profile))
        stored.append(("validator_profile_version", validation.receipt.validator_profile_version))
    agreeing = decision is not None and decision.receipt.policy_version == terms.policy_version
    stored.append(("decision_receipt_digest", terms.decision_receipt_digest if agreeing else None))
    return next((binding_mismatch(term) for term, value in stored if getattr(terms, term) != value), None)


def _judge_policy(terms: CommitCapability, facts: _Facts) -> Iterator[Refusal]:
    if facts.active_policy not in (None, terms.policy_version):
        yield Refusal(Reason.POLICY_DENIED)
    outcome = facts.decision and facts.decision.receipt.outcome
    if outcome is DecisionOutcome.DENY:
        yield Refusal(Reason.POLICY_DENIED)
    if outcome is DecisionOutcome.REQUIRE_APPROVAL:
        yield Refusal(Reason.APPROVAL_REQUIRED)


def _judge_times(facts: _Facts, now: Instant) -> Iterator[Refusal | None]:
    capability = facts.capability
    if capability:
        time = judge_time(capability.opened.terms, now)
        yield Refusal(time.reason) if time else None
    if facts.head and facts.proposal and facts.head.revision == facts.proposal.revision.revision:
        now_stands = state_at(facts.head.state, facts.proposal.revision.expire_time, now)
        if now_stands is ProposalState.EXPIRED:
            yield Refusal(Reason.EXPIRED)
    ends = [signed.receipt.expire_time for signed in (facts.validation, facts.decision) if signed]
    if any(end <= now for end in ends) or (capability and capability.state == "expired"):
        yield Refusal(Reason.EXPIRED)


def _judge_withdrawals(tables: Tables, terms: CommitCapability, facts: _Facts) -> Refusal | None:
    content = (terms.tenant, terms.memory_namespace, terms.content_digest)
    outlived = facts.decision and tables.buried_after(content, facts.decision.receipt.sequence)
    holder_revoked = facts.holder is not None and not facts.holder.is_active
    revoked = facts.capability is not None and facts.capability.state == "revoked"
    return Refusal(Reason.REVOKED) if outlived or holder_revoked or revoked else None


def _judge_revision(terms: CommitCapability, facts: _Facts) -> Iterator[Refusal]:
    head = facts.head
    if head and (head.revision != terms.proposal_revision or head.state not in _STANDING):
        yield Refusal(Reason.NOT_VALIDATED)
    if facts.validation and facts.validation.receipt.outcome is ValidationOutcome.FAIL:
        yield Refusal(Reason.NOT_VALIDATED)


def _judge_superseded(tables: Tables, terms: CommitCapability, facts: _Facts) -> Refusal | None:
    """What is corrected is still there to be: nobody withdrew it, and no other correction was committed."""
    if facts.head is None or facts.head.receipt_id or not facts.head.supersedes_record_id:
        return None
    kept = tables.records.get((terms.tenant, facts.head.supersedes_record_id))
    if kept is None or kept.record.memory_namespace != terms.memory_namespace:
        return Refusal(Reason.NOT_FOUND)
    if tables.withdrawal_of(kept):
        return Refusal(Reason.REVOKED)
    return Refusal(Reason.NOT_VALIDATED) if kept.superseded_by else None


def _judge_approvals(tables: Tables, terms: CommitCapability, facts: _Facts, now: Instant) -> Refusal | None:
    """Every approval that the decision names still counts; or nobody took back what policy allowed by itself."""
    named = {*(facts.decision.receipt.approval_references if facts.decision else ()), terms.approval_reference} - {""}
    decided = tables.approvals_of(terms.tenant, terms.proposal_id, terms.proposal_revision)
    if not named:
        sequence = facts.decision.receipt.sequence if facts.decision else 0
        taken_back = any(
            it.verdict is ApprovalVerdict.REVOKE and tables.approval_sequences[it.reference] > sequence
            for it in decided
        )
        return Refusal(Reason.APPROVAL_REQUIRED) if taken_back else None
    if facts.proposal is None:
        return Refusal(Reason.APPROVAL_REQUIRED)
    electorate = Electorate(
        deciders=tables.deciders_of(terms.tenant, terms.proposal_id, terms.proposal_revision),
        interested=interested(facts.proposal.revision),
        validation_digest=terms.validation_receipt_digest,
        holder=terms.holder,
        now=now,
    )
    # One that is used up counts on where a use of it was spent.
    standing = electorate.standing([replace(it, is_used_up=False) for it in decided if _counts_in(it, named)])
    return None if {it.reference for it in standing} == named else Refusal(Reason.APPROVAL_REQUIRED)


def _counts_in(approval: Approval, named: set[str]) -> bool:
    """Whether it matters for the named ones: it is one of them, or against."""
    return approval.reference in named or approval.verdict.is_against


def _judge_presence(plan: CommitPlan, facts: _Facts) -> Refusal | None:
    named = (facts.proposal, facts.capability, facts.holder, facts.holder_key, facts.active_policy)
    is_there = None not in named and facts.capability is not None
    is_same = facts.capability is not None and facts.capability.opened.digest == plan.capability.digest
    return None if is_there and is_same else Refusal(Reason.NOT_FOUND)
