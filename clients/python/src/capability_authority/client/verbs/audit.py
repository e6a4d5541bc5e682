"""Verbs of AuditService: who changed what, page by page or as it happens."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Unpack

from capability_authority.client.audit_values import AuditEvent, AuditNews
from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.credentials import Reference
from capability_authority.client.times import time_message
from capability_authority.v1 import audit_service_pb2 as pb
from capability_authority.v1.types_pb2 import PrincipalRef

__all__ = ["AuditVerbs"]


class AuditVerbs(Connection):
    """The audit log of the tenant, for its admins. Conditions that are left out hold for every event."""

    async def list_audit_events(
        self,
        *,
        kind: str = "",
        actor: Reference | None = None,
        subject: str = "",
        correlation_id: str = "",
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        oldest_first: bool = False,
        page_size: int = 0,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[AuditEvent]:
        """Events of `[start_time, end_time)`, page after page, each page a call of its own; the newest first.

        What becomes visible while pages are turned may be missing: `watch_audit_events` misses nothing.
        Raises `AuthorityError`, `NotAllowed` for whoever is no admin.
        """
        request = pb.ListAuditEventsRequest(
            filter=_filter(kind, actor, subject, correlation_id),
            start_time=time_message(start_time),
            end_time=time_message(end_time),
            oldest_first=oldest_first,
            page_size=page_size,
        )
        while True:
            response = await self._send(request, pb.ListAuditEventsResponse, **options)
            for event in response.events:
                yield AuditEvent(event)
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

    async def watch_audit_events(
        self,
        *,
        kind: str = "",
        actor: Reference | None = None,
        subject: str = "",
        correlation_id: str = "",
        cursor: str = "",
        from_beginning: bool = False,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[AuditNews, None]:
        """Events as they become visible: each once, none left out, for as long as they are asked for.

        With the cursor of an earlier message, of the same caller and conditions, it goes on after that; without one it
        begins now, or `from_beginning`. A stream that ends or is cut is followed by another, by itself. Without events
        a message comes about every ten seconds.

        Raises `AuthorityError`: `NotAllowed` for whoever is no admin, `CallerUnauthenticated` once it is revoked,
        `Malformed` for a cursor of a database that was restored or failed over since.
        """
        request = pb.WatchAuditEventsRequest(
            filter=_filter(kind, actor, subject, correlation_id), cursor=cursor, from_beginning=from_beginning
        )

        def take_in(message: pb.WatchAuditEventsResponse) -> None:
            request.cursor, request.from_beginning = message.cursor, False

        async with aclosing(self._watch(request, pb.WatchAuditEventsResponse, take_in, **options)) as messages:
            async for message in messages:
                yield _news(message)


def _filter(kind: str, actor: Reference | None, subject: str, correlation_id: str) -> pb.AuditFilter:
    ref = None if actor is None else PrincipalRef(namespace=actor.namespace, id=actor.id)
    return pb.AuditFilter(kind=kind, actor=ref, subject=subject, correlation_id=correlation_id)


def _news(message: pb.WatchAuditEventsResponse) -> AuditNews:
    as_of = message.as_of_time.ToDatetime(tzinfo=UTC) if message.HasField("as_of_time") else None
    return AuditNews(tuple(map(AuditEvent, message.events)), message.cursor, as_of)
