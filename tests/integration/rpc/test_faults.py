"""What goes wrong inside stays inside (cases F01, F02)."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from structlog.testing import capture_logs

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.ports import Contention, DependencyUnavailable, NoSigningKey, Overloaded
from tests.integration.rpc.running import GET_RECORD, INCIDENT, running, use_cases

SECRET = "dsn=postgres://authority:SECRET@db"
NOTHING: dict[str, str] = {}


async def _value_error(*_: object, **__: object) -> None:
    raise ValueError(SECRET)


async def _caused(*_: object, **__: object) -> None:
    try:
        NOTHING[SECRET]
    except KeyError as fault:
        raise RuntimeError(SECRET) from fault


async def _group(*_: object, **__: object) -> None:
    raise ExceptionGroup(SECRET, [ValueError(SECRET)])


async def _not_a_record(*_: object, **__: object) -> object:
    return object()


@pytest.mark.parametrize("fault", [_value_error, _caused, _group, _not_a_record])
async def test_f01_a_fault_reaches_the_caller_as_a_sentence_and_an_incident_id(
    fault: Callable[..., Awaitable[object]],
) -> None:
    # Given a use case that fails with a secret in its words, when it is called.
    with capture_logs() as logs:
        async with running(use_cases(get_record=fault)) as service:
            failure = await service.fail()

    # Then the caller is told a fixed sentence and an id, under which the log has kind and place, and no secret either.
    assert (failure.code.name, failure.message) == ("INTERNAL", "an internal fault")
    assert dict(failure.info.metadata) == {"incident_id": INCIDENT}
    assert "SECRET" not in failure.everything
    (entry,) = [entry for entry in logs if entry["event"] == "rpc_failed"]
    assert (entry["incident_id"], entry["rpc_method"]) == (INCIDENT, GET_RECORD)
    assert entry["faults"][0]["raised_at"]
    assert "SECRET" not in str(entry)


async def test_f01_the_log_tells_the_causes_in_turn() -> None:
    with capture_logs() as logs:
        async with running(use_cases(get_record=_caused)) as service:
            await service.fail()

    kinds = [fault["kind"] for entry in logs for fault in entry.get("faults", ())]
    assert kinds == ["builtins.RuntimeError", "builtins.KeyError"]


async def test_f01_the_log_repeats_what_the_system_and_this_service_say() -> None:
    async def fail(*_: object, **__: object) -> None:
        try:
            raise ConnectionRefusedError(111, "refused", "db:5432")
        except OSError as fault:
            raise DependencyUnavailable("PostgreSQL is away") from fault

    with capture_logs() as logs:
        async with running(use_cases(get_record=fail)) as service:
            await service.fail()

    messages = [fault["message"] for entry in logs for fault in entry.get("faults", ())]
    assert messages == ["PostgreSQL is away", "[Errno 111] refused: 'db:5432'"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (DependencyUnavailable("away"), Reason.DEPENDENCY_UNAVAILABLE),
        (Contention("collided"), Reason.CONTENTION),
        (NoSigningKey("receipt"), Reason.DEPENDENCY_UNAVAILABLE),
        (Overloaded("too much waits"), Reason.OVERLOADED),
        (TimeoutError(), Reason.INTERNAL),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_fault_that_may_pass_is_told_as_one(fault: Exception, reason: Reason) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise fault

    async with running(use_cases(get_record=fail)) as service:
        failure = await service.fail()

    assert failure.reason == reason.name
    assert failure.info.metadata["incident_id"] == INCIDENT


async def test_a_fault_while_authenticating_is_hidden_alike() -> None:
    async with running(use_cases(authenticate=_value_error)) as service:
        failure = await service.fail()

    assert failure.reason == "INTERNAL"
    assert "SECRET" not in failure.everything


async def test_f02_a_cancellation_inside_a_handler_is_answered() -> None:
    # Given a use case whose own sub-task is cancelled, as by a pool that closes.
    async def await_a_cancelled_task(*_: object, **__: object) -> None:
        task = asyncio.ensure_future(asyncio.Event().wait())
        task.cancel()
        await task

    # When it is called without a deadline, then the call is answered, and may be made again.
    async with running(use_cases(get_record=await_a_cancelled_task)) as service:
        failure = await asyncio.wait_for(service.fail(), 20)

    assert (failure.code.name, failure.reason) == ("UNAVAILABLE", "DEPENDENCY_UNAVAILABLE")
    assert failure.retry is not None


async def test_f02_a_cancelled_call_is_no_incident() -> None:
    # Given a call that waits inside.
    entered, left = asyncio.Event(), asyncio.Event()

    async def wait_for_ever(*_: object, **__: object) -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    with capture_logs() as logs:
        async with running(use_cases(get_record=wait_for_ever)) as service:
            call = asyncio.ensure_future(service.call(GET_RECORD, b"\x0a\x2401234567-89ab-cdef-0123-456789abcdef"))
            await entered.wait()

            # When its caller goes away.
            call.cancel()
            await left.wait()

            # Then the handler has ended, and nothing is logged.
            with pytest.raises(asyncio.CancelledError):
                await call

    assert [entry for entry in logs if entry["event"] == "rpc_failed"] == []


async def test_f01_the_service_goes_on_after_a_fault() -> None:
    answers = [ValueError(SECRET), None]

    async def fail_once(*_: object, **__: object) -> Refusal:
        fault = answers.pop(0)
        if fault:
            raise fault
        return Refusal(Reason.NOT_FOUND)

    async with running(use_cases(get_record=fail_once)) as service:
        reasons = [(await service.fail()).reason, (await service.fail()).reason]

    assert reasons == ["INTERNAL", "NOT_FOUND"]
