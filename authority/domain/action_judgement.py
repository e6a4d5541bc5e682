"""Judges what the ids of an upstream envelope stand for: on the side of policy, and on that of the capability.

The envelope itself - its signature, its time, that it passes once - is for whoever verifies it. `signer` is whose key
that was; None when it is nobody's here, which holds no capability and no grant.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from authority.domain.action_envelope import ActionEnvelope
from authority.domain.capability import CommitCapability, OpenedCapability
from authority.domain.decision import COMMIT_ACTION, SignedDecision
from authority.domain.grant import GrantAction, OpenedGrant
from authority.domain.grant_use import GrantUse, judge_holder, judge_use
from authority.domain.identity import Principal, Right
from authority.domain.key_alias import NamedKey
from authority.domain.policy_version import PolicyVersion
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal, binding_mismatch, highest
from authority.domain.verify import judge_time

ABSENT_POLICY: Final = Refusal(Reason.NOT_FOUND, {"field": "policyReceiptId"})
ABSENT_CAPABILITY: Final = Refusal(Reason.NOT_FOUND, {"field": "capabilityId"})
"""Of another tenant's, too (case G02)."""
UNKNOWN_ACTION: Final = Refusal(Reason.NOT_ALLOWED, {"field": "action"})
"""Outside the closed vocabulary."""

_OF_STATE: Final = {"expired": Reason.EXPIRED, "revoked": Reason.REVOKED}
_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class DecisionStanding:
    """A kept decision, and what the stored state has against a commit that rests on it, whichever it is."""

    decision: SignedDecision
    content_digest: bytes
    """Of the revision that was decided on."""
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class CapabilityStanding:
    """A kept capability, and what the stored state has against it, its holder and its grant."""

    capability: OpenedCapability
    fingerprint: bytes
    receipt_id: str
    """Of the commit of what it was issued for, by itself or by another capability; else empty."""
    refusal: Refusal | None


def judge_state(state: str) -> Refusal | None:
    """EXPIRED or REVOKED for a kept capability that was marked so; None for one that is issued or consumed."""
    return Refusal(_OF_STATE[state]) if state in _OF_STATE else None


def named_digest(text: str) -> bytes | None:
    """The digest that an id stands for; None for one that is none."""
    found = _DIGEST.fullmatch(text)
    return bytes.fromhex(found.group(1)) if found else None


def judge_decision(
    envelope: ActionEnvelope, standing: DecisionStanding, signature: Refusal | None, signer: NamedKey | None
) -> Refusal | None:
    """What stands against committing by this decision; `signature` is what the key set says of its statement.

    HOLDER_MISMATCH, BINDING_MISMATCH `term`, and all that a commit would be refused for.
    """
    receipt = standing.decision.receipt
    decided: Mapping[str, object] = {
        "memory_namespace": (receipt.memory_namespace,),
        "content_digest": standing.content_digest,
        "validation_receipt_digest": receipt.validation_receipt_digest,
    }
    said: Mapping[str, object] = {
        "memory_namespace": envelope.resource_refs,
        "content_digest": named_digest(envelope.content_digest),
        "validation_receipt_digest": named_digest(envelope.validation_receipt_id),
    }
    is_holders = signer is not None and signer.principal.ref == receipt.holder
    return highest(
        (
            None if is_holders else Refusal(Reason.HOLDER_MISMATCH),
            signature,
            _first_mismatch(decided, said),
            standing.refusal,
        )
    )


def judge_capability(
    envelope: ActionEnvelope,
    standing: CapabilityStanding,
    signature: Refusal | None,
    signer: NamedKey | None,
    now: Instant,
) -> Refusal | None:
    """What stands against the capability.

    HOLDER_MISMATCH unless an active key of its holder signed the envelope, BINDING_MISMATCH `term`, its time, and what
    became of it.
    """
    terms = standing.capability.terms
    is_holders = signer is not None and signer.principal.ref == terms.holder
    return highest(
        (
            None if is_holders else Refusal(Reason.HOLDER_MISMATCH),
            signature,
            _first_mismatch(_bound(terms, standing.fingerprint), _said(envelope)),
            judge_time(terms, now),
            standing.refusal,
        )
    )


def judge_policy_version(envelope: ActionEnvelope, policy: PolicyVersion) -> Refusal | None:
    """POLICY_DENIED unless the policy decides now where the action takes place.

    That is in every memory namespace that a recall or a proposal names, and for other actions in any of the tenant.
    """
    wanted = set(envelope.resource_refs) if envelope.action in _IN_NAMESPACES else set()
    decides = wanted <= set(policy.active_in) if wanted else bool(policy.active_in)
    return None if decides else Refusal(Reason.POLICY_DENIED, {"field": "policyReceiptId"})


def judge_grant(
    envelope: ActionEnvelope, chain: Sequence[OpenedGrant], subject: Principal, signer: NamedKey | None, now: Instant
) -> Refusal | None:
    """What stands against doing this under a grant whose chain holds, in the name of its subject.

    HOLDER_MISMATCH unless the key that the grant binds signed the envelope, BINDING_MISMATCH `policy_version`,
    NOT_ALLOWED for what the subject itself may not do, GRANT_EXCEEDED with the `dimension`, its time.
    """
    terms = chain[-1].terms
    is_same_policy = named_digest(envelope.policy_receipt_id) == terms.policy_version
    right = _RIGHTS.get(envelope.action)
    is_able = right is None or subject.may(right)
    return highest(
        (
            Refusal(Reason.HOLDER_MISMATCH)
            if signer is None
            else judge_holder(terms, terms.tenant, signer.principal.ref, named_digest(signer.key_id)),
            None if is_same_policy else binding_mismatch("policy_version"),
            None if is_able else Refusal(Reason.NOT_ALLOWED, {"right": right.value if right else ""}),
            *(judge_use(chain, use, now) for use in uses_of(envelope)),
        )
    )


def uses_of(envelope: ActionEnvelope) -> tuple[GrantUse, ...]:
    """What the action needs of a grant: one use for each resource, as the authority's own RPCs would ask for it.

    A recall reads, and a proposal writes, the memory namespaces that are named; evidence is named by `evidence/` and
    its digest; what else is named is a resource.
    """
    return tuple(_USES.get(envelope.action, _of_resource)(envelope, resource) for resource in envelope.resource_refs)


def _bound(terms: CommitCapability, fingerprint: bytes) -> Mapping[str, object]:
    return {
        "audience": terms.audience,
        "memory_namespace": (terms.memory_namespace,),
        "content_digest": terms.content_digest,
        "validation_receipt_digest": terms.validation_receipt_digest,
        "decision_receipt_digest": terms.decision_receipt_digest,
        "commit_idempotency_key": terms.commit_idempotency_key,
        "request_fingerprint": fingerprint,
    }


def _said(envelope: ActionEnvelope) -> Mapping[str, object]:
    return {
        "audience": envelope.audience,
        "memory_namespace": envelope.resource_refs,
        "content_digest": named_digest(envelope.content_digest),
        "validation_receipt_digest": named_digest(envelope.validation_receipt_id),
        "decision_receipt_digest": named_digest(envelope.policy_receipt_id),
        "commit_idempotency_key": envelope.idempotency_key,
        "request_fingerprint": named_digest(envelope.request_digest),
    }


def _first_mismatch(bound: Mapping[str, object], said: Mapping[str, object]) -> Refusal | None:
    return next((binding_mismatch(term) for term, value in bound.items() if said[term] != value), None)


def _of_recall(envelope: ActionEnvelope, resource: str) -> GrantUse:
    return GrantUse(action=envelope.action, audience=envelope.audience, read_memory_namespace=resource)


def _of_proposal(envelope: ActionEnvelope, resource: str) -> GrantUse:
    return GrantUse(action=envelope.action, audience=envelope.audience, write_memory_namespace=resource)


def _of_resource(envelope: ActionEnvelope, resource: str) -> GrantUse:
    return GrantUse(action=envelope.action, audience=envelope.audience, resource=resource)


_USES: Final[Mapping[str, Callable[[ActionEnvelope, str], GrantUse]]] = {
    GrantAction.MEMORY_RECALL.value: _of_recall,
    GrantAction.MEMORY_PROPOSE.value: _of_proposal,
}
_IN_NAMESPACES: Final = frozenset(_USES)
_RIGHTS: Final[Mapping[str, Right]] = {
    GrantAction.MEMORY_RECALL.value: Right.READ,
    GrantAction.EVIDENCE_READ.value: Right.READ,
    GrantAction.MEMORY_PROPOSE.value: Right.PROPOSE,
}
"""What the subject itself must be able to do; recommending and judging need no right of ours."""
UNDER_GRANTS: Final = frozenset(action.value for action in GrantAction) - {COMMIT_ACTION}
"""The actions whose `capabilityId` names a grant."""
