"""What every withdrawal does beside its own change: locks before it reads, and tells the feed (data.md, lock order)."""

from authority.domain.references import TenantRef
from authority.domain.revocation import Revoked
from authority.postgres.connections import Connection
from authority.postgres.sql import query


async def lock_tenant(connection: Connection, tenant: TenantRef) -> None:
    """Waits for the tenant's running commits and keeps others out, until this transaction ends.

    The global lock is shared, and before the tenant's is taken alone: a withdrawal in every tenant has it alone. So no
    two withdrawals that one feed tells run at once, and whoever has seen one has seen every earlier one.
    """
    await connection.execute(query("share_global_lock"))
    await connection.execute(query("take_tenant_lock"), str(tenant))


async def append_revocation(connection: Connection, revoked: Revoked, *, sequence: int | None = None) -> None:
    """Tells the feed of a withdrawal, in the transaction that makes it, once that has `lock_tenant` or the global lock.

    `sequence` is the place that the withdrawal has drawn already (a tombstone's); the next is drawn when it is None.
    Told before, nothing is told. Raises asyncpg.PostgresError, which must end the transaction.
    """
    await connection.execute(
        query("append_revocation"),
        str(revoked.tenant),
        sequence,
        revoked.kind.value,
        revoked.subject,
        revoked.memory_namespace,
        revoked.content_digest,
        revoked.revoke_time,
    )
