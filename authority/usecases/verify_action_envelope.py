"""Judges for another verifier what a signed envelope's ids stand for."""

from dataclasses import dataclass

from authority.domain.identity import Caller, require_service
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.usecases.admit import Admit


@dataclass(frozen=True, slots=True)
class EnvelopeQuestion:
    """The envelope without its signature, as JSON, and what its signer's key is called there."""

    envelope_json: bytes
    key_name: str


@dataclass(frozen=True, slots=True)
class EnvelopeVerdict:
    """What stands against the envelope on either side; None allows it."""

    policy: Refusal | None
    capability: Refusal | None
    receipt_id: str = ""
    """Of the commit that consumed the capability."""


@dataclass(frozen=True, slots=True)
class VerifyActionEnvelope:
    """The verdict is data; only a call that cannot be judged is refused."""

    admit: Admit

    async def __call__(self, caller: Caller, question: EnvelopeQuestion) -> EnvelopeVerdict | Refusal:  # noqa: ARG002
        """Refusals: NOT_ALLOWED unless a service asks; NOT_IMPLEMENTED."""
        return await self.admit(caller) or require_service(caller) or Refusal(Reason.NOT_IMPLEMENTED)
