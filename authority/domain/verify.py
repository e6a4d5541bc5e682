"""Judges a commit capability and what is presented with it, changing nothing."""

from dataclasses import dataclass

from authority.domain import limits
from authority.domain.capability import CommitCapability, OpenedCapability, Presentation
from authority.domain.decision import COMMIT_ACTION
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal, binding_mismatch, highest


@dataclass(frozen=True, slots=True)
class Granted:
    """The capability allows this presentation, as far as its own terms say; live state is judged at commit."""


@dataclass(frozen=True, slots=True)
class Here:
    """Who this authority is: the issuer whose capabilities count and the audience it answers to."""

    issuer: str
    audience: str


def verify(
    capability: OpenedCapability,
    signature_refusal: Refusal | None,
    presentation: Presentation | None,
    presented_key: bytes | None,
    here: Here,
    now: Instant,
) -> Granted | Refusal:
    """The highest refusal of the capability's terms, or Granted.

    `signature_refusal` is what the key set says of the statement's signature. `presentation`, and `presented_key`, the
    thumbprint of the key that the holder proved, are None when only the statement itself is judged.
    Refusals: SIGNATURE_INVALID, ISSUER_UNKNOWN, KEY_REVOKED, BINDING_MISMATCH `term`, NOT_YET_VALID, EXPIRED.
    """
    terms = capability.terms
    refusal = highest(
        (
            signature_refusal,
            None if terms.issuer == here.issuer else Refusal(Reason.ISSUER_UNKNOWN),
            _first_mismatch(terms, presentation, presented_key, here),
            judge_time(terms, now),
        )
    )
    return refusal or Granted()


def judge_time(terms: CommitCapability, now: Instant) -> Refusal | None:
    """NOT_YET_VALID beyond the skew, EXPIRED at the boundary itself and after (case E12)."""
    if now < terms.not_before_time - limits.NOT_BEFORE_SKEW_MS:
        return Refusal(Reason.NOT_YET_VALID, {"not_before_time_ms": str(terms.not_before_time)})
    if now >= terms.expire_time:
        return Refusal(Reason.EXPIRED, {"expire_time_ms": str(terms.expire_time)})
    return None


def _first_mismatch(
    terms: CommitCapability, presentation: Presentation | None, presented_key: bytes | None, here: Here
) -> Refusal | None:
    claimed: list[tuple[str, object]] = [("audience", here.audience)]
    if presented_key is not None:
        claimed.append(("holder_key", presented_key))
    claimed.append(("action", COMMIT_ACTION))
    if presentation is not None:
        claimed.append(("content_digest", presentation.content_digest))
        claimed.append(("media_type", presentation.media_type))
        claimed.append(("evidence_digests", presentation.evidence_digests))
        claimed.append(("commit_idempotency_key", presentation.commit_idempotency_key))
    return next((binding_mismatch(term) for term, value in claimed if getattr(terms, term) != value), None)
