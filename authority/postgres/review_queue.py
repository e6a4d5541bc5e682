"""What waits for persons, read as it stands."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.proposal import StoredProposal
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.review import AwaitedReview, unsure
from authority.domain.statement import Statement
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.proposals import FIRST_ID
from authority.postgres.sql import query
from authority.usecases.ports import Statements


@dataclass(frozen=True, slots=True)
class PostgresReviewQueue:
    """Implements `ports.ReviewQueue`."""

    database: Database
    statements: Statements

    def position_of(self, awaited: AwaitedReview) -> str:
        """Its time, and its id among those of one time."""
        return f"{awaited.proposal.revision.create_time}:{awaited.proposal.revision.proposal_id}"

    async def page(
        self,
        tenant: TenantRef,
        *,
        memory_namespace: str,
        apart: frozenset[PrincipalRef],
        after: str,
        size: int,
        now: Instant,
    ) -> Sequence[AwaitedReview]:
        """The oldest first after the position."""
        time, _, proposal_id = after.partition(":")
        async with self.database.transaction(tenant, read_only=True) as connection:
            found = await connection.fetch(
                query("review_page"),
                str(tenant),
                memory_namespace,
                sorted(map(str, apart)),
                now,
                Instant(int(time or 0)),
                proposal_id or FIRST_ID,
                size,
            )
        return [self._awaited(row, rows.stored_proposal(row)) for row in found]

    def _awaited(self, row: rows.Row, proposal: StoredProposal) -> AwaitedReview:
        validation = self.statements.open_validation(rows.statement(row))
        return AwaitedReview(
            proposal=proposal,
            findings=() if isinstance(validation, Refusal) else unsure(validation.receipt.findings),
            asking_policies=self._asking(row),
            persons_needed=row["persons_needed"],
            persons_approving=row["persons_approving"],
        )

    def _asking(self, row: rows.Row) -> tuple[str, ...]:
        if row["decision_payload"] is None:
            return ()
        key_id = rows.key_id_text(row["decision_key_id"])
        statement = Statement(row["decision_type"], row["decision_payload"], key_id, row["decision_signature"])
        decision = self.statements.open_decision(statement)
        return () if isinstance(decision, Refusal) else decision.receipt.determining_policies
