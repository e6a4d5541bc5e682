"""ReserveReplay of a hundred callers at two processes, of callers of every kind, and of what no envelope says."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from capability_authority.client import (
    AuthorityError,
    Expired,
    LimitExceeded,
    Malformed,
    NotAllowed,
    NotFound,
    ReplayReservation,
)
from tests.installation.installation import Installation
from tests.installation.processes import ServiceProcess
from tests.installation.storage import Storage
from tests.installation.team import Team, barrier, refused, team_at

DIGEST, OTHER = f"sha256:{'0' * 64}", f"sha256:{'1' * 64}"


def soon() -> datetime:
    """When an envelope of now has expired."""
    return datetime.now(UTC) + timedelta(minutes=5)


async def test_i04_a_hundred_callers_at_two_processes_reserve_an_envelope_once(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given a key, and a hundred who have an envelope for it, every tenth of them another one
    digests = [OTHER if number % 10 == 9 else DIGEST for number in range(100)]
    expire_time = soon()
    # When all reserve it at once through two processes
    answers = await barrier(
        (team, team_elsewhere)[number % 2].service.reserve_replay(
            "one key", envelope_digest=digest, expire_time=expire_time
        )
        for number, digest in enumerate(digests)
    )
    # Then one of them has, and the others are told whether theirs is the same
    outcomes = [answer.outcome if isinstance(answer, ReplayReservation) else repr(answer) for answer in answers]
    assert outcomes.count("reserved") == 1, outcomes
    winner = outcomes.index("reserved")
    told = {(digest == digests[winner], outcome) for digest, outcome in zip(digests, outcomes, strict=True)}
    assert told == {(True, "reserved"), (True, "replay"), (False, "conflict")}
    count = "select count(*) from authority.replay_reservation where tenant = %s"
    assert storage.one(count, str(team.tenant.ref)) == 1


async def test_g02_neither_keys_nor_reservations_are_told_to_another_tenant(
    team: Team, services: tuple[ServiceProcess, ...], installation: Installation
) -> None:
    expire_time = soon()
    async with team_at(services[0].address, await installation.tenant()) as strangers:
        first = await strangers.service.reserve_replay("ours", envelope_digest=OTHER, expire_time=expire_time)
        assert first.outcome == "reserved"
        await refused(strangers.service.resolve_key(team.service.credentials.key_id), NotFound)
    mine = await team.service.reserve_replay("ours", envelope_digest=DIGEST, expire_time=expire_time)
    assert mine.outcome == "reserved"
    assert (
        await team.service.resolve_key(team.service.credentials.key_id)
    ).principal == team.service.credentials.principal


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"expire_time": datetime(2020, 1, 1, tzinfo=UTC)}, Expired),
        ({"expire_time": datetime(9999, 1, 1, tzinfo=UTC)}, LimitExceeded),
        ({"replay_key": "x" * 4_097}, LimitExceeded),
        ({"replay_key": ""}, Malformed),
        ({"envelope_digest": "sha256:0"}, Malformed),
        ({"request_id": "a b"}, Malformed),
        ({"request_id": "r" * 129}, LimitExceeded),
    ],
)
async def test_f07_what_no_envelope_says_is_refused_and_nothing_is_kept(
    team: Team, storage: Storage, changed: dict[str, Any], error: type[AuthorityError]
) -> None:
    good: dict[str, Any] = {"replay_key": "key", "envelope_digest": DIGEST, "expire_time": soon()}
    before = storage.dump()
    await refused(team.service.reserve_replay(**good | changed), error)
    await refused(team.agent.reserve_replay(**good), NotAllowed)
    assert storage.dump() == before


async def test_any_text_is_a_replay_key_byte_for_byte(team: Team) -> None:
    expire_time = soon()
    for key in ("a", "A", "a ", " a", "a\n", "\0", "*", "%", "ä", "a\u0308", "\u202e", "x" * 4_096):
        answer = await team.service.reserve_replay(key, envelope_digest=DIGEST, expire_time=expire_time)
        assert answer.outcome == "reserved", repr(key)
