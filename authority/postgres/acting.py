"""An operator's act: one transaction with its audit event, a withdrawal alone under the tenant's lock."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from authority.domain.references import Instant, TenantRef
from authority.postgres import audit
from authority.postgres.connections import Connection, Database
from authority.postgres.withdrawing import lock_tenant
from authority.usecases.administer import operator_event


@dataclass(slots=True)
class Act:
    """An act under way, and what its audit event will say of the state before."""

    connection: Connection
    previous: str = ""
    changed: bool = True


@contextlib.asynccontextmanager
async def act_of(
    database: Database,
    tenant: TenantRef,
    kind: str,
    subject: str,
    next_state: str,
    now: Instant,
    *,
    withdraws: bool = False,
) -> AsyncIterator[Act]:
    """The act of the block: told in the audit log when the block ends well, undone when it raises."""
    async with database.transaction(tenant) as connection:
        if withdraws:
            await lock_tenant(connection, tenant)
        act = Act(connection)
        yield act
        if act.changed:
            await audit.append(connection, operator_event(tenant, kind, subject, (act.previous, next_state), now))
