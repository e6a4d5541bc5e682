"""Instants are whole milliseconds between the years 1 and 9999."""

from datetime import UTC, datetime

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.offline import InstantError, instant_ms, timestamp
from capability_authority.offline.instants import FIRST_INSTANT_MS, LAST_INSTANT_MS


@given(st.integers(FIRST_INSTANT_MS, LAST_INSTANT_MS))
def test_every_instant_in_range_reads_back(ms: int) -> None:
    assert instant_ms(timestamp(ms)) == ms


def test_the_bounds_are_those_of_the_years_1_and_9999() -> None:
    first, last = timestamp(FIRST_INSTANT_MS), timestamp(LAST_INSTANT_MS)

    assert first.ToDatetime(tzinfo=UTC) == datetime(1, 1, 1, tzinfo=UTC)
    assert last.ToDatetime(tzinfo=UTC) == datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)


@pytest.mark.parametrize("ms", [FIRST_INSTANT_MS - 1, LAST_INSTANT_MS + 1, 2**63])
def test_an_instant_out_of_range_is_not_written(ms: int) -> None:
    with pytest.raises(InstantError):
        timestamp(ms)


@pytest.mark.parametrize(
    ("seconds", "nanos"),
    [
        (0, 1),
        (0, 999_999),
        (0, 1_000_001),
        (0, -1_000_000),
        (0, 1_000_000_000),
        (-62_135_596_801, 999_000_000),
        (253_402_300_800, 0),
        (-(2**63), 0),
        (2**63 - 1, 0),
    ],
)
def test_any_other_timestamp_is_refused(seconds: int, nanos: int) -> None:
    with pytest.raises(InstantError):
        instant_ms(Timestamp(seconds=seconds, nanos=nanos))
