"""What all rules share: the stage, the notes, and how an answer is held against what was foretold."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from itertools import count
from typing import Concatenate, ParamSpec, TypeVar

from hypothesis.stateful import RuleBasedStateMachine

from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.statement import KeyPurpose
from authority.signing.key_ring import MINTING
from tests.model.foretelling import Foretelling
from tests.model.notes import Notes
from tests.model.stages import Stage
from tests.world.world import Person, World, reason_of

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")
Machine = TypeVar("Machine", bound="Player")

DEFAULT_POLICY = "default"
_SHORT = 300


class Disagreement(AssertionError):
    """Something else came than was foretold."""


def played(
    method: Callable[Concatenate[Machine, Parameters], Awaitable[Answer]],
) -> Callable[Concatenate[Machine, Parameters], Answer]:
    """The coroutine as a step of the machine."""

    @wraps(method)
    def play(self: Machine, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        async def step() -> Answer:
            return await method(self, *args, **kwargs)

        return self.loop.run_until_complete(step())

    return play


class Player(RuleBasedStateMachine):
    """One run: a tenant that begins with nobody but its people, and with the default policy."""

    def __init__(self, open_stage: Callable[[], Stage]) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stage = open_stage()
        self.loop.run_until_complete(self.stage.begin())
        keys = {key.purpose: key.key_id for key in self.world.authority.ring.published()}
        self.notes = Notes(DEFAULT_POLICY, {purpose: keys[purpose] for purpose in MINTING})
        self.notes.learn_keys()
        self.notes.told.update(self.stage.audit() or {})
        self.foretelling = Foretelling(self.notes, self.stage.clock, self.stage.lease_ms)
        self._asked: dict[tuple[object, ...], tuple[str, object]] = {}
        self._numbers = count(1)

    def teardown(self) -> None:
        """Lets go of the servers."""
        self.loop.run_until_complete(self.stage.end())
        self.loop.close()

    @property
    def world(self) -> World:
        """The tenant as the process that runs now serves it."""
        return self.stage.world

    @property
    def signer(self) -> str:
        """The receipt key that this process signs with."""
        return self.notes.signing_here[KeyPurpose.RECEIPT]

    def request_id(self) -> str:
        """A new one."""
        return f"asked-{next(self._numbers)}"

    def agree(self, on: str, foretold: object, came: object) -> None:
        """Raises Disagreement when something else came."""
        if foretold != came:
            raise Disagreement(f"{on}: foretold {_shortly(foretold)}, came {_shortly(came)}")

    async def knock(self, person: Person) -> None:
        """Whoever is withdrawn is let in no more. What the rules call afterwards is a call let in a moment before."""
        withdrawn = {str(person.ref), person.key_id} & self.notes.withdrawn
        refused = Reason.CALLER_UNAUTHENTICATED if withdrawn else None
        self.agree(f"authenticating {person.ref}", refused, reason_of(await self.stage.knock(person)))

    async def ask(
        self,
        what: tuple[object, ...],
        foretold: Reason | None,
        call: Callable[[str], Awaitable[Answer | Refusal]],
        *,
        retry: bool,
    ) -> Answer | None:
        """The answer to a new request. None for a refusal, and for a retry, which must get the first answer again."""
        if retry and what in self._asked:
            request_id, first = self._asked[what]
            self.agree(f"a retry of {what[0]}", first, await call(request_id))
            return None
        request_id = self.request_id()
        answer = await call(request_id)
        self.agree(str(what[0]), foretold, reason_of(answer))
        if isinstance(answer, Refusal):
            return None
        self._asked[what] = (request_id, answer)
        return answer


def _shortly(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"
