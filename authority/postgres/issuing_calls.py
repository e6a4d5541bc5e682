"""The two calls of issuing: what is known of many requests, and what stands for them or is kept."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.capability import OpenedCapability
from authority.domain.issuing import UNDOES_A_REVOCATION, IssuingFacts, IssuingQuestion
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.gathered_call import ask_apart, fetch_durably
from authority.postgres.gathering import Again, Answer
from authority.postgres.offer_rows import offer_row, question_row, spend_rows
from authority.postgres.spending import why_unspent
from authority.postgres.sql import query
from authority.usecases.ports import Clock, IssuedCapability, Offer, Statements


@dataclass(frozen=True, slots=True)
class FactsCall:
    """Calls the function of the facts."""

    database: Database

    async def ask(self, questions: Sequence[IssuingQuestion]) -> list[Answer[IssuingFacts]]:
        """One answer each, in order; NOT_FOUND for a revision that there is not."""
        return await ask_apart("issuing facts", self._call, questions)

    async def _call(self, questions: Sequence[IssuingQuestion]) -> list[IssuingFacts | Refusal]:
        async with self.database.sending() as connection:
            sent = [question_row(question) for question in questions]
            found = {row["ordinal"]: row for row in await connection.fetch(query("issuing_facts"), sent)}
        absent = Refusal(Reason.NOT_FOUND, {"field": "proposal_id"})
        ordinals = range(1, len(questions) + 1)
        return [_facts(found[ordinal]) if ordinal in found else absent for ordinal in ordinals]


def _facts(row: rows.Row) -> IssuingFacts:
    proposal = rows.stored_proposal(row)
    return IssuingFacts(
        proposal=proposal,
        is_newest_revision=proposal.revision.revision == row["current_revision"],
        has_validation=row["has_validation"],
        has_decision=row["has_decision"],
        policy_version=row["policy_version"],
        holder=rows.principal(row) if row["principal"] else None,
        holder_key_active=row["has_holder_key"],
    )


@dataclass(frozen=True, slots=True)
class IssueCall:
    """Calls the function that issues. A clock farther than the bound from the database's issues nothing."""

    database: Database
    statements: Statements
    clock: Clock
    clock_bound: dt.timedelta

    async def ask(self, offers: Sequence[Offer]) -> list[Answer[IssuedCapability]]:
        """One answer each, in order. An offer that cannot be stored is told so, and takes no other with it."""
        return await ask_apart("issue", self._call, offers)

    async def _call(self, offers: Sequence[Offer]) -> list[Answer[IssuedCapability]]:
        sent = [offer_row(offer) for offer in offers]
        async with self.database.sending() as connection:
            # The time is read once the connection is had: times are judged by it.
            traces = [offer.mark.trace_id for offer in offers]
            arguments = (sent, self.clock.now(), self.clock_bound, traces, spend_rows(offers))
            found = await fetch_durably(connection, len(offers), query("issue"), *arguments)
        if found is None:
            return [Again.UNKNOWN] * len(offers)
        return [self._outcome(offer, row) for offer, row in zip(offers, found, strict=True)]

    def _outcome(self, offer: Offer, row: rows.Row) -> Answer[IssuedCapability]:
        match row["outcome"], offer.offered:
            case "issued", OpenedCapability() as kept:
                return IssuedCapability(kept, replayed=False)
            case "live", _:
                return self._live(offer, row)
            case "busy", _:
                return Again.BUSY
            case "spent" | "ungranted", _:
                return why_unspent(row["field"])
            case outcome, offered:
                return _refusal(outcome, offered, row)

    def _live(self, offer: Offer, row: rows.Row) -> IssuedCapability | Exception:
        offered = offer.offered
        if isinstance(offered, OpenedCapability) and offered.terms.capability_id == str(row["capability_id"]):
            # Kept by an earlier ask of this very offer, whose answer was lost.
            return IssuedCapability(offered, replayed=False)
        opened = self.statements.open_capability(rows.statement(row))
        if isinstance(opened, Refusal):
            return ValueError("a stored capability cannot be read")
        return IssuedCapability(opened, replayed=True)


def _refusal(outcome: str, offered: OpenedCapability | Refusal, row: rows.Row) -> Refusal | Exception:
    match outcome, offered:
        case "conflict", _:
            return Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": row["field"]})
        case "committed", _:
            return Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": str(row["receipt_id"])})
        case "revoked", _:
            return UNDOES_A_REVOCATION
        case "refused", Refusal() as carried:
            return carried
        case "late", _:
            # It waited for longer than the capability would have lived.
            return Refusal(Reason.OVERLOADED)
        case _:
            return ValueError(f"the function that issues answered {outcome!r}")
