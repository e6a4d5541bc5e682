"""Numbers and times at their edges come back as they were, and beyond them nothing is wrapped or rounded (case C15)."""

from dataclasses import replace

import asyncpg
import pytest

from authority.domain import limits
from authority.domain.proposal import Cost
from authority.domain.references import Instant
from tests.integration.postgres.superuser import Superuser
from tests.world.world import World


@pytest.mark.parametrize("number", [0, 1, 2**31 - 1, 2**31, 2**53 + 1, limits.INT64_MAX])
async def test_c15_costs_are_kept_to_the_last_unit(world: World, superuser: Superuser, number: int) -> None:
    # given costs, when they go by proposal, record and audit event, then each says the same number
    costs = (Cost("extract", "small", number, number, number),)
    _, answer = await world.committed(costs=costs)
    record = await world.authority.store.records.get(
        world.tenant, answer.receipt.record_id, world.user.ref, world.now()
    )
    assert record
    assert record.costs == costs
    kept = await superuser.fetchval(
        "select costs #>> '{0,usd_micros}' from authority.audit_event where tenant = $1 and kind = 'memory.commit'",
        str(world.tenant),
    )
    assert kept == str(number)


@pytest.mark.parametrize("instant", [limits.EARLIEST_MS, 1, 999, 951_782_400_000, limits.LATEST_MS])
async def test_c15_instants_are_kept_to_the_millisecond(world: World, instant: int) -> None:
    proposal = await world.proposed(valid_from_time=Instant(instant), record_expire_time=Instant(limits.LATEST_MS))
    found = await world.authority.store.proposals.get(world.tenant, proposal.revision.proposal_id, 1)
    assert found
    assert found.revision == proposal.revision


async def test_c15_the_largest_revision_is_looked_for_and_a_larger_one_is_no_number(world: World) -> None:
    # given a proposal, then the largest number finds nothing, and one beyond it is a fault of whoever let it through
    proposal_id = (await world.proposed()).revision.proposal_id
    proposals = world.authority.store.proposals
    assert await proposals.get(world.tenant, proposal_id, limits.INT32_MAX) is None
    with pytest.raises(asyncpg.DataError):
        await proposals.get(world.tenant, proposal_id, limits.INT32_MAX + 1)


async def test_c15_sequences_do_not_wrap(superuser: Superuser) -> None:
    row = await superuser.fetchrow(
        "select seqmax, seqcycle from pg_sequence where seqrelid = 'authority.decision_sequence'::regclass"
    )
    assert row
    assert (row["seqmax"], row["seqcycle"]) == (2**63 - 1, False)


@pytest.mark.parametrize(
    "content",
    [
        b"\x00",
        b"\xff\xfe",
        "\u00e9 e\u0301 \u212b".encode(),
        b"line\r\nline\n\n",
        b" leading and trailing ",
        b"x" * limits.CONTENT_BYTES,
    ],
    ids=["nul", "no text", "unnormalised", "line ends", "spaces", "as long as may be"],
)
async def test_c11_c13_content_is_kept_byte_for_byte(world: World, content: bytes) -> None:
    # given content as bytes, whatever they are: what is proposed is judged before it comes here
    proposal = await world.proposed()
    revision = replace(
        proposal.revision,
        proposal_id=world.authority.ids.new(),
        content_digest=world.authority.reader.content_digest(content),
    )
    stored = replace(proposal, revision=revision, content=content)
    await world.authority.store.proposals.create(world.mark(world.user, None), stored)
    found = await world.authority.store.proposals.get(world.tenant, revision.proposal_id, 1)
    assert found == stored
