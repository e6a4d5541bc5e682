"""Looks through evidence for what it must not hold, with the validators that look for the same in proposals."""

from collections.abc import Callable

from authority.domain.material import Material
from authority.domain.validation import Judgement, ValidationOutcome
from authority.usecases.ports import DependencyUnavailable, ScreenedEvidence
from authority.validators.personal_data import PersonalData
from authority.validators.secret_detection import Secrets
from authority.validators.threads import Threads

_WITHIN_S = 30.0
"""More than either takes for the largest content on a slow machine."""


class ValidatorScreen:
    """Implements `ports.EvidenceScreen`. A credential of a known form is a secret; what only looks random is none."""

    def __init__(self, threads: Threads | None = None) -> None:
        self._threads = threads or Threads()
        self._secrets, self._personal_data = Secrets(), PersonalData()

    async def __call__(self, content: bytes, media_type: str) -> ScreenedEvidence:
        """What it found. Raises DependencyUnavailable when it could not look through all of it in time."""
        material = Material(content=content, media_type=media_type)
        secret = await self._judged("screen secrets", lambda: self._secrets.judge(material))
        if secret.outcome is ValidationOutcome.FAIL:
            return ScreenedEvidence(secret=secret.reason)
        personal = await self._judged("screen personal data", lambda: self._personal_data.judge(material))
        return ScreenedEvidence(personal_data=personal.reason)

    async def _judged(self, name: str, look: Callable[[], Judgement]) -> Judgement:
        """Whoever is cancelled meanwhile has put nothing."""
        try:
            return await self._threads.run(name, look, _WITHIN_S)
        except TimeoutError:
            raise DependencyUnavailable("evidence could not be looked through in time") from None
