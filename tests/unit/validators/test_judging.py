"""Whatever a validator does, it is a finding: never a pass that it did not say, and nothing of it reaches a caller."""

import asyncio
import dataclasses
import typing
from enum import Enum

import pytest

from authority.domain.material import Material
from authority.domain.validation import Finding, ValidationOutcome
from authority.validators.judging import FAILED, TIMED_OUT, InstalledValidators
from authority.validators.protocol import Validator
from authority.validators.threads import Threads
from tests.unit.validators.plugins import GARBAGE, Answering, Hanging, Raising, Shouting, panel_of

CONTENT = b"A SECRET THING"


async def finding_of(validator: Validator, *, limit_s: float = 30.0, threads: Threads | None = None) -> Finding:
    """What is found of content in capitals."""
    return (await findings_of(InstalledValidators({"house": panel_of(validator, limit_s=limit_s)}, threads)))[0]


async def findings_of(validators: InstalledValidators) -> tuple[Finding, ...]:
    """What the one profile says."""
    profile = validators.profile("house")
    assert profile
    return await validators.judge(profile, Material(content=CONTENT, media_type="text/plain"))


async def test_a_finding_names_its_validator_and_version() -> None:
    assert await finding_of(Shouting()) == Finding("shouting", "2", ValidationOutcome.FAIL, "all_capitals", 1000)


@pytest.mark.parametrize(
    "fault", [ValueError(CONTENT), KeyboardInterrupt(), SystemExit(3), StopIteration(), asyncio.CancelledError()]
)
async def test_one_that_raises_is_a_review_and_says_nothing_of_it(fault: BaseException) -> None:
    assert await finding_of(Raising(fault)) == Finding("shouting", "2", ValidationOutcome.REVIEW, FAILED, 1000)


@pytest.mark.parametrize("garbage", GARBAGE)
async def test_garbage_is_a_review_and_never_a_pass(garbage: object) -> None:
    found = await finding_of(Answering(garbage))
    assert (found.outcome, found.reason) == (ValidationOutcome.REVIEW, FAILED)


async def test_one_that_hangs_is_a_review_and_is_asked_no_more_while_it_hangs() -> None:
    # given a validator that hangs, and room for many threads
    hanging, threads = Hanging(), Threads(at_once=4, stuck=2)
    found = [await finding_of(hanging, limit_s=0.05, threads=threads) for _ in range(4)]
    # then each content gets a review; two threads were given up, and no more were made
    assert [(one.outcome, one.reason) for one in found] == [(ValidationOutcome.REVIEW, TIMED_OUT)] * 4
    assert hanging.asked == 2

    # when it is let go, then it is asked again
    hanging.released.set()
    outcomes: list[ValidationOutcome] = []
    async with asyncio.timeout(30):
        while ValidationOutcome.PASS not in outcomes:
            outcomes.append((await finding_of(hanging, threads=threads)).outcome)


async def test_who_goes_away_has_nobody_else_turned_away() -> None:
    # given a content that takes long, whose caller goes away meanwhile, and then another in the queue
    hanging, threads = Hanging(), Threads(at_once=1, stuck=1)
    going = asyncio.create_task(finding_of(hanging, threads=threads))
    async with asyncio.timeout(30):
        while not hanging.asked:
            await asyncio.create_task(asyncio.sleep(0))
    queued = asyncio.create_task(finding_of(hanging, threads=threads))
    for task in (going, queued):
        task.cancel()
    await asyncio.wait([going, queued])
    # when somebody else asks, then it waits for its turn, and is not told that the validator hangs
    next_one = asyncio.create_task(finding_of(hanging, threads=threads))
    assert await asyncio.wait([next_one], timeout=0.05) == (set(), {next_one})
    hanging.released.set()
    assert (await next_one).outcome is ValidationOutcome.PASS
    # and who gave up while it waited was not asked for
    assert hanging.asked == 2


async def test_one_that_fails_leaves_the_others_their_say() -> None:
    validators = InstalledValidators({"house": panel_of(Raising(ValueError()), Shouting())})
    assert [one.reason for one in await findings_of(validators)] == [FAILED, "all_capitals"]


def test_what_a_validator_is_given_holds_values_alone_and_nothing_that_can_write() -> None:
    plain = {bytes, str, int, bool, type(None)}
    for kind in kinds_within(Material):
        assert kind in plain or issubclass(kind, Enum) or is_frozen(kind), kind


def kinds_within(kind: object) -> set[type]:
    """Every class that can be reached through the annotations of a value of this one."""
    if arguments := typing.get_args(kind):
        return {one for argument in arguments if argument is not Ellipsis for one in kinds_within(argument)}
    assert isinstance(kind, type)
    if not dataclasses.is_dataclass(kind):
        return {kind}
    return {kind, *(one for hint in typing.get_type_hints(kind).values() for one in kinds_within(hint))}


def is_frozen(kind: type) -> bool:
    """Whether it is a dataclass that cannot be changed, without any behaviour of its own."""
    own = {name for name, it in vars(kind).items() if callable(it) and not name.startswith("__")}
    return dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen and not own  # type: ignore[attr-defined]
