"""The verb that writes memory without validation."""

from collections.abc import Iterable
from datetime import datetime
from typing import Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.content import Content, content_bytes
from capability_authority.client.credentials import Reference
from capability_authority.client.memory_values import UnvalidatedWrite
from capability_authority.client.times import time_message
from capability_authority.client.words import MemoryType, Visibility, memory_type_number, visibility_number
from capability_authority.v1 import memory_service_pb2 as pb
from capability_authority.v1 import types_pb2

__all__ = ["UnvalidatedVerbs"]


class UnvalidatedVerbs(Connection):
    """For programs from before the authority, until they propose and commit."""

    async def write_unvalidated(  # noqa: PLR0913  # every field of a record by its name
        self,
        *,
        memory_namespace: str,
        memory_type: MemoryType,
        content: Content,
        media_type: str | None = None,
        tenant: Reference | None = None,
        source_refs: Iterable[str] = (),
        subject_refs: Iterable[str] = (),
        visibility: Visibility | None = None,
        visibility_scope: str = "",
        valid_from_time: datetime | None = None,
        valid_until_time: datetime | None = None,
        record_expire_time: datetime | None = None,
        correlation_id: str = "",
        costs: Iterable[types_pb2.Cost] = (),
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> UnvalidatedWrite:
        """Write a record that nobody validates, where an operator lets the memory namespace take it.

        The record is marked wherever it is read. Where the memory namespace is observed, the answer says what would
        become of it under enforcement. `tenant` is whom the program means to write for: not the caller's own, it is
        refused.

        `visibility_scope` is the channel or team of the caller's that sees it, when that is the visibility.

        Raises `JsonError` or `ValueError` for content that cannot be sent, and `AuthorityError`: `NotValidated` where
        the memory namespace enforces, `PolicyDenied` where it is privileged, `NotAllowed` without the right `commit`,
        `HolderMismatch` for another tenant, `Revoked` for content that was revoked there.
        """
        data, kind = content_bytes(content, media_type)
        request = pb.WriteUnvalidatedRecordRequest(
            request_id=request_id,
            tenant=None if tenant is None else types_pb2.TenantRef(namespace=tenant.namespace, id=tenant.id),
            memory_namespace=memory_namespace,
            memory_type=memory_type_number(memory_type),
            content=data,
            media_type=kind,
            source_refs=source_refs,
            subject_refs=subject_refs,
            visibility=visibility_number(visibility),
            visibility_scope=visibility_scope,
            valid_from_time=time_message(valid_from_time),
            valid_until_time=time_message(valid_until_time),
            record_expire_time=time_message(record_expire_time),
            correlation_id=correlation_id,
            costs=costs,
        )
        return UnvalidatedWrite(await self._send(request, pb.WriteUnvalidatedRecordResponse, **options))
