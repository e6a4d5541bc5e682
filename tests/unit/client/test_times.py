"""Times and durations as the contract has them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.client.times import duration_message, time_message
from capability_authority.offline import instant_ms


@given(
    st.datetimes(
        timezones=st.timezones() | st.just(UTC),
        min_value=datetime(2, 1, 1),  # noqa: DTZ001  # hypothesis adds the zone
        max_value=datetime(9998, 1, 1),  # noqa: DTZ001
    )
)
def test_instants_are_cut_to_whole_milliseconds(time: datetime) -> None:
    message = time_message(time)

    assert message is not None
    milliseconds = instant_ms(message)
    elapsed = time.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    assert timedelta(0) <= elapsed - timedelta(milliseconds=milliseconds) < timedelta(milliseconds=1)


def test_a_zone_is_heeded_and_demanded() -> None:
    noon = datetime(2030, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))

    assert time_message(noon) == time_message(datetime(2030, 1, 1, 10, tzinfo=UTC))
    with pytest.raises(ValueError, match="needs its zone"):
        time_message(datetime(2030, 1, 1))  # noqa: DTZ001  # what is tested


def test_durations_are_cut_to_whole_milliseconds() -> None:
    message = duration_message(timedelta(seconds=90, microseconds=1_999))

    assert message is not None
    assert (message.seconds, message.nanos) == (90, 1_000_000)


def test_nothing_stays_nothing() -> None:
    assert time_message(None) is None
    assert duration_message(None) is None
