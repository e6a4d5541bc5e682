"""A revision expires: by its own lifetime, by what its proposer wants, and with what it says (semantics §7)."""

import pytest

from authority.domain import limits
from authority.domain.decision import ApprovalVerdict
from authority.domain.proposal import ProposalState
from authority.domain.reasons import Reason
from authority.domain.references import DAY, HOUR, Instant, after
from authority.domain.refusal import Refusal
from tests.world.world import World, all_are, must, reason_of

EXPIRED = Refusal(Reason.EXPIRED, {"field": "proposal"})
NOT_THEN = Refusal(
    Reason.MALFORMED, {"field": "expire_time", "problem": "must lie in the future, at most 30 days away"}
)


async def test_a_revision_lives_thirty_days_or_less(world: World) -> None:
    # given what a proposer wants, and how long what it says is valid and kept
    now = world.now()
    month, week, day, hour = (after(now, span) for span in (30 * DAY, 7 * DAY, DAY, HOUR))
    assert (await world.proposed()).revision.expire_time == month
    assert (await world.proposed(expire_time=week)).revision.expire_time == week
    assert (await world.proposed(expire_time=month)).revision.expire_time == month
    # then it ends with the first of them
    assert (await world.proposed(expire_time=week, valid_until_time=day)).revision.expire_time == day
    assert (await world.proposed(record_expire_time=hour, valid_until_time=day)).revision.expire_time == hour
    long = after(now, 90 * DAY)
    assert (await world.proposed(record_expire_time=long, valid_until_time=long)).revision.expire_time == month


async def test_a_lifetime_that_is_over_or_too_long_is_malformed(world: World) -> None:
    now = world.now()
    for wrong in (Instant(0), now, after(now, limits.PROPOSAL_LIFETIME_MS + 1)):
        assert await world.propose(expire_time=wrong) == NOT_THEN
    # but a retry of what was kept in time is answered with it, however late
    kept = await world.proposed(b"fact", expire_time=after(now, HOUR), request_id="r")
    world.authority.clock.advance(HOUR)
    assert await world.propose(b"fact", expire_time=after(now, HOUR), request_id="r") == kept


async def test_what_has_expired_goes_no_further(world: World) -> None:
    # given a proposal that could be committed within the hour, and its capability for two
    proposal = await world.proposed(expire_time=after(world.now(), HOUR))
    ground = await world.allow(proposal)
    issued = await world.issued_on(ground, lifetime_ms=2 * HOUR)
    world.authority.clock.advance(HOUR - 1)
    assert must(await world.validate(proposal)).state is ProposalState.VALIDATED
    ground = await world.allow(proposal)

    # when the hour has passed, then it is EXPIRED at every step, and no word of a person helps
    world.authority.clock.advance(1)
    assert await world.validate(proposal) == EXPIRED
    for verdict in ApprovalVerdict:
        assert await world.approve(proposal, verdict) == EXPIRED
    assert await world.decide(proposal) == EXPIRED
    assert reason_of(await world.issue(ground, "another key")) is Reason.EXPIRED
    assert reason_of(await world.commit(issued)) is Reason.EXPIRED
    assert await world.counts() == all_are(0)


async def test_what_was_committed_in_time_stays(world: World) -> None:
    # given a commit just in time, when its proposal would have expired, then replay and state are what they were
    issued, answer = await world.committed(expire_time=after(world.now(), HOUR))
    world.authority.clock.advance(2 * HOUR)
    assert must(await world.commit(issued)).receipt == answer.receipt
    assert reason_of(await world.validate(issued.ground.proposal)) is Reason.ALREADY_COMMITTED


async def test_a_next_revision_has_a_lifetime_of_its_own(world: World) -> None:
    # given a proposal that expired
    first = await world.proposed(expire_time=after(world.now(), HOUR))
    world.authority.clock.advance(HOUR)
    # when its proposer brings it up again, then it can be committed, and the first one is superseded, not expired
    second = await world.proposed(proposal_id=first.revision.proposal_id)
    assert second.revision.expire_time == after(world.now(), limits.PROPOSAL_LIFETIME_MS)
    must(await world.commit(await world.issued_on(await world.allow(second))))
    assert reason_of(await world.validate(first)) is Reason.NOT_VALIDATED


@pytest.mark.parametrize("ended_by", ["valid_until_time", "record_expire_time"])
async def test_what_says_nothing_any_more_cannot_be_committed(world: World, ended_by: str) -> None:
    # given a snapshot of yesterday, then nobody validates it today
    ended = after(world.now(), -DAY)
    proposal = must(
        await (
            world.propose(valid_until_time=ended)
            if ended_by == "valid_until_time"
            else world.propose(record_expire_time=ended)
        )
    )
    assert await world.validate(proposal) == EXPIRED
