"""Request ids: the same request again is answered with what it made; another one under its id is a conflict."""

from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.postgres.connections import Connection, Refused, await_standby
from authority.postgres.sql import query
from authority.usecases.ports import RequestMark

_CONFLICT = Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})


async def claim_request(connection: Connection, mark: RequestMark, answer: str, now: Instant) -> str | None:
    """None when the id is ours from now on, else the answer that it was given first.

    `answer` is the key of what this transaction is about to make. Waits while another transaction uses the same id.
    Raises Refused with IDEMPOTENCY_CONFLICT when the id was used for another request.
    """
    tenant, principal = str(mark.tenant), str(mark.principal)
    claimed = await connection.fetchval(
        query("claim_request"), tenant, principal, mark.request_id, mark.digest, answer, now
    )
    if claimed is not None:
        return None
    # A new statement and so a new snapshot: the row that was in our way is durable and visible.
    earlier = await find_request(connection, mark)
    if earlier is None:
        raise Refused(_CONFLICT)
    return earlier


async def find_request(connection: Connection, mark: RequestMark) -> str | None:
    """The answer that the id was given first, None when it was never used; takes nothing.

    Raises Refused with IDEMPOTENCY_CONFLICT when the id was used for another request.
    """
    key = (str(mark.tenant), str(mark.principal), mark.request_id)
    row = await connection.fetchrow(query("request_by_id"), *key)
    if row is None:
        return None
    if row["digest"] != mark.digest:
        raise Refused(_CONFLICT)
    await await_standby(connection)
    return str(row["answer"])
