"""Questions, offers and what they spend, as the functions of issuing take them: the columns of their types."""

from collections.abc import Sequence
from typing import Any

from authority.domain.capability import OpenedCapability
from authority.domain.issuing import IssuingQuestion
from authority.domain.refusal import Refusal
from authority.postgres.rows import key_id_bytes
from authority.usecases.ports import Offer


def question_row(question: IssuingQuestion) -> tuple[Any, ...]:
    """One element of the array of `issuing_question`."""
    return (
        str(question.tenant),
        question.proposal_id,
        question.proposal_revision,
        question.validation_digest,
        question.decision_digest,
        str(question.holder),
        key_id_bytes(question.holder_key_id),
    )


def offer_row(offer: Offer) -> tuple[Any, ...]:
    """One element of the array of `issue_offer`. A refused offer has nothing to keep."""
    mark, claim, offered = offer.mark, offer.claim, offer.offered
    return (
        str(mark.tenant),
        str(mark.principal),
        mark.request_id,
        mark.digest,
        str(claim.holder),
        claim.idempotency_key,
        claim.fingerprint,
        *((offered.reason.name, *_NOTHING) if isinstance(offered, Refusal) else (None, *_kept(offered))),
    )


def spend_rows(offers: Sequence[Offer]) -> list[tuple[Any, ...]]:
    """The array of `grant_spend`: an element for each offer that can be kept and is made under a grant."""
    return [
        (ordinal, str(offer.mark.tenant), spend.grant_digest, spend.tokens, spend.usd_micros)
        for ordinal, offer in enumerate(offers, start=1)
        if (spend := offer.spend) and not isinstance(offer.offered, Refusal)
    ]


def _kept(offered: OpenedCapability) -> tuple[Any, ...]:
    terms, statement = offered.terms, offered.statement
    return (
        terms.capability_id,
        offered.digest,
        terms.proposal_id,
        terms.proposal_revision,
        statement.payload_type,
        statement.payload,
        key_id_bytes(statement.key_id),
        statement.signature,
        terms.not_before_time,
        terms.expire_time,
        terms.correlation_id,
    )


_NOTHING = (None,) * 11
"""As many columns as `_kept` fills."""
