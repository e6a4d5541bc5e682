"""ADR-328, test 10: a hundred concurrent commits of one proposal through two processes give one record."""

from capability_authority.client import AlreadyCommitted, AuthorityError, BindingMismatch, Committed
from tests.installation.storage import Storage
from tests.installation.team import Team, all_of, barrier

CALLERS = 100


def _spread(team: Team, team_elsewhere: Team) -> list[Team]:
    return [team if number % 2 else team_elsewhere for number in range(CALLERS)]


async def test_adr328_10_a01_a_hundred_keys_for_one_capability(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given one capability, whose key one caller has, while ninety-nine have keys of their own
    ready = await team.ready()
    before = storage.assert_whole().receipts
    keys = [f"own-{number}" for number in range(CALLERS)]
    keys[CALLERS // 2] = ready.key
    # When all commit at once through two processes
    outcomes = await barrier(
        member.commit(ready, commit_idempotency_key=key)
        for member, key in zip(_spread(team, team_elsewhere), keys, strict=True)
    )
    # Then the bound key has committed, and the others are told which term is wrong
    assert isinstance(outcomes[CALLERS // 2], Committed)
    terms = [outcome.term for outcome in outcomes if isinstance(outcome, BindingMismatch)]
    assert terms == ["commit_idempotency_key"] * (CALLERS - 1)
    assert storage.assert_whole().receipts == before + 1


async def test_adr328_10_a02_a_hundred_callers_with_one_key(team: Team, team_elsewhere: Team, storage: Storage) -> None:
    # Given one capability and its key
    ready = await team.ready()
    before = storage.assert_whole().receipts
    # When a hundred callers commit at once through two processes, each as patient as IN_PROGRESS asks for
    outcomes = await barrier(member.commit(ready) for member in _spread(team, team_elsewhere))
    # Then all have the same receipt, byte for byte, one of them as the first
    committed = [outcome for outcome in outcomes if isinstance(outcome, Committed)]
    assert len(committed) == CALLERS, [outcome for outcome in outcomes if isinstance(outcome, AuthorityError)]
    assert len({outcome.receipt.statement.SerializeToString() for outcome in committed}) == 1
    assert sum(not outcome.replayed for outcome in committed) == 1
    assert storage.assert_whole().receipts == before + 1


async def test_adr328_10_a_hundred_capabilities_of_one_proposal(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given a hundred capabilities of one proposal, each with a key of its own
    ground = await team.ground()
    ready = await all_of(team.issue(ground, f"each-{number}") for number in range(CALLERS))
    assert len({one.capability.capability_id for one in ready}) == CALLERS
    before = storage.assert_whole().receipts
    # When all are committed at once through two processes
    members = _spread(team, team_elsewhere)
    outcomes = await barrier(member.commit(one) for member, one in zip(members, ready, strict=True))
    # Then there is one record, and the others learn of its receipt
    (committed,) = (outcome for outcome in outcomes if isinstance(outcome, Committed))
    others = [outcome.receipt_id for outcome in outcomes if isinstance(outcome, AlreadyCommitted)]
    assert others == [committed.receipt_id] * (CALLERS - 1)
    assert storage.assert_whole().receipts == before + 1
