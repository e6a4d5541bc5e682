"""Verbs of CapabilityService that commit, and read what was committed."""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, TypeVar, Unpack

from capability_authority.client.batches import BatchItem
from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.content import Content
from capability_authority.client.errors import AuthorityError, BindingMismatch, ReceiptRejected
from capability_authority.client.presentations import CommitItem, PreparedCommit, StreamedCommit
from capability_authority.client.receipts import believed, name_of_tenant
from capability_authority.client.rpcs import RPCS
from capability_authority.client.statuses import KeyedCall
from capability_authority.client.streams import STREAM_WINDOW
from capability_authority.client.values import Committed, IssuedCapability, Receipt
from capability_authority.v1 import capability_service_pb2 as pb
from capability_authority.v1.statements_pb2 import CommitReceipt, SignedStatement

__all__ = ["CommitVerbs"]

Asked = TypeVar("Asked")

_STREAM: Final = RPCS["StreamCommitValidated"]


class CommitVerbs(Connection):
    """Commits and their receipts."""

    async def commit(
        self,
        capability: IssuedCapability | SignedStatement,
        *,
        content: Content,
        media_type: str | None = None,
        evidence_digests: Iterable[str] | None = None,
        commit_idempotency_key: str | None = None,
        upstream_envelope: bytes | None = None,
        verify: bool = True,
        **options: Unpack[CallOptions],
    ) -> Committed:
        """Consume the capability and write the memory, once; a retry with the same key gives the first result.

        What is None is taken from the capability; bytes have its media type unless told otherwise. The receipt is
        verified before it is returned, against the pinned issuer's keys (fetched before the commit, within its
        `timeout`, and kept for a while); with `verify=False` it is handed over as it came.

        `upstream_envelope` is a signed envelope `cognitum.action.v1` for exactly this commit, as JSON text (made with
        `commit_action_envelope` and `sign_action_envelope` of `offline.upstream`): it proves the holder, and no
        Invocation is sent. It is good for five minutes; a later retry brings a fresh one.

        Cancelling the call cancels the RPC, but a commit that has reached the database may still land: the same key
        finds it out. So it is with every error whose `outcome_unknown` is true.

        Raises `AuthorityError`: above all `BindingMismatch`, `IdempotencyConflict`, `Expired`, `Revoked`,
        `AlreadyCommitted`, `ReceiptRejected`; and `KeySetRefused` (of `offline`) before anything is sent, when the
        authority is not the pinned issuer.
        """
        item = CommitItem(
            capability,
            content=content,
            media_type=media_type,
            evidence_digests=evidence_digests,
            commit_idempotency_key=commit_idempotency_key,
        )
        prepared = PreparedCommit.of(item, upstream_envelope)
        call = KeyedCall.of(RPCS["CommitValidated"], prepared.request)
        remaining = self._started(options)
        if verify:
            await self._key_sets.current(**options)
        try:
            response = await self._send(prepared.request, pb.CommitValidatedResponse, **remaining())
        except BindingMismatch as error:
            raise prepared.explain(error, self.credentials) from None
        return await self._committed(call, prepared, response, verify=verify, **options)

    async def commit_batch(
        self, commits: Iterable[CommitItem], *, verify: bool = True, **options: Unpack[CallOptions]
    ) -> list[Committed | AuthorityError]:
        """Commit many: for each, in order, what `commit` would return, or the exception that it would raise.

        They go in as few calls as fit (512 commits and 3 MiB each), one call after the other; in a call the first of
        those that contend wins. A call that fails is tried again as a whole, a commit refused for now by itself.
        `timeout` is for all of it, so give many commits more. One that was not sent before the time was up is a
        `DeadlineExceeded` whose `outcome_unknown` is false.

        Cancelling gives up the call under way and those that would follow; the same keys tell what happened.

        Raises, before anything is sent, what is wrong with any of the requests (`JsonError`, `StatementError`,
        `ValueError`, with a note that names the item), and `KeySetRefused` or `AuthorityError` when the keys cannot be
        had by which receipts are verified.
        """
        prepared = [_prepared(index, item) for index, item in enumerate(commits)]
        rpc, key_field = RPCS["BatchCommitValidated"], "commit_idempotency_key"
        items = [BatchItem(KeyedCall(rpc, key_field, one.idempotency_key), one.request) for one in prepared]
        remaining = self._started(options)
        if verify and items:
            await self._key_sets.current(**options)
        await self._send_batch(rpc, items, **remaining())
        remaining, arrived = self._started(options), self._now()
        return [
            await self._outcome(item, one, verify=verify, arrived=arrived, **remaining())
            for item, one in zip(items, prepared, strict=True)
        ]

    async def commit_stream(
        self,
        commits: AsyncIterable[CommitItem] | Iterable[CommitItem],
        *,
        window: int = STREAM_WINDOW,
        verify: bool = True,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[StreamedCommit, None]:
        """Commit what comes, for as long as it comes: each with what `commit` would return or raise, as it is settled.

        Outcomes come in the order in which they are settled, not in that of `commits`. At most `window` commits are
        taken before the first of them is handed over, so whoever is slow to read is slow to send. They go over one
        stream after the other, for none lives longer than five minutes, and whatever has no outcome when one ends is
        sent again, with the same key. `timeout` is for each commit, from when it is taken.

        Leaving the loop early, or cancelling, gives up what is under way; the same keys tell what happened. A loop that
        may be left early belongs into `contextlib.aclosing`.

        Raises, once everything that was taken has come out: what `commits` raised, what is wrong with one of them
        (`JsonError`, `StatementError`, `ValueError`), or the `AuthorityError` with which the stream itself was refused,
        such as `CallerUnauthenticated`; and at once `KeySetRefused` or `AuthorityError` when the keys cannot be had by
        which receipts are verified.
        """
        streamed = self._stream_batch(_STREAM, _streamed(commits), window, **options)
        if verify:
            await self._key_sets.current(**options)
        async with aclosing(streamed.settled()) as settled:
            async for item in settled:
                arrived = self._now()
                outcome = await self._outcome(item, item.prepared, verify=verify, arrived=arrived, **options)
                yield StreamedCommit(item.asked, item.prepared.idempotency_key, outcome)

    async def commit_requests(
        self,
        requests: AsyncIterable[pb.StreamCommitValidatedRequest] | Iterable[pb.StreamCommitValidatedRequest],
        *,
        window: int = STREAM_WINDOW,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[tuple[int, pb.CommitValidatedResponse | AuthorityError], None]:
        """As `commit_stream`, for who has the messages: nothing is filled in, and no receipt is verified.

        Yields the tag of each request with the answer to it. Raises what `requests` raised, once everything that was
        taken has come out, and the `AuthorityError` with which the stream itself was refused.
        """
        streamed = self._stream_batch(_STREAM, _tagged(requests), window, **options)
        async with aclosing(streamed.settled()) as settled:
            async for item in settled:
                assert isinstance(item.answer, pb.CommitValidatedResponse | AuthorityError)
                yield item.tag, item.answer

    async def get_receipt(
        self,
        *,
        receipt_id: str | None = None,
        record_id: str | None = None,
        commit_idempotency_key: str | None = None,
        content: bytes | None = None,
        verify: bool = True,
        **options: Unpack[CallOptions],
    ) -> Receipt:
        """Read one receipt, by exactly one of its id, its record or a commit key of the caller.

        It is verified as `commit` does; when `content` is given, it must be for exactly these bytes. Raises
        `ValueError` for none or several names, and `AuthorityError`: `NotFound`, `ReceiptRejected`.
        """
        names = {"receipt_id": receipt_id, "record_id": record_id, "commit_idempotency_key": commit_idempotency_key}
        asked = {name: value for name, value in names.items() if value is not None}
        if len(asked) != 1:
            raise ValueError(f"name a receipt by exactly one of: {', '.join(names)}")
        request = pb.GetCommitReceiptRequest(**asked)
        response = await self._send(request, pb.GetCommitReceiptResponse, **options)
        call = KeyedCall(RPCS["GetCommitReceipt"])
        says = await self._believed(call, response, asked, content, **options) if verify else None
        return _receipt(response, says)

    async def list_receipts(
        self, *, memory_namespace: str, page_size: int = 0, **options: Unpack[CallOptions]
    ) -> AsyncIterator[Receipt]:
        """Receipts as they are listed, page after page, each page a call of its own.

        They are not verified, for a list brings no attestations: `get_receipt` verifies one. A page has 50 when
        `page_size` is 0, 200 at most.
        """
        request = pb.ListCommitReceiptsRequest(memory_namespace=memory_namespace, page_size=page_size)
        while True:
            response = await self._send(request, pb.ListCommitReceiptsResponse, **options)
            for entry in response.receipts:
                yield Receipt(entry.receipt_id, entry.record_id, entry.receipt, None, None)
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

    async def verify_receipt(
        self,
        statement: SignedStatement,
        *,
        attestation: SignedStatement | None = None,
        content: bytes | None = None,
        **options: Unpack[CallOptions],
    ) -> CommitReceipt:
        """What a receipt says, verified with the pinned issuer's keys as `commit` does.

        Raises `StatementError` (of `offline`) when it proves nothing, and `KeySetRefused` or `AuthorityError` when the
        keys cannot be had.
        """
        return await self._key_sets.verify_receipt(statement, attestation=attestation, content=content, **options)

    async def _outcome(
        self, item: BatchItem, prepared: PreparedCommit, *, verify: bool, arrived: float, **options: Unpack[CallOptions]
    ) -> Committed | AuthorityError:
        answer = item.answer
        if isinstance(answer, BindingMismatch):
            return prepared.explain(answer, self.credentials)
        if isinstance(answer, AuthorityError):
            return answer
        assert isinstance(answer, pb.CommitValidatedResponse)
        try:
            return await self._committed(item.call, prepared, answer, verify=verify, arrived=arrived, **options)
        except ReceiptRejected as error:
            return error

    async def _committed(
        self,
        call: KeyedCall,
        prepared: PreparedCommit,
        response: pb.CommitValidatedResponse,
        *,
        verify: bool,
        arrived: float | None = None,
        **options: Unpack[CallOptions],
    ) -> Committed:
        """The result, once its receipt is believed; raises `ReceiptRejected`."""
        if not verify:
            return Committed(_receipt(response, None), response.replayed, response.revision_token)
        expected = {
            "commit_idempotency_key": prepared.idempotency_key,
            "request_fingerprint": prepared.fingerprint,
        }
        says = await self._believed(call, response, expected, prepared.content, arrived=arrived, **options)
        return Committed(_receipt(response, says), response.replayed, response.revision_token)

    async def _believed(
        self,
        call: KeyedCall,
        response: pb.CommitValidatedResponse | pb.GetCommitReceiptResponse,
        expected: dict[str, str],
        content: bytes | None,
        *,
        arrived: float | None = None,
        **options: Unpack[CallOptions],
    ) -> CommitReceipt:
        tenant = name_of_tenant(*self.credentials.tenant)
        return await believed(
            self._key_sets,
            call.failure(None, ""),
            response.receipt,
            attestation=_attestation(response),
            content=content,
            # What stands beside the receipt is signed by nobody: it must agree with the receipt.
            expected={"receipt_id": response.receipt_id, "record_id": response.record_id, "tenant": tenant} | expected,
            arrived=arrived,
            **options,
        )


def _prepared(index: int, item: CommitItem) -> PreparedCommit:
    try:
        return PreparedCommit.of(item)
    except Exception as error:
        error.add_note(f"item {index} of the batch, of which nothing was sent")
        raise


@dataclass(slots=True, kw_only=True)
class _Streamed(BatchItem):
    """An item of a stream, and what it was made from."""

    asked: CommitItem
    prepared: PreparedCommit

    @classmethod
    def of(cls, asked: CommitItem) -> "_Streamed":
        prepared = PreparedCommit.of(asked)
        call = KeyedCall(_STREAM, "commit_idempotency_key", prepared.idempotency_key)
        return cls(call, prepared.request, asked=asked, prepared=prepared)


@dataclass(slots=True, kw_only=True)
class _Tagged(BatchItem):
    """An item of a stream, as its caller calls it."""

    tag: int


async def _tagged(
    requests: AsyncIterable[pb.StreamCommitValidatedRequest] | Iterable[pb.StreamCommitValidatedRequest],
) -> AsyncIterator[_Tagged]:
    async for one in _coming(requests):
        call = KeyedCall(_STREAM, "commit_idempotency_key", one.commit.presentation.commit_idempotency_key)
        yield _Tagged(call, one.commit, tag=one.tag)


async def _streamed(commits: AsyncIterable[CommitItem] | Iterable[CommitItem]) -> AsyncIterator[_Streamed]:
    async for one in _coming(commits):
        yield _Streamed.of(one)


async def _coming(source: AsyncIterable[Asked] | Iterable[Asked]) -> AsyncIterator[Asked]:
    if isinstance(source, AsyncIterable):
        async for one in source:
            yield one
    else:
        for one in source:
            yield one


def _receipt(response: pb.CommitValidatedResponse | pb.GetCommitReceiptResponse, says: CommitReceipt | None) -> Receipt:
    return Receipt(response.receipt_id, response.record_id, response.receipt, _attestation(response), says)


def _attestation(response: pb.CommitValidatedResponse | pb.GetCommitReceiptResponse) -> SignedStatement | None:
    return response.attestation if response.HasField("attestation") else None
