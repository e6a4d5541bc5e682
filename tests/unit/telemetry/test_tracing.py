"""What becomes of spans at OpenTelemetry: whose children they are, what they are linked with, what they never say."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode

from authority.telemetry import spans
from authority.telemetry.names import GATHER_WAIT, GATHERED_CALL, REASON, REDIS_ASK, RPC, USE_CASE
from authority.telemetry.spans import NO_SPAN
from authority.telemetry.tracing import Tracing

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN_ID = "00f067aa0ba902b7"
SENT = f"00-{TRACE_ID}-{SPAN_ID}-01"


@dataclass
class _Told:
    exporter: InMemorySpanExporter

    def __getitem__(self, name: str) -> ReadableSpan:
        (found,) = [span for span in self.exporter.get_finished_spans() if span.name == name]
        return found


@pytest.fixture
def told() -> Iterator[_Told]:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with spans.listening(Tracing(provider.get_tracer("test"))):
        yield _Told(exporter)
    provider.shutdown()


def _id(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context is not None
    return context.span_id


def _linked(span: ReadableSpan) -> set[int]:
    return {link.context.span_id for link in span.links}


def test_a_call_belongs_to_the_trace_of_its_caller_and_work_below_it_to_the_call(told: _Told) -> None:
    with spans.continuing(RPC.of("Commit"), SENT, ""), spans.below(USE_CASE.of("commit")):
        pass

    call, work = told["Commit"], told["use case commit"]
    assert call.parent is not None
    assert (f"{call.parent.trace_id:032x}", f"{call.parent.span_id:016x}") == (TRACE_ID, SPAN_ID)
    assert work.parent is not None
    assert work.parent.span_id == _id(call)


@pytest.mark.parametrize("sent", ["", "nonsense", f"ff-{TRACE_ID}-{SPAN_ID}-01"])
def test_without_a_usable_context_a_call_begins_a_trace(told: _Told, sent: str) -> None:
    with spans.continuing(RPC.of("Commit"), sent):
        pass

    assert told["Commit"].parent is None


def test_without_a_span_above_nothing_is_told(told: _Told) -> None:
    with spans.below_of(REDIS_ASK, "SET") as span:
        pass

    assert span is NO_SPAN
    assert told.exporter.get_finished_spans() == ()


def test_a_gathered_call_is_in_the_first_trace_and_linked_with_all(told: _Told) -> None:
    # Given two callers that wait, each in a trace of its own
    with spans.continuing(RPC.of("one"), ""), spans.below(GATHER_WAIT.of("first")) as first:
        pass_on = [first]
        with spans.continuing(RPC.of("two"), ""), spans.below(GATHER_WAIT.of("second")) as second:
            pass_on.append(second)
            # When one call carries both
            with spans.carrying(GATHERED_CALL.of("commit"), pass_on):
                pass

    # Then it is a child of the first wait, and names both, and both name it
    call, waits = told["gathered commit"], (told["wait for first"], told["wait for second"])
    assert call.parent is not None
    assert call.parent.span_id == _id(waits[0])
    assert _linked(call) == {_id(wait) for wait in waits}
    assert all(_linked(wait) == {_id(call)} for wait in waits)


def test_a_call_that_nobody_recorded_waits_for_is_not_told_of(told: _Told) -> None:
    with spans.carrying(GATHERED_CALL.of("commit"), [NO_SPAN]) as span:
        pass

    assert span is NO_SPAN


def test_f01_an_exception_is_told_by_its_class_and_never_by_its_text(told: _Told) -> None:
    with pytest.raises(ValueError, match="SECRET"), spans.continuing(RPC.of("Commit"), ""):
        raise ValueError("dsn=SECRET")

    span = told["Commit"]
    assert dict(span.attributes or {}) == {"authority.ended_by": "ValueError"}
    assert span.events == ()
    assert "SECRET" not in span.to_json()
    assert span.status.status_code is StatusCode.UNSET


def test_what_fails_is_an_error_without_a_text_and_a_refusal_is_none(told: _Told) -> None:
    with spans.continuing(RPC.of("failed"), "") as failed:
        failed.fail("UNAVAILABLE")
    with spans.continuing(RPC.of("refused"), "") as refused:
        refused.set(REASON, "EXPIRED")

    assert told["failed"].status.status_code is StatusCode.ERROR
    assert told["failed"].status.description is None
    assert told["refused"].status.status_code is StatusCode.UNSET


def test_the_current_span_is_what_is_carried_on(told: _Told) -> None:
    with spans.continuing(RPC.of("Commit"), SENT):
        carried = spans.current_traceparent()

    assert carried == f"00-{TRACE_ID}-{_id(told['Commit']):016x}-01"
    assert spans.current_traceparent() == ""


def test_what_is_not_sampled_costs_no_spans_and_is_carried_on_as_such() -> None:
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    with spans.listening(Tracing(provider.get_tracer("test"))), spans.continuing(RPC.of("Commit"), SENT):
        below, carried = spans.below(USE_CASE.of("commit")), spans.current_traceparent()

    assert below is NO_SPAN
    assert carried.startswith(f"00-{TRACE_ID}-")
    assert carried.endswith("-00")


def test_when_nobody_listens_nothing_is_told() -> None:
    with spans.continuing(RPC.of("Commit"), SENT) as span:
        assert spans.current() is span is NO_SPAN
        assert spans.current_traceparent() == ""
    assert not spans.are_heard()
