"""The story that the demo ends with: who may do what, in five acts on one memory namespace.

An agent proposes by a grant that was handed to it, a poisoned proposal is caught, a contradiction waits for a person,
the person approves, and what is revoked is recalled no more. Each act says what came of it, and what should have.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from authority.cli.demo.exchange import Firm
from authority.embedded.demo.poisoned import poisoned_contents
from authority.signing.delegation import GrantExceeded, Narrower
from capability_authority.client import (
    AuthorityError,
    Committed,
    GrantTerms,
    HeldGrant,
    Proposal,
    Validation,
    grant_terms,
)

FIRM: Final = "lantern-software"
NAMESPACE: Final = "engineering/learned"
"""A memory namespace of the firm whose proposals all guarding validators judge."""
_ELSEWHERE: Final = "engineering/facts"
_POISON: Final = "override-and-secrecy"
_QUERY: Final = "integration retries"
_LIFETIME: Final = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Act:
    """What came of one act. `expected` is what must."""

    name: str
    expected: str
    came_out: str

    @property
    def ok(self) -> bool:
        """Whether it came out as it must."""
        return self.came_out == self.expected


async def tell_story(firm: Firm) -> list[Act]:
    """Plays all acts, one after the other. Raises AuthorityError for what no act expects."""
    story = _Story(firm)
    acts: tuple[tuple[str, str, Callable[[], Awaitable[str]]], ...] = (
        (
            "a delegated agent proposes",
            "committed for user, by user > agent; a wider grant: GRANT_EXCEEDED; elsewhere: GRANT_EXCEEDED",
            story.delegated_agent_proposes,
        ),
        ("a poisoned proposal is caught", "refused by prompt_injection; no capability: NOT_VALIDATED", story.poison),
        (
            "a contradiction goes to review",
            "review by contradiction; policy: require_approval; in the queue",
            story.contradiction,
        ),
        ("a person approves", "its proposer: NOT_ALLOWED; an admin: approved, committed, recalled", story.approval),
        ("a revoked record disappears", "recalled before: yes, after: no; its receipt verifies", story.revocation),
    )
    return [Act(name, expected, await play()) for name, expected, play in acts]


@dataclass(slots=True)
class _Story:
    firm: Firm
    _grant: HeldGrant | None = None
    _disputed: tuple[Proposal, Validation] | None = None
    """As it was judged: an approval is of exactly this."""
    _receipts: dict[str, Committed] = field(default_factory=dict)

    async def delegated_agent_proposes(self) -> str:
        """The admin lets the user act, and the user hands some of that on to the agent, without asking anybody."""
        user, agent = self.firm.members["user"], self.firm.members["agent"]
        root = await self.firm.members["admin"].issue_grant(
            _terms(user.credentials.audience),
            subject=user.credentials.principal,
            holder=user.credentials.principal,
            holder_key_id=user.credentials.key_id,
        )
        self._grant = self._handed_on(root, Narrower(uses=10))
        proposal = await self._propose("Flaky integration tests pass on the second run: set retries to 2.", 2)
        self._receipts["first"] = await self._commit(proposal, await agent.validate(proposal))
        actors = " > ".join(actor.id for actor in proposal.message.actor_chain)
        wider = _exceeded(lambda: self._handed_on(root, Narrower(write_memory_namespaces=["engineering/*"])))
        elsewhere = await _refused(
            agent.propose(
                memory_namespace=_ELSEWHERE, memory_type="snapshot", content="Not allowed here.", grant=self._grant
            )
        )
        return (
            f"committed for {proposal.message.subject.id}, by {actors}; a wider grant: {wider}; elsewhere: {elsewhere}"
        )

    async def poison(self) -> str:
        """Content that would give orders to whoever recalls it."""
        agent = self.firm.members["agent"]
        poison = next(poisoned for poisoned in poisoned_contents() if poisoned.name == _POISON)
        proposal = await agent.propose(
            memory_namespace=NAMESPACE,
            memory_type="snapshot",
            content=poison.content,
            media_type=poison.media_type,
        )
        validation = await agent.validate(proposal)
        failing = [finding.validator for finding in validation.findings if finding.outcome == "fail"]
        decision = await _refused(self.firm.service.evaluate_policy(proposal))
        return f"refused by {', '.join(failing)}; no capability: {decision}"

    async def contradiction(self) -> str:
        """The same subject and predicate, and another value: neither is believed before a person looked."""
        disputed = await self._propose("Retries hide races in integration tests: set retries to 0.", 0)
        validation = await self.firm.members["agent"].validate(disputed)
        self._disputed = disputed, validation
        doubting = [finding.validator for finding in validation.findings if finding.outcome == "review"]
        decision = await self.firm.service.evaluate_policy(disputed)
        queue = [
            review.proposal.proposal_id
            async for review in self.firm.members["admin"].list_reviews(memory_namespace=NAMESPACE)
        ]
        queued = "in the queue" if disputed.proposal_id in queue else "NOT in the queue"
        return f"{validation.outcome} by {', '.join(doubting)}; policy: {decision.outcome}; {queued}"

    async def approval(self) -> str:
        """Not by the user, in whose name it was proposed; by the admin."""
        disputed, validation = _there(self._disputed)
        own = await _refused(self.firm.members["user"].decide(disputed, "approve"))
        review = await self.firm.members["admin"].decide(disputed, "approve", note="Read, and found to be right.")
        self._receipts["disputed"] = await self._commit(disputed, validation)
        recalled = "recalled" if await self._recalls("disputed") else "NOT recalled"
        return f"its proposer: {own}; an admin: {review.state}, committed, {recalled}"

    async def revocation(self) -> str:
        """What it says is taken back; that it was once committed stays provable."""
        before = await self._recalls("first")
        committed = self._receipts["first"]
        await self.firm.members["admin"].revoke_record(committed.record_id, note="Contradicted, and taken back.")
        after = await self._recalls("first")
        proof = await self.firm.service.verify_receipt(committed.receipt.statement)
        verifies = "verifies" if proof.record_id == committed.record_id else "does NOT verify"
        return f"recalled before: {_yes(before)}, after: {_yes(after)}; its receipt {verifies}"

    def _handed_on(self, root: HeldGrant, narrower: Narrower) -> HeldGrant:
        user, agent = self.firm.members["user"], self.firm.members["agent"]
        return root.delegate(
            user.credentials,
            holder=agent.credentials.principal,
            bound_to=agent.credentials.signing_key.public_key,
            narrower=narrower,
        )

    async def _propose(self, why: str, retries: int) -> Proposal:
        return await self.firm.members["agent"].propose(
            memory_namespace=NAMESPACE,
            memory_type="snapshot",
            content={"predicate": "retries", "subject": "integration tests", "value": retries, "why": why},
            source_refs=["run:ci/4411"],
            record_expire_time=datetime.now(UTC) + _LIFETIME,
            grant=self._grant,
        )

    async def _commit(self, proposal: Proposal, validation: Validation) -> Committed:
        service = self.firm.service
        decision = await service.evaluate_policy(proposal)
        capability = await service.issue(
            proposal, validation_receipt=validation.receipt, decision_receipt=decision.receipt
        )
        return await service.commit(capability, content=proposal.content)

    async def _recalls(self, name: str) -> bool:
        """Whether the agent is told of the record when it asks."""
        hits = self.firm.members["agent"].recall(_QUERY, memory_namespace=NAMESPACE)
        return self._receipts[name].record_id in [hit.record.record_id async for hit in hits]


def _terms(audience: str) -> GrantTerms:
    """Proposing to one memory namespace, and nothing else."""
    return grant_terms(
        audiences=[audience],
        actions=["memory.propose"],
        resources=[],
        read_memory_namespaces=[],
        write_memory_namespaces=[NAMESPACE],
        tools=[],
        providers=[],
        models=[],
        usd_micros=0,
        tokens=0,
        latency_ms=0,
        concurrency=1,
        uses=20,
        network=False,
        destructive=False,
        delegation_depth=1,
    )


async def _refused(call: Awaitable[object]) -> str:
    """The reason that a call is refused for."""
    try:
        await call
    except AuthorityError as error:
        if not error.reason:
            raise
        return error.reason
    return "NOT refused"


def _exceeded(make: Callable[[], object]) -> str:
    """Whether a child that would be wider cannot even be made."""
    try:
        make()
    except GrantExceeded:
        return "GRANT_EXCEEDED"
    return "made"


def _there(disputed: tuple[Proposal, Validation] | None) -> tuple[Proposal, Validation]:
    if disputed is None:
        raise ValueError("the act before this one made it")
    return disputed


def _yes(holds: bool) -> str:  # noqa: FBT001 - the value itself
    return "yes" if holds else "no"
