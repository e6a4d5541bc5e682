"""When a call is tried again, and how long it waits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.client.errors import AuthorityError, Expired, TransportError, Unavailable
from capability_authority.client.failures import Failure
from capability_authority.client.retries import RetryPolicy, with_retries

AWAY = Failure(rpc="CommitValidated", sentence="away", code=grpc.StatusCode.UNAVAILABLE, key_field="request_id")


@dataclass
class Scene:
    """Time that passes only when somebody waits, and attempts that end as told."""

    outcomes: Sequence[AuthorityError | str]
    each_takes: float = 0.0
    now: float = 100.0
    waits: list[float] = field(default_factory=list)
    budgets: list[float] = field(default_factory=list)

    def policy(self, chance: float = 1.0, **settings: float) -> RetryPolicy:
        """A policy that lives in this scene."""
        return RetryPolicy(random=lambda: chance, sleep=self.sleep, clock=lambda: self.now, **settings)  # type: ignore[arg-type]

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    async def attempt(self, seconds: float) -> str:
        self.budgets.append(seconds)
        self.now += min(self.each_takes, seconds)
        outcome = self.outcomes[len(self.budgets) - 1]
        if isinstance(outcome, AuthorityError):
            raise outcome
        return outcome


def asking(delay: float) -> Unavailable:
    """A refusal that asks for patience."""
    return Unavailable(Failure(rpc="CommitValidated", sentence="away", retry_delay=delay))


async def test_waits_double_up_to_the_longest() -> None:
    scene = Scene([TransportError(AWAY)] * 5 + ["done"])

    result = await with_retries(
        scene.attempt, timeout=60, policy=scene.policy(attempts=6, first_delay=0.1, longest_delay=0.5)
    )

    assert result == "done"
    assert scene.waits == [0.1, 0.2, 0.4, 0.5, 0.5]


async def test_what_is_asked_for_is_waited_on_top() -> None:
    scene = Scene([asking(3.0), "done"])

    await with_retries(scene.attempt, timeout=60, policy=scene.policy(chance=0.5, first_delay=0.2))

    assert scene.waits == [3.1]


async def test_a_final_refusal_is_not_waited_for() -> None:
    scene = Scene([Expired(Failure(rpc="CommitValidated", sentence="expired")), "never"])

    with pytest.raises(Expired):
        await with_retries(scene.attempt, timeout=60, policy=scene.policy())

    assert (scene.waits, len(scene.budgets)) == ([], 1)


async def test_the_last_attempt_gets_what_is_left() -> None:
    # Given attempts that use all they get, of which each may use half of ten seconds
    scene = Scene([TransportError(AWAY)] * 3 + ["never"], each_takes=math.inf)

    with pytest.raises(TransportError) as caught:
        await with_retries(scene.attempt, timeout=10, policy=scene.policy(chance=0.0))

    assert (scene.budgets, caught.value.attempts) == ([5.0, 5.0], 2)


async def test_a_wait_that_would_outlast_the_deadline_is_not_begun() -> None:
    scene = Scene([asking(30.0), "never"])

    with pytest.raises(Unavailable):
        await with_retries(scene.attempt, timeout=10, policy=scene.policy())

    assert scene.waits == []


@pytest.mark.parametrize("timeout", [0, -1, math.nan])
async def test_a_timeout_is_positive(timeout: float) -> None:  # noqa: ASYNC109  # what is tested
    with pytest.raises(ValueError, match="positive"):
        await with_retries(Scene([]).attempt, timeout=timeout, policy=RetryPolicy())


@given(
    chance=st.floats(0, 1, exclude_max=True),
    first=st.floats(0, 100),
    longest=st.floats(0, 100),
    attempts=st.integers(1, 50),
    asked=st.one_of(st.none(), st.floats(0, 5)),
    takes=st.floats(0, 20),
    timeout=st.floats(0.001, 100),
)
async def test_whatever_the_policy_waiting_and_trying_stay_within_bounds(
    *,
    chance: float,
    first: float,
    longest: float,
    attempts: int,
    asked: float | None,
    takes: float,
    timeout: float,  # noqa: ASYNC109  # what is tested
) -> None:
    # Given an authority that stays away
    refusal = TransportError(AWAY) if asked is None else asking(asked)
    scene = Scene([refusal] * attempts, each_takes=takes)
    policy = scene.policy(chance, first_delay=first, longest_delay=longest)
    policy = RetryPolicy(
        attempts=attempts,
        first_delay=first,
        longest_delay=longest,
        random=policy.random,
        sleep=policy.sleep,
        clock=policy.clock,
    )

    # When a call is made
    with pytest.raises(AuthorityError) as caught:
        await with_retries(scene.attempt, timeout=timeout, policy=policy)

    # Then there are not more attempts than allowed, none gets more than its share, and time is kept
    assert caught.value.attempts == len(scene.budgets) <= attempts
    assert all(0 < budget <= timeout * policy.attempt_share for budget in scene.budgets)
    assert all((asked or 0) <= wait <= (asked or 0) + longest for wait in scene.waits)
    assert scene.now <= 100.0 + timeout + 1e-9


@pytest.mark.parametrize(
    "settings", [{"attempts": 0}, {"attempt_share": 0.0}, {"attempt_share": 1.1}, {"first_delay": -1.0}]
)
def test_a_policy_that_makes_no_sense_is_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="a policy needs"):
        RetryPolicy(**settings)  # type: ignore[arg-type]
