"""Verbs of MemoryService: read what was learned."""

from collections.abc import AsyncIterator
from typing import Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.values import MemoryRecord
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
