"""A machine whose clock is off the database's: times cannot be judged there, so nothing is committed there."""

import time
from contextlib import aclosing
from pathlib import Path

import pytest

from capability_authority.client import Unavailable
from capability_authority.offline import RevocationFeed
from capability_authority.v1.types_pb2 import TenantRef
from tests.faults.conftest import Site
from tests.installation.storage import Storage
from tests.installation.team import ONCE, Team, refused, team_at

CLOCK_OFF = Path(__file__).parents[1] / "installation/clock_off"
"""Said by its place: a folder without modules has as many paths as there are ways to it in `sys.path`."""


async def _vouched_ms(team: Team) -> int:
    """The latest moment that watches say they know everything of."""
    tenant = team.tenant.ref
    feed = RevocationFeed(TenantRef(namespace=tenant.namespace, id=tenant.id))
    async with aclosing(team.user.watch_revocations(feed)) as revocations:
        while feed.as_of_ms is None:
            await anext(revocations)
    async with aclosing(team.admin.watch_audit_events()) as events:
        as_of_time = (await anext(events)).as_of_time
    assert as_of_time
    return max(feed.as_of_ms, int(as_of_time.timestamp() * 1_000))


@pytest.mark.parametrize("offset_ms", [8_000, -8_000])
async def test_b15_a_clock_off_by_more_than_the_bound_is_unavailable_until_it_is_right(
    site: Site, patient: Team, broken_storage: Storage, tmp_path: Path, offset_ms: int
) -> None:
    # Given a process whose clock can be put off, and one whose clock is right
    clock = tmp_path / "clock"
    clock.write_text("0")
    environment = {"PYTHONPATH": str(CLOCK_OFF), "CLOCK_OFF": str(clock)}
    process = site.processes.start({"deadline_cap_s": "2"}, environment=environment)
    await process.serving()
    async with team_at(process.address, patient.tenant, retries=ONCE) as team:
        first, second = await team.ready(), await team.ready()
        assert not (await team.commit(first)).replayed
        before = broken_storage.dump()
        # When its clock is off by more than the bound
        clock.write_text(str(offset_ms))
        # Then commits there may be tried again elsewhere, and nothing happened
        assert (await refused(team.commit(second), Unavailable)).failure.retry_delay
        assert broken_storage.dump() == before
        # And what is settled is still answered
        assert (await team.commit(first)).replayed
        # And no watch vouches for what is to come
        assert await _vouched_ms(team) <= time.time_ns() // 1_000_000
        # And once the clock is right the same key succeeds
        clock.write_text("0")
        assert not (await team.commit(second)).replayed
