"""Issued capabilities: one live for each key of a holder, and a key stands for one fingerprint for ever."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

from authority.domain.issuing import IssuingFacts, IssuingQuestion
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.fair_queue import Place
from authority.postgres.gathering import Gathering, GatheringSettings
from authority.postgres.issuing_calls import FactsCall, IssueCall
from authority.postgres.sql import query
from authority.usecases.ports import CapabilityFate, Clock, IssuedCapability, Offer, Statements

_BYTES = 1_024
"""About what a question holds, and an offer beside its payload."""


@dataclass(frozen=True, slots=True)
class IssuingSettings:
    """A clock farther than the bound from the database's issues nothing."""

    clock_bound_ms: int = 5_000
    gathering: GatheringSettings = field(default_factory=GatheringSettings)


class PostgresCapabilities:
    """Implements `ports.Capabilities`: what is asked at once goes together, in one call for facts, one for keeping.

    Any number may wait for one commit key: a capability that lives is found for all of them by one call.
    """

    def __init__(self, database: Database, statements: Statements, clock: Clock, settings: IssuingSettings) -> None:
        facts = FactsCall(database)
        issue = IssueCall(database, statements, clock, dt.timedelta(milliseconds=settings.clock_bound_ms))
        self._database = database
        self._questions: Gathering[IssuingQuestion, IssuingFacts] = Gathering(
            "issuing facts", facts.ask, _place_of_question, settings.gathering
        )
        self._offers: Gathering[Offer, IssuedCapability] = Gathering(
            "issue", issue.ask, _place_of_offer, settings.gathering
        )

    async def issuing_facts(
        self, questions: Sequence[IssuingQuestion], deadline: float
    ) -> list[IssuingFacts | Refusal | Exception]:
        """The facts of each; NOT_FOUND for a revision that there is not."""
        return await self._questions.ask_together(questions, deadline)

    async def issue(self, offers: Sequence[Offer], deadline: float) -> list[IssuedCapability | Refusal | Exception]:
        """Answers with what each commit key already stands for, or else keeps the offer.

        An offer is the same every time it is asked: if an earlier ask succeeded unheard, its capability is found.
        """
        return await self._offers.ask_together(offers, deadline)

    async def fate_of(self, tenant: TenantRef, capability_id: str) -> CapabilityFate | None:
        """What became of the capability."""
        async with self._database.transaction(tenant, read_only=True) as connection:
            row = await connection.fetchrow(query("capability_fate"), str(tenant), capability_id)
        if row is None:
            return None
        receipt_id = str(row["receipt_id"]) if row["receipt_id"] else None
        return CapabilityFate(rows.principal_ref(row["holder"]), receipt_id, row["state"] == "revoked")

    async def close(self) -> None:
        """Waits for everything that was taken in."""
        await self._questions.close()
        await self._offers.close()


def _place_of_question(question: IssuingQuestion) -> Place:
    return Place(question.tenant, None, _BYTES)


def _place_of_offer(offer: Offer) -> Place:
    payload = b"" if isinstance(offer.offered, Refusal) else offer.offered.statement.payload
    return Place(offer.claim.tenant, None, _BYTES + len(payload))
