"""The one link to Redis: commands that wait go together, every wait is bounded, a failing server is left alone."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog
from redis.asyncio import Redis

from authority.domain.references import SECOND
from authority.redis.health import RedisHealth, reason_of
from authority.redis.names import KeyNames
from authority.redis.round_trips import Argument, Command, RoundTrips
from authority.telemetry import spans
from authority.telemetry.names import DATABASE, REDIS_ASK
from authority.usecases.ports import Clock

_log = structlog.get_logger(__name__)

_PROBE_LIFE_MS = 1_000


def _tell_nobody(_: RedisHealth) -> None:
    """Nobody listens."""


class RedisAwayError(Exception):
    """Redis gave no answer to a command: it failed, did not answer in time, or is being left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSettings:
    """How long Redis is waited for, and how much may wait for it."""

    wait_ms: int = 50
    """One round trip; a command waits for at most two of them, the one under way and its own."""
    pause_ms: int = 1_000
    """How long Redis is left alone after a failure, and between attempts to meet it again."""
    recover_ms: int = 1_000
    """Connecting again and one write. No call waits for it, so it may last longer than `wait_ms`."""
    round_trip_commands: int = 256
    waiting_commands: int = 4_096
    linger_ms: int = 3
    """How long what is only told waits for company, when nothing is asked meanwhile."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    command: Command
    reply: asyncio.Future[object] | None
    """None when nobody waits for it."""


class RedisLink:
    """Sends commands to Redis, in the order in which they came: those that wait go in one round trip.

    What is asked goes as soon as the previous round trip ended, what is told soon, most often along with the next
    question. Callers wait for their reply and never read it themselves, so one that is cancelled disturbs nobody (case
    B01).
    After a failure of any kind (refused, hung, READONLY, OOM, LOADING, MISCONF, a cluster's errors) the connection is
    dropped and Redis is left alone until a write succeeds again, tried once a pause: a hang costs the commands under
    way one wait and those after it nothing, and nothing needs a restart (cases B05, B07, B08).

    The link owns the client and closes it. `pause` waits so many seconds.
    """

    def __init__(
        self,
        client: Redis,
        names: KeyNames,
        clock: Clock,
        settings: LinkSettings | None = None,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._round_trips = RoundTrips(client)
        self._probe: Command = ("SET", names.probe(), "", "PX", _PROBE_LIFE_MS)
        self._clock = clock
        self._settings = settings or LinkSettings()
        self._pause = pause
        self._told: Callable[[RedisHealth], None] = _tell_nobody
        self._waiting: list[_Waiting] = []
        self._asked = 0
        self._linger: asyncio.TimerHandle | None = None
        self._sender: asyncio.Task[None] | None = None
        self._recovery: asyncio.Task[None] | None = None
        self._closed = False
        self._health = RedisHealth(available=True, reason="", since=clock.now())

    @property
    def health(self) -> RedisHealth:
        """How Redis is, as last met."""
        return self._health

    def watch(self, told: Callable[[RedisHealth], None]) -> None:
        """Has `told` hear the health: now, and from now on whenever Redis went or came back."""
        self._told = told
        told(self._health)

    async def look(self) -> None:
        """Writes once, unless Redis is being left alone already: the health is then no older than this."""
        if not self._recovery:
            with suppress(RedisAwayError):
                await self.ask(*self._probe)

    async def ask(self, *command: Argument) -> object:
        """The reply to one command. Raises RedisAwayError.

        A command whose caller goes away is sent nevertheless.
        """
        with spans.below_of(REDIS_ASK, str(command[0])) as span:
            span.set(DATABASE, "redis")
            try:
                return await self._reply(command)
            except RedisAwayError as away:
                span.fail(type(away.__cause__ or away).__name__)
                raise

    async def _reply(self, command: Command) -> object:
        reply = asyncio.get_running_loop().create_future()
        if not self._put(_Waiting(command, reply)):
            raise RedisAwayError
        self._begin()
        answer = await reply
        if isinstance(answer, Exception):
            raise RedisAwayError from answer
        return answer

    def tell(self, *command: Argument) -> None:
        """Has the command sent soon; whether it reaches Redis nobody hears. Nothing raised, nothing waited for."""
        if self._put(_Waiting(command, None)) and not self._sender and not self._linger:
            loop = asyncio.get_running_loop()
            self._linger = loop.call_later(self._settings.linger_ms / SECOND, self._begin)

    async def heard(self) -> None:
        """Waits until what was told last has its reply, or is given up. Raises nothing."""
        if self._waiting:
            last = self._waiting[-1]
            reply = last.reply or asyncio.get_running_loop().create_future()
            if last.reply is None:
                self._waiting[-1] = _Waiting(last.command, reply)
                self._asked += 1
            self._begin()
            with spans.below_of(REDIS_ASK, "what was told") as span:
                span.set(DATABASE, "redis")
                await asyncio.wait({reply})

    async def flush(self) -> None:
        """Waits until what was told so far is sent, or given up."""
        while self._waiting and not self._recovery:
            self._begin()
            if self._sender:
                await asyncio.wait({self._sender})

    async def aclose(self) -> None:
        """Sends what was told, and closes the client; what is asked or told later is given up."""
        self._closed = True
        await self.flush()
        tasks = [task for task in (self._sender, self._recovery) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # A sender that was cancelled before its first step has answered nobody.
        self._give_up(RedisAwayError())
        await self._round_trips.aclose()

    def _put(self, waiting: _Waiting) -> bool:
        """Whether there is room for it, and a server."""
        if self._closed or self._recovery or len(self._waiting) >= self._settings.waiting_commands:
            self._health = self._health.without_answer(1)
            return False
        self._waiting.append(waiting)
        self._asked += waiting.reply is not None
        return True

    def _begin(self) -> None:
        if self._linger:
            self._linger.cancel()
            self._linger = None
        if self._sender is None and self._waiting:
            self._sender = asyncio.create_task(self._send())

    async def _send(self) -> None:
        """Sends what waits, and again what was asked meanwhile; what was only told meanwhile waits for company."""
        try:
            await self._send_group()
            while self._asked and not self._recovery:
                await self._send_group()
        finally:
            self._sender = None
            if self._recovery:
                self._give_up(RedisAwayError())
            elif self._waiting:
                self._linger = asyncio.get_running_loop().call_later(self._settings.linger_ms / SECOND, self._begin)

    async def _send_group(self) -> None:
        most = self._settings.round_trip_commands
        group, self._waiting = self._waiting[:most], self._waiting[most:]
        self._asked -= sum(one.reply is not None for one in group)
        replies: Sequence[object] = [RedisAwayError()] * len(group)
        try:
            replies = await self._round_trips.send([one.command for one in group], self._settings.wait_ms / SECOND)
        except Exception as fault:  # noqa: BLE001 - no fault of what only hastens may fail a commit
            replies = [fault] * len(group)
        finally:
            for one, reply in zip(group, replies, strict=True):
                _answer(one, reply)
        faults = [reply for reply in replies if isinstance(reply, Exception)]
        if faults:
            self._health = self._health.without_answer(len(faults))
            self._leave_alone(faults[0])

    def _give_up(self, fault: Exception) -> None:
        waiting, self._waiting, self._asked = self._waiting, [], 0
        self._health = self._health.without_answer(len(waiting))
        for one in waiting:
            _answer(one, fault)

    def _leave_alone(self, fault: Exception) -> None:
        self._note(fault)
        self._recovery = asyncio.create_task(self._recover())

    async def _recover(self) -> None:
        while True:
            await self._round_trips.drop_connections()
            await self._pause(self._settings.pause_ms / SECOND)
            fault = await self._write_fault()
            if fault is None:
                break
            self._note(fault)
        self._recovery = None
        went = self._health
        self._health = went.recovered(self._clock.now())
        _log.info("redis_back", away_ms=self._health.since - went.since, unanswered=went.unanswered)
        self._told(self._health)

    async def _write_fault(self) -> Exception | None:
        """Why a write fails: a server that is full, or only lets itself be read, is of no use either."""
        try:
            replies = await self._round_trips.send([self._probe], self._settings.recover_ms / SECOND)
        except Exception as fault:  # noqa: BLE001 - as in _send_group
            return fault
        return next((reply for reply in replies if isinstance(reply, Exception)), None)

    def _note(self, fault: Exception) -> None:
        reason, before = reason_of(fault), self._health
        if reason != before.reason:
            _log.warning("redis_away", reason=reason)
        self._health = before.failed(reason, self._clock.now())
        if before.available:
            self._told(self._health)


def _answer(waiting: _Waiting, reply: object) -> None:
    if waiting.reply and not waiting.reply.done():
        waiting.reply.set_result(reply)
