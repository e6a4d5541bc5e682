"""A hundred that ask at once for one commit key, through two processes, get one capability."""

from capability_authority.client import AuthorityError, IdempotencyConflict
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, all_of, barrier

CALLERS = 100


def _spread(team: Team, team_elsewhere: Team) -> list[Team]:
    return [team if number % 2 else team_elsewhere for number in range(CALLERS)]


def _under(storage: Storage, team: Team, key: str) -> list[str]:
    """The states of what was ever issued under the key."""
    ref = team.tenant.ref
    rows = storage.ask(
        "select state from authority.capability where tenant = %s and idempotency_key = %s", str(ref), key
    )
    return [state for (state,) in rows]


async def test_a02_a_hundred_issuers_of_one_key_get_one_live_capability(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given a ground, and the same ground decided on anew for every other caller
    ground = await team.ground()
    renewed = await team.allowed(ground.proposal)
    grounds = [ground if number % 3 else renewed for number in range(CALLERS)]
    # When a hundred ask at once for one key, each under a request id of its own
    members = _spread(team, team_elsewhere)
    outcomes = await barrier(member.issue(its, "one-key") for member, its in zip(members, grounds, strict=True))
    # Then all have the same capability, byte for byte, one of them as a new one
    ready = [outcome for outcome in outcomes if isinstance(outcome, Ready)]
    assert len(ready) == CALLERS, [outcome for outcome in outcomes if isinstance(outcome, AuthorityError)]
    assert len({one.capability.statement.SerializeToString() for one in ready}) == 1
    assert sum(not one.capability.replayed for one in ready) == 1
    assert _under(storage, team, "one-key") == ["issued"]
    assert not (await team.commit(ready[0])).replayed


async def test_a_hundred_issuers_of_one_key_for_ten_proposals_agree_on_one(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given ten proposals
    grounds = await all_of(team.ground() for _ in range(10))
    # When a hundred ask at once for one key, each for one of them
    members = _spread(team, team_elsewhere)
    outcomes = await barrier(member.issue(grounds[number % 10], "one-key") for number, member in enumerate(members))
    # Then one proposal has it, and whoever asked for another is told of a conflict
    ready = [outcome for outcome in outcomes if isinstance(outcome, Ready)]
    conflicts = [outcome for outcome in outcomes if isinstance(outcome, IdempotencyConflict)]
    assert (len(ready), len(conflicts)) == (10, 90), outcomes
    assert len({one.capability.statement.SerializeToString() for one in ready}) == 1
    assert _under(storage, team, "one-key") == ["issued"]
