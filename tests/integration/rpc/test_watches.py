"""A watch: how it is opened, what it writes, and every way in which it ends."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from grpc import aio
from structlog.testing import capture_logs

from authority.domain.audit import AuditFilter
from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef
from authority.domain.refusal import Refusal
from authority.usecases.ports import DependencyUnavailable
from authority.usecases.read_audit import AuditTidings
from capability_authority.client.rpcs import RPCS
from capability_authority.v1.audit_service_pb2 import AuditFilter as FilterMessage
from capability_authority.v1.audit_service_pb2 import WatchAuditEventsRequest
from capability_authority.v1.types_pb2 import PrincipalRef as PrincipalMessage
from tests.integration.rpc.running import CALLER, INCIDENT, Running, running, use_cases
from tests.integration.rpc.running import Watching as AnyWatching

WITHIN_S = 20.0


@dataclass
class Teller:
    """A watch that tells what it is given, and then waits until it is given up."""

    tidings: "asyncio.Queue[AuditTidings | Refusal | BaseException]" = field(default_factory=asyncio.Queue)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[tuple[AuditFilter, str, bool]] = field(default_factory=list)
    refusal: Refusal | None = None

    async def open(self, _: Caller, wanted: AuditFilter, cursor: str, *, from_beginning: bool) -> "Teller | Refusal":
        """Opens itself."""
        self.asked.append((wanted, cursor, from_beginning))
        return self.refusal or self

    @contextlib.contextmanager
    def listening(self) -> Iterator[asyncio.Event]:
        """Notes when nobody listens any more."""
        try:
            yield asyncio.Event()
        finally:
            self.left.set()

    async def next(self, _: asyncio.Event) -> AuditTidings | Refusal:
        """The next that was given."""
        given = await self.tidings.get()
        if isinstance(given, BaseException):
            raise given
        return given

    def tell(self, *cursors: str) -> None:
        """Messages with these cursors."""
        for cursor in cursors:
            self.tidings.put_nowait(AuditTidings((), cursor, Instant(0)))


class Watching(AnyWatching):
    """A watch of the audit log, by the cursors that it tells."""

    def __init__(self, service: Running, request: bytes = b"") -> None:
        super().__init__(service.channel, RPCS["WatchAuditEvents"], request)

    async def cursor(self) -> str | None:
        """Of the next message; None when the watch has ended well."""
        message = await self.message()
        return None if message is None else str(message.cursor)


@contextlib.asynccontextmanager
async def telling(teller: Teller, **given: Any) -> AsyncIterator[Running]:
    options = {name: given.pop(name) for name in ("later", "streams", "streams_per_principal") if name in given}
    async with running(use_cases(open_audit_watch=teller.open, **given), **options) as service:
        yield service


async def test_a_watch_is_asked_once_and_tells_what_comes() -> None:
    teller = Teller()
    async with telling(teller) as service:
        watch = Watching(service, WatchAuditEventsRequest(cursor="here").SerializeToString())
        teller.tell("a", "b")
        assert [await watch.cursor(), await watch.cursor()] == ["a", "b"]
        teller.tell("c")
        assert await watch.cursor() == "c"
    assert teller.asked == [(AuditFilter(), "here", False)]


async def test_a_watch_is_asked_for_what_its_caller_wants() -> None:
    teller = Teller()
    actor = PrincipalMessage(namespace="acme", id="ann")
    wanted = FilterMessage(kind="memory.commit", actor=actor, subject="1", correlation_id="run-1")
    async with telling(teller) as service:
        teller.tell("a")
        request = WatchAuditEventsRequest(filter=wanted, from_beginning=True)
        assert await Watching(service, request.SerializeToString()).cursor() == "a"
    meant = AuditFilter(kind="memory.commit", actor=PrincipalRef("acme", "ann"), subject="1", correlation_id="run-1")
    assert teller.asked == [(meant, "", True)]


async def test_a_watch_that_is_refused_late_or_early_tells_why() -> None:
    teller = Teller(refusal=Refusal(Reason.NOT_ALLOWED, {"kind": "admin"}))
    async with telling(teller) as service:
        assert (await Watching(service).fails()).reason == "NOT_ALLOWED"
        teller.refusal = None
        teller.tell("a")
        teller.tidings.put_nowait(Refusal(Reason.CALLER_UNAUTHENTICATED))
        watch = Watching(service)
        assert await watch.cursor() == "a"
        assert (await watch.fails()).reason == "CALLER_UNAUTHENTICATED"
        teller.tidings.put_nowait(DependencyUnavailable("gone"))
        failure = await Watching(service).fails()
        assert (failure.reason, failure.retry is not None) == ("DEPENDENCY_UNAVAILABLE", True)
        await asyncio.wait_for(teller.left.wait(), WITHIN_S)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (ValueError("dsn=SECRET"), "INTERNAL"),
        # Something inside is given up: a pool that closes, a task that waited (case F02).
        (asyncio.CancelledError("SECRET"), "DEPENDENCY_UNAVAILABLE"),
    ],
)
async def test_f01_f02_what_goes_wrong_amid_a_watch_ends_it_with_an_incident(fault: BaseException, reason: str) -> None:
    # Given a watch that has told of something, when something goes wrong inside
    teller = Teller()
    with capture_logs() as logs:
        async with telling(teller) as service:
            teller.tell("a")
            teller.tidings.put_nowait(fault)
            watch = Watching(service)
            assert await watch.cursor() == "a"
            # Then it ends at once, and tells no more than under which id that is found in the log
            failure = await asyncio.wait_for(watch.fails(), WITHIN_S)
    assert (failure.reason, dict(failure.info.metadata)) == (reason, {"incident_id": INCIDENT})
    assert [entry["incident_id"] for entry in logs if "incident_id" in entry] == [INCIDENT]
    assert "SECRET" not in failure.everything + str(logs)
    assert teller.left.is_set()


@pytest.mark.parametrize(
    ("request_", "field_"),
    [
        (WatchAuditEventsRequest(cursor="c", from_beginning=True).SerializeToString(), "from_beginning"),
        (WatchAuditEventsRequest(cursor="c" * (32 * 1024 + 1)).SerializeToString(), "cursor"),
        (b"\xfa\x3f\x01x", ""),
    ],
    ids=["both", "long", "unknown field"],
)
async def test_shape_is_judged_before_the_proof_is_used_up(request_: bytes, field_: str) -> None:
    # Given a watch of a bad shape, whose proof is no good either
    admitted: list[Caller] = []

    async def admit(caller: Caller) -> Refusal:
        admitted.append(caller)
        return Refusal(Reason.PROOF_REPLAYED)

    teller = Teller()
    async with telling(teller, admit_stream=admit) as service:
        # Then its shape is told, as the error table orders, and the proof was not looked at
        failure = await Watching(service, request_).fails()
        assert failure.reason in ("MALFORMED", "LIMIT_EXCEEDED")
        assert failure.violation is not None
        assert failure.violation[0].startswith(field_)
        assert admitted == []
        # And of a good shape, the proof decides before anything is read
        assert (await Watching(service).fails()).reason == "PROOF_REPLAYED"
    assert (len(admitted), teller.asked) == (1, [])


async def test_a_watch_takes_the_place_of_a_stream_and_gives_it_back() -> None:
    teller = Teller()
    async with telling(teller, streams=2, streams_per_principal=1) as service:
        teller.tell("a")
        first = Watching(service)
        assert await first.cursor() == "a"
        failure = await Watching(service).fails()
        assert (failure.reason, failure.retry is not None) == ("OVERLOADED", True)
        first.call.cancel()
        await asyncio.wait_for(teller.left.wait(), WITHIN_S)
        teller.tell("b")
        # gRPC gives the place back a moment after the caller has left.
        cursor = None
        while cursor is None:
            with contextlib.suppress(aio.AioRpcError):
                cursor = await Watching(service).cursor()
        assert cursor == "b"


async def test_an_old_watch_ends_well() -> None:
    # Given a watch whose time will be up
    alarms: list[Callable[[], None]] = []

    def later(seconds: float, ring: Callable[[], None]) -> asyncio.TimerHandle:
        assert seconds == 300.0
        alarms.append(ring)
        return asyncio.get_running_loop().call_later(3_600, ring)

    teller = Teller()
    async with telling(teller, later=later) as service:
        teller.tell("a")
        watch = Watching(service)
        assert await watch.cursor() == "a"
        # When it is, then it ends with OK, and nobody listens for it any more
        alarms[0]()
        assert await watch.cursor() is None
        assert (await watch.call.code()).name == "OK"
        await asyncio.wait_for(teller.left.wait(), WITHIN_S)


async def test_f12_a_server_that_stops_ends_its_watches_well() -> None:
    teller = Teller()
    async with telling(teller) as service:
        teller.tell("a")
        watch = Watching(service)
        assert await watch.cursor() == "a"
        stopping = asyncio.create_task(service.server.stop(WITHIN_S))
        assert await watch.cursor() is None
        await asyncio.wait_for(stopping, WITHIN_S)


async def test_f12_a_reader_that_takes_nothing_does_not_outlive_the_grace() -> None:
    # Given a caller who reads nothing of what fills every buffer on the way
    teller = Teller()
    async with telling(teller) as service:
        for _ in range(100):
            teller.tell("x" * 100_000)
        watch = Watching(service)
        await watch.call.initial_metadata()
        # When the server stops with a small grace, then it stops, and nobody listens any more
        async with asyncio.timeout(WITHIN_S / 2):
            await service.server.stop(0.05)
        await asyncio.wait_for(teller.left.wait(), WITHIN_S)
        watch.call.cancel()
    assert teller.tidings.qsize() > 0


async def test_a_reader_that_is_slow_holds_one_message_back_and_no_more() -> None:
    # Given a caller who reads nothing, and more than gRPC takes in
    teller = Teller()
    async with telling(teller) as service:
        for _ in range(100):
            teller.tell("x" * 100_000)
        watch = Watching(service)
        await watch.call.initial_metadata()
        # Then the rest is not even asked for: gRPC's own window is full long before
        left = -1
        while left != teller.tidings.qsize():
            left = teller.tidings.qsize()
            await asyncio.wait_for(service.fail(), WITHIN_S)
        assert left > 0
        # And once it reads, everything comes
        assert [await watch.cursor() for _ in range(100)] == ["x" * 100_000] * 100


async def test_who_calls_is_told_to_the_use_case() -> None:
    callers: list[Caller] = []
    teller = Teller()

    async def opened(caller: Caller, wanted: AuditFilter, cursor: str, *, from_beginning: bool) -> Teller | Refusal:
        callers.append(caller)
        return await teller.open(caller, wanted, cursor, from_beginning=from_beginning)

    async with running(use_cases(open_audit_watch=opened)) as service:
        teller.tell("a")
        assert await Watching(service).cursor() == "a"
    assert callers == [CALLER]
