"""Trace context in metadata."""

import pytest

from capability_authority.client.tracing import injected_entries, trace_entries

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_what_is_given_is_sent() -> None:
    assert trace_entries(PARENT) == (("traceparent", PARENT),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        PARENT.upper(),
        PARENT + "\n",
        PARENT + "-00",
        "01" + PARENT[2:],
        "00-" + "0" * 32 + "-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01",
    ],
)
def test_what_is_no_traceparent_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a traceparent"):
        trace_entries(text)


def test_baggage_stays_here() -> None:
    def inject(carrier: dict[str, str]) -> None:
        carrier.update({"baggage": "user=alice", "tracestate": "a=b", "traceparent": PARENT})

    assert injected_entries(inject) == (("traceparent", PARENT), ("tracestate", "a=b"))


def test_without_a_span_nothing_is_sent() -> None:
    # With OpenTelemetry or without it: no test of this file starts a span.
    assert trace_entries(None) == ()
