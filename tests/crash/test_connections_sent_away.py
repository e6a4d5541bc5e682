"""Connections that the service sends away under load: no commit is lost or doubled (F11)."""

from tests.crash.conftest import Site
from tests.installation.installation import Tenant
from tests.installation.team import all_of, team_at

COMMITS = 200


async def test_f11_connections_sent_away_under_load_lose_and_double_nothing(site: Site, crash_tenant: Tenant) -> None:
    # Given a service that sends every connection away soon after it came, and many capabilities
    restless = await site.processes.serving({"connection_age_s": "0.2"})
    try:
        async with team_at(restless.address, crash_tenant) as team:
            ready = await all_of(team.ready() for _ in range(COMMITS))
            before = site.storage.assert_whole().receipts
            # When each is committed, and committed again
            first = await all_of((team.commit(one) for one in ready), at_once=16)
            again = await all_of((team.commit(one) for one in ready), at_once=16)
    finally:
        site.processes.clear_away()
    # Then nothing was lost and nothing doubled
    assert [one.receipt_id for one in again] == [one.receipt_id for one in first]
    assert site.storage.assert_whole().receipts == before + COMMITS
