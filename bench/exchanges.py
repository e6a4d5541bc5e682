"""Work of whole exchanges by the project's own client: what a caller gets, conveniences included."""

import asyncio
import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grpc import aio

from bench.installation import MEMORY_NAMESPACE
from bench.work import Materials, Prepared, Sent, WentWrong, Work
from capability_authority.client import CapabilityAuthority

_COMMITTED: Final = b"committed"


@dataclass(frozen=True, slots=True)
class Exchanges(Work):
    """Propose, validate, evaluate policy, issue, commit: five calls each."""

    count: int

    def prepare(self, materials: Materials) -> Prepared:
        """Nothing can be made before: each call needs the answer of the one before it."""
        return _PreparedExchanges(self.count, materials)


@dataclass(frozen=True, slots=True)
class _PreparedExchanges(Prepared):
    count: int
    materials: Materials

    async def send(self, channels: Sequence[aio.Channel], concurrent: int) -> Sent:  # noqa: ARG002 - it has its own
        """Each of so many callers begins the next exchange when its last one has ended."""
        latencies: list[float] = []
        waiting = iter(range(self.count))
        async with contextlib.AsyncExitStack() as stack:
            user, service = [
                await stack.enter_async_context(CapabilityAuthority.connect(self.materials.address, credentials=one))
                for one in (self.materials.proposer, self.materials.holder)
            ]

            async def exchange_each() -> None:
                for _ in waiting:
                    begun = time.monotonic()
                    await _exchange(user, service)
                    latencies.append(time.monotonic() - begun)

            await asyncio.gather(*(exchange_each() for _ in range(concurrent)))
        return Sent([_COMMITTED] * len(latencies), latencies)

    def judge(self, answers: Sequence[bytes]) -> int:
        """One operation each: the client has verified its receipt."""
        return len(answers)


async def _exchange(user: CapabilityAuthority, service: CapabilityAuthority) -> None:
    content = {"lesson": "An invoice was paid after 14 days.", "number": os.urandom(16).hex()}
    proposal = await user.propose(memory_namespace=MEMORY_NAMESPACE, memory_type="durable_fact", content=content)
    validation = await service.validate(proposal)
    decision = await service.evaluate_policy(proposal)
    capability = await service.issue(proposal, validation_receipt=validation.receipt, decision_receipt=decision.receipt)
    committed = await service.commit(capability, content=content)
    if committed.replayed:
        raise WentWrong("a commit was replayed")
