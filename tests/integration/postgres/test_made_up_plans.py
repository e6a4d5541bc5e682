"""Plans that the service never makes: what a plan leaves out is not taken for equal, and what is stored counts.

The role that commits may execute one function, and whoever holds that role can hand the function any plan at all.
"""

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping

import asyncpg
import pytest

from authority.domain.decision import ApprovalVerdict
from authority.postgres.connections import Database, Power
from authority.postgres.plan_rows import plan_row
from authority.postgres.sql import query
from tests.integration.postgres.superuser import Superuser
from tests.world.reviewing import ONE_PERSON, Review
from tests.world.stores import ANY_CLOCK_MS, SOURCE
from tests.world.world import PERMIT_ALL, Issued, World, all_are, must

FROM_THE_CAPABILITY = (
    "capability_id",
    "capability_digest",
    "capability_key",
    "holder_key",
    "memory_namespace",
    "proposal_id",
    "revision",
    "proposal_digest",
    "content_digest",
    "validator_profile",
    "validator_profile_version",
    "validation_digest",
    "policy_version",
    "decision_digest",
)
"""The columns of a plan that no capability leaves empty."""
ANY_BOUND = dt.timedelta(milliseconds=ANY_CLOCK_MS)


async def _columns(superuser: Superuser) -> list[str]:
    rows = await superuser.fetch(
        """
        select a.attname from pg_attribute a join pg_type t on t.typrelid = a.attrelid
        where t.oid = 'authority.commit_plan'::regtype and a.attnum > 0 order by a.attnum
        """
    )
    return [row["attname"] for row in rows]


async def _answer(
    databases: Mapping[Power, Database], superuser: Superuser, world: World, issued: Issued, **made_up: object
) -> str:
    """What the function says of the good plan but for what is made up: the reason, or else the outcome."""
    plan = dict(zip(await _columns(superuser), plan_row(world.plan(issued)), strict=True))
    assert made_up.keys() <= plan.keys()
    async with databases[Power.COMMIT].pool.acquire() as connection:
        row = await connection.fetchrow(
            query("commit"), [tuple((plan | made_up).values())], world.now(), ANY_BOUND, SOURCE
        )
    assert row is not None
    return str(row["reason"] or row["outcome"])


@pytest.mark.parametrize("column", FROM_THE_CAPABILITY)
async def test_a_plan_that_leaves_a_bound_term_out_commits_nothing(
    databases: Mapping[Power, Database], superuser: Superuser, world: World, column: str
) -> None:
    # given a good capability, when a plan names it and leaves one term out, then it is refused and nothing is written
    issued = await world.issued()
    answer = await _answer(databases, superuser, world, issued, **{column: None})
    assert answer in {"BINDING_MISMATCH", "POLICY_DENIED", "NOT_VALIDATED", "APPROVAL_REQUIRED", "NOT_FOUND"}
    assert await world.counts() == all_are(0)

    # and the whole plan commits
    assert await _answer(databases, superuser, world, issued) == "committed"
    assert await world.counts() == all_are(1)


async def _for_another_holder(world: World, review: Review) -> str:
    return must(await review.decide(world.admin, holder=world.user.ref)).reference


async def _of_another_proposal(world: World, _: Review) -> str:
    return (await (await Review.begin(world, ONE_PERSON)).approved(world.admin))[0]


@pytest.mark.parametrize("another", [_for_another_holder, _of_another_proposal])
async def test_a_plan_that_names_an_approval_of_something_else_commits_nothing(
    databases: Mapping[Power, Database],
    superuser: Superuser,
    world: World,
    another: Callable[[World, Review], Awaitable[str]],
) -> None:
    # given a capability on a person's approval, and a plan that names another decision beside it
    review = await Review.begin(world, ONE_PERSON)
    await review.approved(world.user)
    issued = await review.issued()
    named = await another(world, review)
    # then what does not approve this very revision for this holder approves nothing
    answer = await _answer(databases, superuser, world, issued, approval_reference=named)
    assert answer == "APPROVAL_REQUIRED"
    assert await world.counts() == all_are(0)
    # and the whole plan commits
    assert await _answer(databases, superuser, world, issued) == "committed"


async def test_a_plan_cannot_take_policys_word_or_its_adoption_for_an_approval(
    databases: Mapping[Power, Database], superuser: Superuser, world: World
) -> None:
    # given a revision that policy allowed by itself, and that a person adopted
    review = await Review.begin(world, PERMIT_ALL)
    decision = await review.judged()
    adopted = must(await review.decide(world.admin, ApprovalVerdict.ADOPT)).reference
    issued = await review.issued(decision)
    # when a plan names either as its approval, then nobody has approved; and the whole plan commits
    for named in (decision.receipt.decision_id, adopted):
        answer = await _answer(databases, superuser, world, issued, approval_reference=named)
        assert answer == "APPROVAL_REQUIRED"
    assert await _answer(databases, superuser, world, issued) == "committed"


@pytest.mark.parametrize("column", ["capability_key", "capability_digest"])
async def test_e09_a_plan_cannot_say_that_another_key_signed_the_capability(
    databases: Mapping[Power, Database], superuser: Superuser, world: World, column: str
) -> None:
    # given a plan that would have the wrong key looked up among the revoked ones
    issued = await world.issued()
    assert await _answer(databases, superuser, world, issued, **{column: b"\x01" * 32}) == "NOT_FOUND"
    assert await world.counts() == all_are(0)


@pytest.mark.parametrize(("judged", "bounded"), [(False, True), (True, False)], ids=["no instant", "no bound"])
async def test_no_plan_is_judged_without_an_instant_and_a_bound(
    databases: Mapping[Power, Database],
    world: World,
    judged: bool,  # noqa: FBT001
    bounded: bool,  # noqa: FBT001
) -> None:
    # given a good plan, when nothing says by which instant it is to be judged, then it is not
    plan = plan_row(world.plan(await world.issued()))
    async with databases[Power.COMMIT].pool.acquire() as connection:
        with pytest.raises(asyncpg.PostgresError) as refused:
            await connection.fetchrow(
                query("commit"), [plan], world.now() if judged else None, ANY_BOUND if bounded else None, SOURCE
            )
    assert refused.value.sqlstate == "CA001"
    assert await world.counts() == all_are(0)
