"""Load and size are bounded by the transport itself (cases F05, F13)."""

import asyncio
from typing import Any

from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from tests.integration.rpc.running import PROOF, running, use_cases

CREATE = "/capability_authority.v1.ProposalService/CreateProposal"
MIB = 1024 * 1024


def _with_content(total: int) -> bytes:
    """A proposal of so many bytes in all, most of them content."""
    content = total - 5
    length = bytes((content & 127 | 128, content >> 7 & 127 | 128, content >> 14 & 127 | 128, content >> 21))
    return b"\x2a" + length + b"x" * content


async def test_f05_four_mebibytes_are_refused_by_our_own_limit_and_one_byte_more_by_grpc() -> None:
    # Given a good request but for its content.
    head = b"\x0a\x01r\x1a\x01n\x20\x01"

    async with running(use_cases()) as service:
        largest = await service.fail(CREATE, head + _with_content(4 * MIB - len(head)))
        larger = await service.fail(CREATE, head + _with_content(4 * MIB - len(head) + 1))

    # Then our own words name the field as long as the message arrives at all.
    assert (largest.code.name, largest.reason) == ("INVALID_ARGUMENT", "LIMIT_EXCEEDED")
    assert largest.violation == ("content", "at most 1048576 bytes")
    assert (larger.code.name, larger.status) == ("RESOURCE_EXHAUSTED", None)


async def test_g16_metadata_over_eight_kibibytes_is_refused_every_time() -> None:
    async def refuse(*_: object, **__: object) -> Refusal:
        return Refusal(Reason.NOT_FOUND)

    async with running(use_cases(get_record=refuse)) as service:
        fitting = [await service.fail(metadata=(*PROOF, ("padding", "x" * 6000))) for _ in range(5)]
        larger = [await service.fail(metadata=(*PROOF, ("padding", "x" * 9000))) for _ in range(8)]

    assert {failure.reason for failure in fitting} == {"NOT_FOUND"}
    assert {(failure.code.name, failure.status) for failure in larger} == {("RESOURCE_EXHAUSTED", None)}


async def test_f13_no_more_calls_run_at_once_than_allowed() -> None:
    # Given a server of two calls, and a use case that waits.
    entered, may_end = asyncio.Semaphore(0), asyncio.Event()
    most = running_now = 0

    async def wait(*_: object, **__: object) -> Refusal:
        nonlocal most, running_now
        running_now += 1
        most = max(most, running_now)
        entered.release()
        await may_end.wait()
        running_now -= 1
        return Refusal(Reason.NOT_FOUND)

    async with running(use_cases(get_record=wait), concurrent_rpcs=2) as service:
        first = [asyncio.ensure_future(service.fail()) for _ in range(2)]
        await entered.acquire()
        await entered.acquire()

        # When others call meanwhile, from connections of their own.
        others = [(await service.fail_elsewhere()).code.name for _ in range(3)]
        may_end.set()
        codes = [(await call).reason for call in first]

    # Then the others are refused and the first two served.
    assert others == ["RESOURCE_EXHAUSTED"] * 3
    assert codes == ["NOT_FOUND"] * 2
    assert most == 2


async def test_f13_cancelled_calls_leave_nothing_running() -> None:
    # Given many calls on one connection, each cancelled as soon as it runs.
    entered, running_now = asyncio.Semaphore(0), 0

    async def wait(*_: object, **__: object) -> None:
        nonlocal running_now
        running_now += 1
        entered.release()
        try:
            await asyncio.Event().wait()
        finally:
            running_now -= 1

    async def refuse(*_: object, **__: object) -> Refusal:
        return Refusal(Reason.NOT_FOUND)

    async with running(use_cases(get_record=wait, get_proposal=refuse), concurrent_rpcs=50) as service:
        for _ in range(6):
            calls = [asyncio.ensure_future(service.fail()) for _ in range(40)]
            for _ in calls:
                await entered.acquire()
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

            # When a normal caller comes meanwhile, then it is served.
            normal = await service.fail(
                "/capability_authority.v1.ProposalService/GetProposal",
                b"\x0a\x24" + b"01234567-89ab-cdef-0123-456789abcdef",
                wait_for_ready=True,
            )
            assert normal.reason == "NOT_FOUND"
            async with asyncio.timeout(20):
                while running_now:
                    await asyncio.get_running_loop().run_in_executor(None, lambda: None)


async def test_f13_watches_of_health_leave_room_for_calls() -> None:
    # Given as many watches, which need no proof, as calls may run at once, some of them on other connections.
    async def refuse(*_: object, **__: object) -> Refusal:
        return Refusal(Reason.NOT_FOUND)

    watch_of = health_pb2.HealthCheckRequest()
    async with running(use_cases(get_record=refuse), concurrent_rpcs=100) as service:
        stub = health_pb2_grpc.HealthStub(service.channel)
        watches = [stub.Watch(watch_of) for _ in range(100)]
        told = await asyncio.gather(*(watch.read() for watch in watches), return_exceptions=True)
        refused = [answer for answer in told if isinstance(answer, aio.AioRpcError)]

        # When others call, then they are served: the watches beyond a bound were refused.
        assert (await service.fail_elsewhere()).reason == "NOT_FOUND"
        assert len(refused) == 36
        assert {answer.code().name for answer in refused} == {"RESOURCE_EXHAUSTED"}

        # And when one watcher goes away, another may come.
        watches[told.index(next(answer for answer in told if answer not in refused))].cancel()
        async with asyncio.timeout(20):
            while isinstance(await _watched(stub.Watch(watch_of)), aio.AioRpcError):
                pass


async def _watched(watch: "aio.UnaryStreamCall[Any, Any]") -> object:
    try:
        return await watch.read()
    except aio.AioRpcError as error:
        return error
