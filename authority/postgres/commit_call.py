"""One call of the commit function for many plans, and what its answer means for each of them."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.action_envelope import NOT_BY_HOLDER
from authority.domain.plan import CommitOutcome, CommitPlan, Committed, Conflicting, StoredReceipt
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.postgres import rows
from authority.postgres.connections import Database
from authority.postgres.gathered_call import ask_apart, fetch_durably
from authority.postgres.gathering import Again, Answer
from authority.postgres.plan_rows import plan_row, proof_row
from authority.postgres.sql import query
from authority.usecases.ports import Clock


@dataclass(frozen=True, slots=True)
class CommitCall:
    """Calls the commit function. `source` names this authority in events."""

    database: Database
    clock: Clock
    source: str
    clock_bound: dt.timedelta

    async def ask(self, plans: Sequence[CommitPlan]) -> list[Answer[CommitOutcome]]:
        """One answer each, in order. A plan that cannot be stored is told so, and takes no other with it."""
        return await ask_apart("commit", self._call, plans)

    async def _call(self, plans: Sequence[CommitPlan]) -> Sequence[CommitOutcome | Again]:
        sent = [plan_row(plan) for plan in plans]
        proofs = [proof_row(at, plan.action_proof) for at, plan in enumerate(plans, start=1) if plan.action_proof]
        sql, given = (query("commit_by_envelope"), (sent, proofs)) if proofs else (query("commit"), (sent,))
        async with self.database.sending() as connection:
            # The time is read once the connection is had: times are judged by it.
            arguments = (*given, self.clock.now(), self.clock_bound, self.source)
            found = await fetch_durably(connection, len(plans), sql, *arguments)
        if found is None:
            return [Again.UNKNOWN] * len(plans)
        return [_outcome(plan, row) for plan, row in zip(plans, found, strict=True)]


def _outcome(plan: CommitPlan, row: rows.Row) -> CommitOutcome | Again:
    match row["outcome"]:
        case "committed":
            assert plan.receipt is not None
            own = StoredReceipt(plan.receipt_id, plan.record_id, plan.receipt, plan.claim.fingerprint)
            return Committed(own, replayed=False)
        case "replayed":
            # Our own receipt under the claim is an earlier ask of this very plan, whose answer was lost.
            receipt = rows.stored_receipt(row)
            return Committed(receipt, replayed=receipt.receipt_id != plan.receipt_id)
        case "conflict":
            return Conflicting(rows.stored_receipt(row))
        case "busy":
            return Again.BUSY
        case "refused":
            return _refusal(plan, row)
        case "stale":
            # The receipt key was revoked since the plan was made; the caller's next call signs with another.
            return Refusal(Reason.DEPENDENCY_UNAVAILABLE)
        case unknown:
            raise ValueError(f"the commit function answered {unknown!r}")


def _refusal(plan: CommitPlan, row: rows.Row) -> Refusal:
    if plan.refusal and plan.refusal.reason.name == row["reason"]:
        return plan.refusal
    if row["reason"] == Reason.PROOF_INVALID.name:
        # The key's name was taken back since it was looked up.
        return NOT_BY_HOLDER
    facts = {"term": row["term"], "receipt_id": row["receipt_id"] and str(row["receipt_id"])}
    return Refusal(Reason[row["reason"]], {name: value for name, value in facts.items() if value})
