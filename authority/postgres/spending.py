"""Spends what a use of a grant costs, inside a transaction of whoever uses it."""

from dataclasses import dataclass
from typing import Final

from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.postgres.connections import Connection, Refused
from authority.postgres.sql import query
from authority.usecases.ports import Spend

_DIMENSIONS: Final = frozenset({"uses", "tokens", "usd_micros", "concurrency"})


@dataclass(frozen=True, slots=True)
class Use:
    """What a grant is used for, and what that costs."""

    action: str
    spend: Spend
    proposal_id: str | None = None
    """Of the revision that it is spent on; None for a read, which leaves nothing behind."""
    revision: int | None = None


async def hold_grant(connection: Connection, tenant: TenantRef, digest: bytes) -> None:
    """Has whoever else spends of the chain wait until the transaction ends. Comes before request ids are taken."""
    await connection.execute(query("hold_grant"), str(tenant), digest)


async def spend_grant(connection: Connection, tenant: TenantRef, use: Use, now: Instant) -> None:
    """Spends it along the whole chain. Raises Refused, which undoes the transaction, with `why_unspent`."""
    against = await connection.fetchval(
        query("spend_grant"),
        str(tenant),
        use.spend.grant_digest,
        use.action,
        use.proposal_id,
        use.revision,
        use.spend.tokens,
        use.spend.usd_micros,
        now,
    )
    if against is not None:
        raise Refused(why_unspent(against))


def why_unspent(against: str) -> Refusal:
    """BUDGET_EXHAUSTED with its `dimension`, or KEY_REVOKED, EXPIRED or REVOKED: in the words of the functions."""
    if against in _DIMENSIONS:
        return Refusal(Reason.BUDGET_EXHAUSTED, {"dimension": against})
    return Refusal(Reason[against], {"field": "grant"})
