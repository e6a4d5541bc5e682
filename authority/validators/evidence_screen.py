"""Looks through evidence for what it must not hold, with the validators that look for the same in proposals."""

from authority.domain.material import Material
from authority.domain.validation import Judgement, ValidationOutcome
from authority.usecases.ports import DependencyUnavailable, ScreenedEvidence
from authority.validators.catalog import Local, Missing, built_in
from authority.validators.judging import LOAD_WITHIN_S
from authority.validators.protocol import passes
from authority.validators.threads import Threads

_WITHIN_S = 30.0
"""More than either takes for the largest content on a slow machine."""


class ValidatorScreen:
    """Implements `ports.EvidenceScreen`. A credential of a known form is a secret; what only looks random is none.

    Both are imported when they are first asked. Without the extra `pii` nothing looks for personal data.
    """

    def __init__(self, threads: Threads | None = None) -> None:
        self._threads = threads or Threads()
        found = built_in()
        self._secrets, self._personal_data = found["secrets"], found["pii"]

    async def __call__(self, content: bytes, media_type: str) -> ScreenedEvidence:
        """What it found. Raises DependencyUnavailable when it could not look through all of it in time."""
        material = Material(content=content, media_type=media_type)
        secret = await self._judged(self._secrets, material)
        if secret.outcome is ValidationOutcome.FAIL:
            return ScreenedEvidence(secret=secret.reason)
        personal = await self._judged(self._personal_data, material)
        return ScreenedEvidence(personal_data=personal.reason)

    async def _judged(self, validator: Local | Missing, material: Material) -> Judgement:
        """Whoever is cancelled meanwhile has put nothing."""
        if isinstance(validator, Missing):
            return passes()
        name = f"screen {validator.name.name}"
        try:
            ready = await self._threads.run(name, validator.load, LOAD_WITHIN_S)
            return await self._threads.run(name, lambda: ready.judge(material), _WITHIN_S)
        except TimeoutError:
            raise DependencyUnavailable("evidence could not be looked through in time") from None
