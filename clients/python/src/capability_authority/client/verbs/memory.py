"""Verbs of MemoryService: read what was learned, find it, cite it, withdraw and correct it."""

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import Final, Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.content import Content, content_bytes
from capability_authority.client.grant_values import HeldGrant
from capability_authority.client.memory_values import AggregateCount, Citation, RecallHit
from capability_authority.client.times import time_message
from capability_authority.client.values import (
    Committed,
    MemoryRecord,
    Proposal,
    RecordRevocation,
)
from capability_authority.client.words import (
    MemoryType,
    Provenance,
    Visibility,
    memory_type_number,
    name_of,
    visibility_number,
    word_of,
)
from capability_authority.v1 import memory_service_pb2 as pb
from capability_authority.v1 import types_pb2

__all__ = ["MemoryVerbs"]

_RECALL_SIZE: Final = 100
"""Hits of one answer, at most."""


class MemoryVerbs(Connection):
    """Learned memory. What is returned is evidence, never a permission."""

    async def get_record(
        self, record_id: str, *, include_unvalidated: bool = False, **options: Unpack[CallOptions]
    ) -> MemoryRecord:
        """Read one record. Raises `AuthorityError`, `NotFound` when it is absent or not visible to the caller.

        What was written without validation is absent where the memory namespace enforces, unless it is asked for.
        """
        request = pb.GetMemoryRecordRequest(record_id=record_id, include_unvalidated=include_unvalidated)
        return MemoryRecord((await self._send(request, pb.GetMemoryRecordResponse, **options)).record)

    async def list_records(
        self,
        *,
        memory_namespace: str,
        page_size: int = 0,
        include_unvalidated: bool = False,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[MemoryRecord]:
        """Records that are visible to the caller, page after page, each page a call of its own.

        A page has 50 when `page_size` is 0, 200 at most, and fewer where content is long.
        Where the memory namespace enforces, what was written without validation is left out unless it is asked for.
        """
        request = pb.ListMemoryRecordsRequest(
            memory_namespace=memory_namespace, page_size=page_size, include_unvalidated=include_unvalidated
        )
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
        return RecordRevocation(
            response.revoke_time.ToDatetime(tzinfo=UTC), response.sequence, response.replayed, response.revision_token
        )

    async def correct(  # noqa: PLR0913  # every field of a proposal by its name
        self,
        record: MemoryRecord | Committed | str,
        *,
        content: Content,
        media_type: str | None = None,
        memory_type: MemoryType | None = None,
        source_refs: Iterable[str] = (),
        subject_refs: Iterable[str] = (),
        evidence_digests: Iterable[str] = (),
        validator_profile: str = "",
        visibility: Visibility | None = None,
        visibility_scope: str = "",
        valid_from_time: datetime | None = None,
        valid_until_time: datetime | None = None,
        record_expire_time: datetime | None = None,
        correlation_id: str = "",
        costs: Iterable[types_pb2.Cost] = (),
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> Proposal:
        """Open a proposal whose commit takes the place of a record, named by itself, its commit or its id.

        What is said is as for `propose`; the memory namespace is the record's, and so are type and visibility unless
        given. Nothing changes before the proposal is validated, decided, issued and committed like any other. Of
        several corrections of one record the first that is committed wins, the others are `NotValidated`; once the
        record is revoked they are all `Revoked`.

        Raises `JsonError` or `ValueError` for content that cannot be sent, and `AuthorityError`: `NotAllowed` without
        the rights `propose` and `read`, `NotFound` for a record that is not there or not visible to the caller.
        """
        data, kind = content_bytes(content, media_type)
        request = pb.CorrectRecordRequest(
            request_id=request_id,
            record_id=record if isinstance(record, str) else record.record_id,
            memory_type=memory_type_number(memory_type),
            content=data,
            media_type=kind,
            source_refs=source_refs,
            subject_refs=subject_refs,
            evidence_digests=evidence_digests,
            validator_profile=validator_profile,
            visibility=visibility_number(visibility),
            visibility_scope=visibility_scope,
            valid_from_time=time_message(valid_from_time),
            valid_until_time=time_message(valid_until_time),
            record_expire_time=time_message(record_expire_time),
            correlation_id=correlation_id,
            costs=costs,
        )
        return Proposal((await self._send(request, pb.CorrectRecordResponse, **options)).proposal)

    async def recall(  # noqa: PLR0913  # every filter by its name
        self,
        query: str,
        *,
        memory_namespace: str,
        limit: int = 20,
        memory_types: Iterable[MemoryType] = (),
        provenances: Iterable[Provenance] = (),
        source_refs: Iterable[str] = (),
        subject_refs: Iterable[str] = (),
        created_after_time: datetime | None = None,
        created_before_time: datetime | None = None,
        at_least_as_fresh_as: str = "",
        include_unvalidated: bool = False,
        grant: HeldGrant | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[RecallHit]:
        """Find records by the words of their content, the best match first, `limit` of them at most.

        All words of the query are wanted, `or` between two wants either, "quotes" want a phrase, a minus sign before a
        word excludes it. Every filter that is given narrows, and all hold together; of the values of one filter a
        record has at least one. Long answers come page by page, each page a call of its own.

        `at_least_as_fresh_as` is the `revision_token` of a commit or a revocation: what was written by then is known to
        the answer. A replica that lags is asked again until it does, within `timeout`.

        Under a `grant` that the caller holds, what its subject is shown is found, by the subject's right.

        Raises `AuthorityError`: `Malformed`, `NotAllowed` without the right `read`, `Unavailable`; under a grant also
        `GrantExceeded` with its `dimension`, `Expired`, `Revoked`, `HolderMismatch`.
        """
        request = pb.RecallRecordsRequest(
            memory_namespace=memory_namespace,
            query=query,
            memory_types=[memory_type_number(word) for word in memory_types],
            provenances=[types_pb2.Provenance.Value(name_of(types_pb2.Provenance, word)) for word in provenances],
            source_refs=source_refs,
            subject_refs=subject_refs,
            created_after_time=time_message(created_after_time),
            created_before_time=time_message(created_before_time),
            at_least_as_fresh_as=at_least_as_fresh_as,
            include_unvalidated=include_unvalidated,
            grant=None if grant is None else grant.statement,
            grant_ancestors=() if grant is None else grant.ancestors,
        )
        while limit > 0:
            request.page_size = min(limit, _RECALL_SIZE)
            response = await self._send(request, pb.RecallRecordsResponse, **options)
            for hit in response.hits:
                yield _recall_hit(hit)
            limit -= len(response.hits)
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

    async def recall_aggregate(
        self, name: str, *, memory_namespace: str, grant: HeldGrant, **options: Unpack[CallOptions]
    ) -> list[AggregateCount]:
        """Figures of other tenants' memory, by month and type: about how many records were committed, in whole tens.

        By a `grant` for the resource `aggregate/NAME` alone. Raises `AuthorityError`: `NotAllowed`, `NotFound` for an
        aggregate that no operator made for this tenant and memory namespace, and what the grant is refused for.
        """
        request = pb.RecallRecordsRequest(
            memory_namespace=memory_namespace,
            aggregate=name,
            grant=grant.statement,
            grant_ancestors=grant.ancestors,
        )
        response = await self._send(request, pb.RecallRecordsResponse, **options)
        return [
            AggregateCount(
                memory_type=word_of(types_pb2.MemoryType, count.memory_type),
                month=count.month.ToDatetime(tzinfo=UTC),
                records=count.records,
            )
            for count in response.aggregate_counts
        ]

    async def cite(
        self,
        record_id: str,
        *,
        citing_kind: str,
        citing_ref: str,
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> Citation:
        """Say that something of yours rests on a record: it is found when the record is revoked.

        `citing_kind` is a word such as "answer"; `citing_ref` says which one, in at most 512 bytes. The same thing
        cites a record once: told again, the first citation is returned.

        Raises `AuthorityError`, `NotFound` when the record is absent or not visible to the caller.
        """
        request = pb.RegisterCitationRequest(
            request_id=request_id, record_id=record_id, citing_kind=citing_kind, citing_ref=citing_ref
        )
        return Citation((await self._send(request, pb.RegisterCitationResponse, **options)).citation)

    async def citations(
        self,
        *,
        record_id: str = "",
        memory_namespace: str = "",
        content_digest: str = "",
        page_size: int = 0,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[Citation]:
        """What cites a record or, with `memory_namespace` and `content_digest`, every record with this content.

        In the order in which it was told, page after page, also of what is revoked since. A page has 50 when
        `page_size` is 0, 200 at most. Raises `ValueError` unless exactly one of the two is named, and `AuthorityError`.
        """
        if bool(record_id) == bool(content_digest):
            raise ValueError("name either record_id, or content_digest with its memory_namespace")
        request = pb.ListCitationsRequest(page_size=page_size)
        if record_id:
            request.record_id = record_id
        else:
            request.content.memory_namespace, request.content.content_digest = memory_namespace, content_digest
        while True:
            response = await self._send(request, pb.ListCitationsResponse, **options)
            for citation in response.citations:
                yield Citation(citation)
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token


def _recall_hit(hit: pb.RecallRecordsResponse.Hit) -> RecallHit:
    observe_time = hit.observe_time.ToDatetime(tzinfo=UTC)
    return RecallHit(MemoryRecord(hit.record), hit.score_millionths / 1_000_000, observe_time)
