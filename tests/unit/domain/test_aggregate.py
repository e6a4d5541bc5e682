"""How coarse figures of many tenants are: what one tenant has does not show in them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.domain import limits
from authority.domain.aggregate import Aggregate, aggregate_problem, coarse, would_tell_apart
from authority.domain.references import TenantRef

COUNTS = st.lists(st.integers(1, 10_000), max_size=12)
LEAST = st.integers(limits.AGGREGATE_LEAST_TENANTS, 6)
TENANTS = tuple(TenantRef("test", f"t{number}") for number in range(5))
GOOD = Aggregate(
    tenant=TenantRef("test", "asks"),
    name="trends",
    memory_namespace="notes",
    of_tenants=TENANTS,
    least_tenants=4,
    reviewed_by="Ada Harbour",
    review="minutes:2027-01-31",
)


@given(COUNTS, LEAST)
def test_a_figure_is_in_whole_tens_and_never_more_than_there_is(counts: list[int], least: int) -> None:
    assert coarse(counts, least) % limits.AGGREGATE_STEP == 0
    assert 0 <= coarse(counts, least) <= sum(counts)
    assert len(counts) >= least or coarse(counts, least) == 0


@given(COUNTS, LEAST, st.data(), st.integers(0, 10**9))
def test_what_the_greatest_have_beyond_the_others_does_not_show(
    counts: list[int], least: int, data: st.DataObject, more: int
) -> None:
    # given any tenant that is among the greatest, when it had more, then nobody would see it
    counts = sorted([*counts, *[1] * least], reverse=True)
    greatest = data.draw(st.integers(0, least - 1))
    grown = [
        count + (more if place == greatest and count > counts[least - 1] else 0) for place, count in enumerate(counts)
    ]
    assert coarse(grown, least) == coarse(counts, least)


@given(COUNTS, LEAST)
def test_one_tenant_shows_no_more_than_any_of_many_would(counts: list[int], least: int) -> None:
    # given any one tenant, when it had nothing, then the figure is lower by no more than so many others have each
    for place in range(len(counts)):
        rest = counts[:place] + counts[place + 1 :]
        if len(rest) < least:
            continue
        most = sorted(counts, reverse=True)[least - 1]
        change = coarse(counts, least) - coarse(rest, least)
        assert change <= most + len(counts) * (most - sorted(rest, reverse=True)[least - 1]) + limits.AGGREGATE_STEP


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"least_tenants": 2}, "3 tenants at least"),
        ({"least_tenants": 6}, "name 6 to 256 tenants"),
        ({"of_tenants": (*TENANTS, TENANTS[0])}, "named twice"),
        ({"of_tenants": (*TENANTS, GOOD.tenant)}, "that it is in"),
        ({"of_tenants": tuple(TenantRef("t", str(number)) for number in range(257))}, "name 4 to 256 tenants"),
        ({"reviewed_by": ""}, "who reviewed it"),
        ({"review": ""}, "where that can be looked up"),
    ],
)
def test_what_is_wrong_with_an_aggregate_is_said(changed: dict[str, object], says: str) -> None:
    assert aggregate_problem(GOOD) == ""
    assert says in aggregate_problem(replace(GOOD, **changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("beside", "tells"),
    [
        (GOOD, False),
        (replace(GOOD, of_tenants=TENANTS[::-1]), False),
        (replace(GOOD, of_tenants=TENANTS[:4]), True),
        (replace(GOOD, least_tenants=5), True),
        (replace(GOOD, of_tenants=tuple(TenantRef("test", f"u{number}") for number in range(5))), False),
        (replace(GOOD, of_tenants=TENANTS[:4], memory_namespace="others"), False),
        (replace(GOOD, of_tenants=TENANTS[:4], tenant=TenantRef("test", "another")), False),
    ],
)
def test_two_that_can_be_subtracted_would_tell_of_few(beside: Aggregate, *, tells: bool) -> None:
    assert would_tell_apart(replace(beside, name="beside"), GOOD) is tells
    assert would_tell_apart(GOOD, replace(beside, name="beside")) is tells
