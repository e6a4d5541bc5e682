"""Counting refusals in memory: bounded, added up, and held on to while the database is away."""

from collections import Counter
from collections.abc import Mapping

import pytest

from authority.domain.identity import Caller, Principal, PrincipalKind, Proof
from authority.domain.references import MINUTE, PrincipalRef, TenantRef
from authority.domain.tally import Counted, minute_of
from authority.usecases.ports import DependencyUnavailable
from authority.usecases.tally import Tally
from tests.world.clock import SetClock

TENANT = TenantRef("test", "t")


class Kept:
    """Keeps counts, while it can."""

    def __init__(self) -> None:
        self.counts: Counter[Counted] = Counter()
        self.fault: Exception | None = None
        self.calls = 0

    async def add(self, counts: Mapping[Counted, int]) -> None:
        """Adds, or is away."""
        self.calls += 1
        if self.fault:
            raise self.fault
        self.counts.update(counts)


def caller(number: int = 0) -> Caller:
    principal = Principal(TENANT, PrincipalRef("test", f"p{number}"), PrincipalKind.SERVICE, frozenset())
    return Caller(principal, "sha256:" + "0" * 64, Proof(b"", None), one_use=False)


async def test_what_is_counted_is_kept_once_by_minute_principal_and_reason() -> None:
    kept, clock = Kept(), SetClock()
    tally, minute = Tally(kept, clock), minute_of(clock.now())
    for reason in ("EXPIRED", "EXPIRED", "REPLAYED"):
        tally.count(caller(), reason)
    clock.advance(MINUTE)
    tally.count(caller(), "EXPIRED")
    for _ in range(2):
        await tally.flush()
    ref = caller().ref
    assert kept.counts == {
        Counted(TENANT, minute, ref, "EXPIRED"): 2,
        Counted(TENANT, minute, ref, "REPLAYED"): 1,
        Counted(TENANT, minute_of(clock.now()), ref, "EXPIRED"): 1,
    }
    assert kept.calls == 1, "there was nothing to keep the second time"


@pytest.mark.parametrize("fault", [DependencyUnavailable("away"), ValueError("a defect")])
async def test_what_could_not_be_kept_is_kept_the_next_time(fault: Exception) -> None:
    kept, clock = Kept(), SetClock()
    tally = Tally(kept, clock)
    tally.count(caller(), "EXPIRED")
    kept.fault = fault
    try:
        await tally.flush()
    except ValueError as raised:
        assert raised is fault  # noqa: PT017 - a defect is told, one that is foreseen is not
    tally.count(caller(), "EXPIRED")
    kept.fault = None
    await tally.flush()
    assert sum(kept.counts.values()) == 2


async def test_g16_memory_is_bounded_however_many_are_refused_for_however_long() -> None:
    # Given more principals than are told apart
    kept, clock = Kept(), SetClock()
    tally = Tally(kept, clock)
    for number in range(5_000):
        tally.count(caller(number), "EXPIRED")
    await tally.flush()
    # Then the rest are counted together, and nothing is lost
    assert sum(kept.counts.values()) == 5_000
    assert len(kept.counts) == 4_097
    assert kept.counts[Counted(TENANT, minute_of(clock.now()), None, "EXPIRED")] == 904

    # And while the database is away for days, no more than a bounded number of counts is held
    kept.counts.clear()
    for _ in range(10_000):
        clock.advance(MINUTE)
        tally.count(caller(), "EXPIRED")
    await tally.flush()
    assert len(kept.counts) == 8_192
