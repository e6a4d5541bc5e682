"""What the members of a tenant do over the wire, each with the client of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

import pytest

from capability_authority.client import (
    AuthorityError,
    CapabilityAuthority,
    Committed,
    IssuedCapability,
    PolicyDecision,
    Proposal,
    RetryPolicy,
    Validation,
)
from capability_authority.client.content import Content
from tests.installation.installation import MEMBERS, NAMESPACE, Tenant

Answer = TypeVar("Answer")
Refusal = TypeVar("Refusal", bound=AuthorityError)

PATIENT = RetryPolicy(attempts=200, longest_delay=0.2)
"""Goes on for as long as the call's timeout allows."""
ONCE = RetryPolicy(attempts=1, attempt_share=1.0)
"""Shows the first answer, whatever it is."""
_NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class Ground:
    """A proposal that was validated and that policy lets a service commit."""

    proposal: Proposal
    validation: Validation
    decision: PolicyDecision


@dataclass(frozen=True, slots=True)
class Ready:
    """A capability, and all that its holder needs to commit with it."""

    ground: Ground
    capability: IssuedCapability
    content: bytes

    @property
    def key(self) -> str:
        """The commit idempotency key."""
        return self.capability.commit_idempotency_key


class Team:
    """The members of one tenant, connected to one process of the service."""

    def __init__(self, tenant: Tenant, clients: dict[str, CapabilityAuthority]) -> None:
        self.tenant = tenant
        self._clients = clients

    @property
    def user(self) -> CapabilityAuthority:
        """Proposes what policy allows without an approval."""
        return self._clients["user"]

    @property
    def agent(self) -> CapabilityAuthority:
        """Proposes what needs an approval."""
        return self._clients["agent"]

    @property
    def service(self) -> CapabilityAuthority:
        """Validates, asks policy, issues, holds and commits."""
        return self._clients["service"]

    @property
    def other_service(self) -> CapabilityAuthority:
        """Could do the same."""
        return self._clients["other-service"]

    @property
    def admin(self) -> CapabilityAuthority:
        """Approves."""
        return self._clients["admin"]

    async def ground(self, content: Content | None = None, **said: Any) -> Ground:
        """A proposal by the user, a new text unless given, on the way to its commit."""
        content = f"Fact {next(_NUMBERS)} was learned." if content is None else content
        given = {"memory_namespace": NAMESPACE, "memory_type": "durable_fact"} | said
        return await self.allowed(await self.user.propose(content=content, **given))

    async def allowed(self, proposal: Proposal) -> Ground:
        """Has it validated and decided on; approved where policy asks for it."""
        validation = await self.service.validate(proposal)
        decision = await self.service.evaluate_policy(proposal)
        if decision.outcome == "require_approval":
            await self.admin.decide(proposal, "approve")
            decision = await self.service.evaluate_policy(proposal)
        assert decision.outcome == "allow", decision
        return Ground(proposal, validation, decision)

    async def issue(self, ground: Ground, key: str | None = None, **given: Any) -> Ready:
        """A capability for the service."""
        capability = await self.service.issue(
            ground.proposal,
            validation_receipt=ground.validation.receipt,
            decision_receipt=ground.decision.receipt,
            commit_idempotency_key=key,
            **given,
        )
        return Ready(ground, capability, ground.proposal.content)

    async def ready(self, content: Content | None = None, *, key: str | None = None, **said: Any) -> Ready:
        """A capability for the service, on a new proposal."""
        return await self.issue(await self.ground(content, **said), key)

    async def commit(self, ready: Ready, **presented: Any) -> Committed:
        """Commits by the service; `presented` are what differs from what the capability binds."""
        return await self.service.commit(ready.capability, **{"content": ready.content} | presented)


@asynccontextmanager
async def team_at(
    address: str, tenant: Tenant, *, retries: RetryPolicy = PATIENT, within_s: float = 30.0
) -> AsyncIterator[Team]:
    """The team, connected; each call may take `within_s` seconds with all its attempts."""
    async with AsyncExitStack() as stack:
        clients = {
            name: await stack.enter_async_context(
                CapabilityAuthority.connect(address, credentials=tenant[name], retries=retries, timeout=within_s)
            )
            for name in MEMBERS
        }
        yield Team(tenant, clients)


async def refused(call: Awaitable[object], kind: type[Refusal]) -> Refusal:
    """Why the call is refused, which is of this kind."""
    with pytest.raises(kind) as caught:
        await call
    return caught.value


async def all_of(calls: Iterable[Awaitable[Answer]], *, at_once: int = 32) -> list[Answer]:
    """The answers of all calls, so many of them under way at once."""
    room = asyncio.Semaphore(at_once)

    async def one(call: Awaitable[Answer]) -> Answer:
        async with room:
            return await call

    return await asyncio.gather(*(one(call) for call in calls))


async def barrier(calls: Iterable[Awaitable[Answer]]) -> list[Answer | AuthorityError]:
    """The answers, or the refusals, of all calls, begun together (ADR-328 test 10)."""
    return await asyncio.gather(*map(_outcome, calls))


async def _outcome(call: Awaitable[Answer]) -> Answer | AuthorityError:
    try:
        return await call
    except AuthorityError as error:
        return error
