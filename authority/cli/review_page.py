"""How proposals that wait are shown, for people and for machines."""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from authority.cli.arguments import iso, short_time
from authority.cli.output import Json, printable
from authority.domain.decision import AUTO_APPROVED
from authority.domain.references import Instant
from capability_authority.client import AwaitedReview, Finding, Proposal

Message: TypeAlias = Any
"""A message of the contract: its class is the client's, and this room does not see it."""
_SHOWN_CHARACTERS: Final = 600
_VERDICTS: Final = {1: "approved", 2: "rejected", 3: "changes requested", 4: "taken back", 5: "adopted"}
_KINDS: Final = {1: "user", 2: "admin", 3: AUTO_APPROVED}


def awaited_rows(awaited: AwaitedReview) -> list[str]:
    """A line of the queue."""
    message = awaited.proposal.message
    counts = f"{awaited.persons_approving} of {awaited.persons_needed}"
    why = "; ".join(_why(awaited))
    return [message.proposal_id, awaited.proposal.memory_type, _name(message.proposer), counts, why]


def awaited_document(awaited: AwaitedReview) -> dict[str, Json]:
    """The same, whole."""
    return proposal_document(awaited.proposal) | {
        "findings": [_finding(it) for it in awaited.findings],
        "asking_policies": list(awaited.asking_policies),
        "persons_needed": awaited.persons_needed,
        "persons_approving": awaited.persons_approving,
    }


def proposal_rows(proposal: Proposal) -> Iterator[tuple[str, str]]:
    """What a person looks at before deciding."""
    message = proposal.message
    yield ("proposal", f"{proposal.proposal_id}, revision {proposal.revision}, {proposal.state}")
    yield ("says", _shown(message.content))
    yield ("is", f"{proposal.memory_type}, {proposal.provenance}, in {proposal.memory_namespace}")
    yield ("by", _name(message.proposer))
    if message.HasField("subject"):
        yield "through", ", ".join(map(_name, message.actor_chain))
        yield "in name of", f"{_name(message.subject)}, the subject of a grant"
    if message.source_refs:
        yield "from", printable(", ".join(message.source_refs))
    if message.subject_refs:
        yield "about", printable(", ".join(message.subject_refs))
    yield ("digest", message.proposal_digest)


def proposal_document(proposal: Proposal) -> dict[str, Json]:
    """The same for machines."""
    message = proposal.message
    return {
        "proposal_id": proposal.proposal_id,
        "revision": proposal.revision,
        "state": proposal.state,
        "memory_namespace": proposal.memory_namespace,
        "memory_type": proposal.memory_type,
        "provenance": proposal.provenance,
        "proposer": _name(message.proposer),
        "actor_chain": [_name(it) for it in message.actor_chain],
        "subject": _name(message.subject) if message.HasField("subject") else None,
        "proposal_digest": message.proposal_digest,
        "content_digest": message.content_digest,
        "content": message.content.decode("utf-8", errors="replace") if message.content else None,
        "decisions": [_decision(it) for it in proposal.decisions],
    }


def decided_rows(decision: Message) -> list[str]:
    """A line of what was decided."""
    is_policy = not decision.HasField("decided_by")
    what = f"allowed ({AUTO_APPROVED})" if is_policy else _VERDICTS.get(decision.verdict, str(decision.verdict))
    by = ", ".join(decision.determining_policies) if is_policy else _name(decision.decided_by)
    return [what, by, short_time(_instant(decision.decide_time)), " ".join(decision.note.split())]


def _decision(decision: Message) -> dict[str, Json]:
    return {
        "approval_reference": decision.approval_reference,
        "verdict": _VERDICTS.get(decision.verdict),
        "decided_by_kind": _KINDS.get(decision.decided_by_kind),
        "decided_by": _name(decision.decided_by) if decision.HasField("decided_by") else None,
        "note": decision.note,
        "decide_time": iso(_instant(decision.decide_time)),
        "expire_time": iso(_instant(decision.expire_time)),
        "holder": _name(decision.holder) if decision.HasField("holder") else None,
        "max_uses": decision.max_uses or None,
        "policies": list(decision.determining_policies),
        "policy_version": decision.policy_version or None,
    }


def _why(awaited: AwaitedReview) -> Iterator[str]:
    yield from (f"{it.validator}: {it.reason}" for it in awaited.findings)
    if awaited.asking_policies:
        yield f"asked by {', '.join(awaited.asking_policies)}"


def _finding(finding: Finding) -> dict[str, Json]:
    return {"validator": finding.validator, "reason": finding.reason, "confidence": finding.confidence}


def _shown(content: bytes) -> str:
    text = content.decode("utf-8", errors="replace")
    return printable(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")


def _name(ref: Message) -> str:
    return f"{ref.namespace}|{ref.id}"


def _instant(time: Message) -> Instant:
    return Instant(time.ToMilliseconds())
