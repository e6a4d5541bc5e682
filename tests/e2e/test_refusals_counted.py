"""Refusals, replays and conflicts are counted over the wire; strangers fill no table (semantics §9, case G16)."""

import asyncio
from collections import Counter

from authority.domain.references import Instant
from capability_authority.client import AuthorityError, NotAllowed
from capability_authority.offline import PrivateKey
from tests.installation.installation import Installation
from tests.installation.storage import Storage
from tests.installation.team import barrier, refused, team_at
from tests.installation.wire import wire_to


async def test_what_is_refused_and_replayed_is_counted_until_the_last_moment(installation: Installation) -> None:
    # Given a service of its own, which nothing else asks
    tenant = await installation.tenant()
    with installation.processes() as processes:
        service = await processes.serving()
        async with team_at(service.address, tenant) as team:
            # When a commit is replayed, a batch holds a replay and a bad item, and an agent is not allowed something
            ready, other = await team.ready(), await team.ready()
            await team.commit(ready)
            assert (await team.commit(ready)).replayed
            items = [(ready.capability, ready.content), (other.capability, b"something else")]
            answers = await barrier(team.service.commit(capability, content=content) for capability, content in items)
            assert [isinstance(answer, AuthorityError) for answer in answers] == [False, True]
            await refused(team.agent.watch_audit_events().__anext__(), NotAllowed)
        service.terminate()
        assert await service.ends() == 0

    # Then each is counted, though the service ended before its next turn
    async with installation.operator() as operator:
        listed = await operator.administration.list_refusals(tenant.ref, Instant(0))
    counted = Counter({(str(one.principal).partition("|")[2], one.reason): one.count for one in listed})
    assert counted == {("service", "REPLAYED"): 2, ("service", "BINDING_MISMATCH"): 1, ("agent", "NOT_ALLOWED"): 1}


async def test_g16_strangers_fill_no_table(installation: Installation, storage: Storage) -> None:
    # Given calls of a hundred keys that nobody registered
    tenant = await installation.tenant()
    with installation.processes() as processes:
        service = await processes.serving()
        async with wire_to(service.address, tenant["agent"]) as stranger:

            async def call() -> str:
                proof = stranger.proof("ListMemoryRecords", b"", private_key=PrivateKey.generate())
                return (await stranger.refused("ListMemoryRecords", b"", proofs=[proof])).reason

            reasons = await asyncio.gather(*(call() for _ in range(100)))
        service.terminate()
        assert await service.ends() == 0
    # Then they are refused, and no row is written
    assert set(reasons) == {"CALLER_UNAUTHENTICATED"}
    rows = storage.ask("select * from authority.refusal_count where tenant = %s", str(tenant.ref))
    assert rows == []
