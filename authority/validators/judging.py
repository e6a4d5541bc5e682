"""The port `Validators`: asks each validator of a profile, and turns whatever comes of it into a finding."""

import asyncio
import contextlib
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import structlog

from authority.domain.likeness import Traits
from authority.domain.material import Material, Need
from authority.domain.search_text import search_text
from authority.domain.validation import CERTAIN, Finding, Judgement, Profile, ValidationOutcome
from authority.validators.catalog import Local
from authority.validators.hosted import Hosted
from authority.validators.profiles import Panel, Usable
from authority.validators.protocol import review
from authority.validators.threads import Threads

LOAD_WITHIN_S: Final = 60.0
"""How long the first use of a validator may take: it imports what it needs."""
FAILED: Final = "validator_failed"
TIMED_OUT: Final = "validator_timeout"
_REASON: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,127}")

_log = structlog.get_logger(__name__)


class InstalledValidators:
    """Asks the validators of this process and those that are hosted. A fault of one is a `review` of that one."""

    def __init__(self, panels: Mapping[str, Panel], threads: Threads | None = None) -> None:
        self._panels = panels
        self._threads = threads or Threads()

    def profile(self, name: str) -> Profile | None:
        """The profile, when this process has it."""
        found = self._panels.get(name)
        return found.profile if found else None

    def profiles(self) -> list[Panel]:
        """Every profile with its validators."""
        return list(self._panels.values())

    async def traits(
        self, profile: Profile, content: bytes, media_type: str, subject_refs: Sequence[str]
    ) -> Traits | None:
        """What contents are compared by, made as validators run; None when that failed."""
        if not profile.needs & {Need.NEAR, Need.ASSERTIONS}:
            return Traits()
        wants_near = Need.NEAR in profile.needs
        work = partial(_traits, content, media_type, tuple(subject_refs), wants_near=wants_near)
        try:
            return await self._threads.run("traits", work, LOAD_WITHIN_S)
        except (TimeoutError, RuntimeError) as error:
            _log.warning("contents could not be compared", error=str(error) or type(error).__name__)
            return None

    async def load(self, profile: Profile) -> None:
        """Imports what its validators need. What cannot be is told by their findings."""
        for one in self._panels[profile.name].validators:
            if isinstance(one, Local):
                with contextlib.suppress(TimeoutError, RuntimeError):
                    await self._threads.run(one.name.name, one.load, LOAD_WITHIN_S)

    async def judge(self, profile: Profile, material: Material) -> tuple[Finding, ...]:
        """A finding of every validator, in the profile's order; hosted ones and those of this process at a time."""
        validators = self._panels[profile.name].validators
        return tuple(await asyncio.gather(*(self._ask(validator, material) for validator in validators)))

    async def close(self) -> None:
        """Ends the connections to hosts."""
        hosted = {
            id(one): one for panel in self._panels.values() for one in panel.validators if isinstance(one, Hosted)
        }
        await asyncio.gather(*(one.close() for one in hosted.values()))

    async def _ask(self, validator: Usable, material: Material) -> Finding:
        try:
            answer: object = await self._answer(validator, material)
        except TimeoutError:
            answer = review(TIMED_OUT)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not pass, and no caller must see it
            _log.warning("validator failed", validator=validator.name.name, error=type(error).__name__)
            answer = review(FAILED)
        if not is_judgement(answer):
            _log.warning("validator answered garbage", validator=validator.name.name)
            answer = review(FAILED)
        assert isinstance(answer, Judgement)
        return validator.name.finds(answer)

    async def _answer(self, validator: Usable, material: Material) -> object:
        if isinstance(validator, Hosted):
            return await validator.judge(material)
        if validator.is_quick:
            return validator.load().judge(material)
        # Apart from its limit: what it imports is large, and is imported once.
        name = validator.name.name
        ready = await self._threads.run(name, validator.load, LOAD_WITHIN_S)
        return await self._threads.run(name, lambda: ready.judge(material), validator.limit_s)


def is_judgement(answer: object) -> bool:
    """Whether a validator answered what one may: garbage is never taken for a pass."""
    if not isinstance(answer, Judgement) or not isinstance(answer.outcome, ValidationOutcome):
        return False
    confidence, reason = answer.confidence_permille, answer.reason
    if type(confidence) is not int or not 0 <= confidence <= CERTAIN or type(reason) is not str:
        return False
    return reason == "" if answer.outcome is ValidationOutcome.PASS else _REASON.fullmatch(reason) is not None


def _traits(content: bytes, media_type: str, subject_refs: tuple[str, ...], *, wants_near: bool) -> Traits:
    from authority.validators import contradiction  # noqa: PLC0415 - beside the other, which is large

    assertions = contradiction.assertions_of(content, media_type, subject_refs)
    if not wants_near:
        return Traits(assertions=assertions)
    from authority.validators import near_duplicate  # noqa: PLC0415 - imports numpy

    signature = near_duplicate.signature_of(search_text(content, media_type).said)
    return Traits(signature, near_duplicate.bands_of(signature), assertions)
