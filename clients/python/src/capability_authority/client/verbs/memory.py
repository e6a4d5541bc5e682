"""Verbs of MemoryService: read what was learned, and withdraw it."""

from collections.abc import AsyncIterator
from datetime import UTC
from typing import Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.values import Committed, MemoryRecord, RecordRevocation
from capability_authority.v1 import memory_service_pb2 as pb

__all__ = ["MemoryVerbs"]


class MemoryVerbs(Connection):
    """Learned memory. What is returned is evidence, never a permission."""

    async def get_record(self, record_id: str, **options: Unpack[CallOptions]) -> MemoryRecord:
        """Read one record. Raises `AuthorityError`, `NotFound` when it is absent or not visible to the caller."""
        request = pb.GetMemoryRecordRequest(record_id=record_id)
        return MemoryRecord((await self._send(request, pb.GetMemoryRecordResponse, **options)).record)

    async def list_records(
        self, *, memory_namespace: str, page_size: int = 0, **options: Unpack[CallOptions]
    ) -> AsyncIterator[MemoryRecord]:
        """Records that are visible to the caller, page after page, each page a call of its own.

        A page has 50 when `page_size` is 0, 200 at most, and fewer where content is long.
        """
        request = pb.ListMemoryRecordsRequest(memory_namespace=memory_namespace, page_size=page_size)
        while True:
            response = await self._send(request, pb.ListMemoryRecordsResponse, **options)
            for record in response.records:
                yield MemoryRecord(record)
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

    async def revoke_record(
        self,
        record: MemoryRecord | Committed | str,
        *,
        note: str = "",
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> RecordRevocation:
        """Withdraw a record for ever, named by itself, its commit or its id.

        By its holder, an admin or a user who decides, or its proposer unless that is an agent or a model. Once this
        returns nobody reads it any more, nor anything else there that says exactly the same, and only a new decision
        lets the same be committed again. Receipts stay. Revoked before, by whomever: the time of that.

        `note` says why, in at most 1,024 bytes. Raises `AuthorityError`: `NotFound` for what is not there or not yours;
        `IdempotencyConflict`.
        """
        record_id = record if isinstance(record, str) else record.record_id
        request = pb.RevokeRecordRequest(request_id=request_id, record_id=record_id, note=note)
        response = await self._send(request, pb.RevokeRecordResponse, **options)
        return RecordRevocation(response.revoke_time.ToDatetime(tzinfo=UTC), response.sequence, response.replayed)
