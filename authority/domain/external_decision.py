"""What decisions of external authorities are worth here (semantics §7): they are bound like ours, and only narrow.

An external authority signs a decision receipt with a key that an operator configured. It counts when it is about
exactly this commit: tenant, memory namespace, holder, action, revision, proposal digest and validation digest. Its
policy version, sequence and approvals are its own affair.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from authority.domain import limits
from authority.domain.decision import (
    COMMIT_ACTION,
    DecisionFacts,
    DecisionOutcome,
    DecisionReceipt,
    PolicyAnswer,
    SignedDecision,
)
from authority.domain.external_authority import ExternalAuthority, ExternalKey
from authority.domain.identity import Principal
from authority.domain.reasons import Reason
from authority.domain.references import Instant, after
from authority.domain.refusal import Refusal, binding_mismatch, highest
from authority.domain.statement import Statement
from authority.domain.validation import SignedValidation

IsSignedBy = Callable[[Statement, bytes], bool]
"""Whether exactly this public key signed the statement."""

_STRICTNESS = (DecisionOutcome.ALLOW, DecisionOutcome.REQUIRE_APPROVAL, DecisionOutcome.DENY)


@dataclass(frozen=True, slots=True)
class Hearing:
    """What is asked of external authorities: whether the holder may commit the revision, as far as they have a say."""

    facts: DecisionFacts
    validation: SignedValidation
    holder: Principal
    is_signed_by: IsSignedBy
    now: Instant

    def hear(self, presented: Sequence[SignedDecision]) -> tuple[SignedDecision, ...] | Refusal:
        """The decisions, when every one of them counts, and none is missing that is required.

        Refusals, the highest: SIGNATURE_INVALID; ISSUER_UNKNOWN for an authority or a key that has no say there;
        KEY_REVOKED; BINDING_MISMATCH with the term; POLICY_DENIED naming the external authority that is missing;
        NOT_YET_VALID; EXPIRED.
        """
        heard = {decision.receipt.issuer for decision in presented}
        refusal = highest((*(self._judge(decision) for decision in presented), self._missing(heard)))
        return refusal or tuple(presented)

    def _missing(self, heard: set[str]) -> Refusal | None:
        required = (it for it in self.facts.externals if it.required and it.has_a_say_in(self.facts.namespace.name))
        missing = next((it.issuer for it in required if it.issuer not in heard), None)
        return None if missing is None else Refusal(Reason.POLICY_DENIED, {"external_authority": missing})

    def _judge(self, presented: SignedDecision) -> Refusal | None:
        receipt, statement = presented.receipt, presented.statement
        external = next((it for it in self.facts.externals if it.issuer == receipt.issuer), None)
        key = self._key(external, statement)
        if key is None:
            return Refusal(Reason.ISSUER_UNKNOWN, {"external_authority": receipt.issuer})
        if not self.is_signed_by(statement, key.public_key):
            return Refusal(Reason.SIGNATURE_INVALID, {"external_authority": receipt.issuer})
        if not key.is_active:
            return Refusal(Reason.KEY_REVOKED, {"external_authority": receipt.issuer})
        return self._judge_terms(receipt)

    def _key(self, external: ExternalAuthority | None, statement: Statement) -> ExternalKey | None:
        if external is None or not external.has_a_say_in(self.facts.namespace.name):
            return None
        return external.key(statement.key_id)

    def _judge_terms(self, receipt: DecisionReceipt) -> Refusal | None:
        revision = self.facts.proposal.revision
        terms = (
            ("tenant", receipt.tenant, revision.tenant),
            ("memory_namespace", receipt.memory_namespace, revision.memory_namespace),
            ("holder", receipt.holder, self.holder.ref),
            ("action", receipt.action, COMMIT_ACTION),
            ("proposal_id", receipt.proposal_id, revision.proposal_id),
            ("proposal_revision", receipt.proposal_revision, revision.revision),
            ("proposal_digest", receipt.proposal_digest, self.facts.proposal.digest),
            ("validation_receipt_digest", receipt.validation_receipt_digest, self.validation.digest),
        )
        differing = next((name for name, said, bound in terms if said != bound), None)
        if differing:
            return binding_mismatch(differing)
        if receipt.decide_time > after(self.now, limits.NOT_BEFORE_SKEW_MS):
            return Refusal(Reason.NOT_YET_VALID, {"not_before_time_ms": str(receipt.decide_time)})
        expired = receipt.expire_time <= self.now
        return Refusal(Reason.EXPIRED, {"field": "external_decisions"}) if expired else None


def joined(answer: PolicyAnswer, heard: Sequence[SignedDecision], *, approved: bool = False) -> PolicyAnswer:
    """Our answer and theirs: deny of either wins, an approval that either asks for is asked for, once it is not given.

    Theirs are named among what determined it, as `external:<issuer>:<decision id>`, whatever they said.
    """
    outcomes = [decision.receipt.outcome for decision in heard]
    if approved:
        outcomes = [outcome for outcome in outcomes if outcome is not DecisionOutcome.REQUIRE_APPROVAL]
    outcome = max((answer.outcome, *outcomes), key=_STRICTNESS.index)
    asking = [it.receipt for it in heard if it.receipt.outcome is DecisionOutcome.REQUIRE_APPROVAL]
    persons = max((answer.persons_needed, *(max(1, receipt.persons_needed) for receipt in asking)))
    return replace(
        answer,
        outcome=outcome,
        determining_policies=(*answer.determining_policies, *sorted(map(external_name, heard))),
        persons_needed=persons if outcome is DecisionOutcome.REQUIRE_APPROVAL else answer.persons_needed,
    )


def external_name(decision: SignedDecision) -> str:
    """By which name our receipt refers to an external decision."""
    return f"external:{decision.receipt.issuer}:{decision.receipt.decision_id}"
