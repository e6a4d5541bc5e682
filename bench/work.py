"""What a client process is told to do: prepared before the clock runs, judged after it has stopped."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from grpc import aio

from capability_authority.client import Credentials
from capability_authority.client.proofs import Prover


class WentWrong(Exception):
    """Something else than what was to be measured has happened."""


class Requests:
    """The requests that this process alone sends, each once; those that were sent last can be had again."""

    def __init__(self, messages: Iterator[bytes]) -> None:
        self._messages = messages
        self._last: list[bytes] = []

    def take(self, count: int) -> list[bytes]:
        """The next ones. Raises WentWrong when fewer were seeded than are asked for."""
        self._last = list(islice(self._messages, count))
        if len(self._last) < count:
            raise WentWrong("fewer requests were seeded than are asked for")
        return self._last

    def again(self, count: int) -> list[bytes]:
        """Of those that were taken last."""
        return self._last[:count]


@dataclass(frozen=True, slots=True)
class Materials:
    """What work is prepared from."""

    requests: Requests
    address: str
    holder: Credentials
    proposer: Credentials

    def prove(self, path: str, data: bytes) -> bytes:
        """The holder's proof of a call: fresh for five minutes, one that opens a stream for one."""
        return Prover(self.holder).prove(path, data)


@dataclass(frozen=True, slots=True)
class Sent:
    """What came back. Nobody has looked into the answers."""

    answers: Sequence[bytes]
    latencies: Sequence[float]
    """Seconds, one for each call; on a stream, for each item."""


class Prepared(ABC):
    """Work that only has to be sent."""

    @abstractmethod
    async def send(self, channels: Sequence[aio.Channel], concurrent: int) -> Sent:
        """Sends all of it, so much at once, over the channels in turn. Raises what the service refuses."""

    @abstractmethod
    def judge(self, answers: Sequence[bytes]) -> int:
        """How many operations were done. Raises WentWrong for any that was not what was to be measured."""


class Work(ABC):
    """An order for a client process, small enough to be sent to it."""

    @abstractmethod
    def prepare(self, materials: Materials) -> Prepared:
        """Everything that need not be measured."""
