"""Verbs of CapabilityService: issue, verify, commit, and read what was committed."""

from collections.abc import AsyncIterator, Iterable
from datetime import timedelta
from typing import Unpack
from uuid import uuid4

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.content import Content
from capability_authority.client.credentials import Reference
from capability_authority.client.errors import BindingMismatch
from capability_authority.client.presentations import explain, fingerprint_of, present, terms_of
from capability_authority.client.receipts import believed, name_of_tenant
from capability_authority.client.rpcs import RPCS
from capability_authority.client.statuses import KeyedCall
from capability_authority.client.times import duration_message
from capability_authority.client.values import (
    CapabilityVerdict,
    Committed,
    IssuedCapability,
    Receipt,
    RevisionLike,
)
from capability_authority.client.words import word_of
from capability_authority.offline import KeySet
from capability_authority.v1 import capability_service_pb2 as pb
from capability_authority.v1.errors_pb2 import ErrorReason
from capability_authority.v1.statements_pb2 import CommitReceipt, SignedStatement
from capability_authority.v1.types_pb2 import PrincipalRef

__all__ = ["CapabilityVerbs"]


class CapabilityVerbs(Connection):
    """Capabilities, commits and their receipts."""

    async def issue(  # noqa: PLR0913  # every term that the caller chooses by its name
        self,
        proposal: RevisionLike,
        *,
        validation_receipt: SignedStatement,
        decision_receipt: SignedStatement,
        holder: Reference | None = None,
        holder_key_id: str | None = None,
        audience: str | None = None,
        commit_idempotency_key: str | None = None,
        lifetime: timedelta | None = None,
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> IssuedCapability:
        """Get the right to commit exactly this revision once.

        The holder is the caller, with the key of its credentials, unless named otherwise. `commit_idempotency_key` is
        the only key under which it can be committed; one is made up when None, and the result has it. `lifetime` is
        from 1 second to 24 hours, 15 minutes when None. Asked again for the same holder, key and content: the same one.

        Raises `AuthorityError`: `NotAllowed`, `NotValidated`, `ApprovalRequired`, `PolicyDenied`, `Expired`,
        `IdempotencyConflict`, `AlreadyCommitted`.
        """
        holder = self.credentials.principal if holder is None else holder
        request = pb.IssueCapabilityRequest(
            request_id=request_id,
            proposal_id=proposal.proposal_id,
            proposal_revision=proposal.revision,
            holder=PrincipalRef(namespace=holder.namespace, id=holder.id),
            holder_key_id=self.credentials.key_id if holder_key_id is None else holder_key_id,
            audience=self.credentials.audience if audience is None else audience,
            commit_idempotency_key=str(uuid4()) if commit_idempotency_key is None else commit_idempotency_key,
            validation_receipt=validation_receipt,
            decision_receipt=decision_receipt,
            lifetime=duration_message(lifetime),
        )
        response = await self._send(request, pb.IssueCapabilityResponse, **options)
        statement, terms = terms_of(response.capability)
        return IssuedCapability(statement, terms, response.replayed)

    async def verify(
        self,
        capability: IssuedCapability | SignedStatement,
        *,
        content: Content | None = None,
        media_type: str | None = None,
        evidence_digests: Iterable[str] | None = None,
        commit_idempotency_key: str | None = None,
        **options: Unpack[CallOptions],
    ) -> CapabilityVerdict:
        """Ask whether a commit of this content would be judged good now.

        Without content only the capability is judged. Changes nothing, and a refusal of the capability is an answer.
        What else is None is taken from the capability.
        Raises `AuthorityError` when the question itself is refused.
        """
        statement, terms = terms_of(capability)
        request = pb.VerifyCapabilityRequest(capability=statement)
        if content is not None:
            presented = present(terms, content, media_type, evidence_digests, commit_idempotency_key)
            request.presentation.CopyFrom(presented)
        response = await self._send(request, pb.VerifyCapabilityResponse, **options)
        return CapabilityVerdict(
            granted=response.verdict == pb.VerifyCapabilityResponse.VERDICT_GRANTED,
            reason=word_of(ErrorReason, response.reason).upper() if response.reason else "",
            facts=dict(response.facts),
            receipt_id=response.receipt_id,
        )

    async def commit(
        self,
        capability: IssuedCapability | SignedStatement,
        *,
        content: Content,
        media_type: str | None = None,
        evidence_digests: Iterable[str] | None = None,
        commit_idempotency_key: str | None = None,
        verify: bool = True,
        **options: Unpack[CallOptions],
    ) -> Committed:
        """Consume the capability and write the memory, once; a retry with the same key gives the first result.

        What is None is taken from the capability; bytes have its media type unless told otherwise. The receipt is
        verified before it is returned, against the pinned issuer's keys (fetched before the commit, within its
        `timeout`, and kept for a while); with `verify=False` it is handed over as it came.

        Cancelling the call cancels the RPC, but a commit that has reached the database may still land: the same key
        finds it out. So it is with every error whose `outcome_unknown` is true.

        Raises `AuthorityError`: above all `BindingMismatch`, `IdempotencyConflict`, `Expired`, `Revoked`,
        `AlreadyCommitted`, `ReceiptRejected`; and `KeySetRefused` (of `offline`) before anything is sent, when the
        authority is not the pinned issuer.
        """
        statement, terms = terms_of(capability)
        presentation = present(terms, content, media_type, evidence_digests, commit_idempotency_key)
        request = pb.CommitValidatedRequest(capability=statement, presentation=presentation)
        remaining = self._started(options)
        if verify:
            await self._key_sets.current(**options)
        try:
            response = await self._send(request, pb.CommitValidatedResponse, **remaining())
        except BindingMismatch as error:
            raise explain(error, terms, presentation, self.credentials) from None
        if not verify:
            return Committed(_receipt(response, None), response.replayed)
        expected = {
            "commit_idempotency_key": presentation.commit_idempotency_key,
            "request_fingerprint": fingerprint_of(terms, presentation),
        }
        says = await self._believed(request, response, expected, presentation.content, **options)
        return Committed(_receipt(response, says), response.replayed)

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
        says = await self._believed(request, response, asked, content, **options) if verify else None
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

    async def key_set(self, *, refresh: bool = False, **options: Unpack[CallOptions]) -> KeySet:
        """The pinned issuer's keys, to verify statements with `capability_authority.offline`.

        At most five minutes old; `refresh` fetches them again. Raises `KeySetRefused` (of `offline`) when the
        authority is not the pinned issuer, and `AuthorityError`.
        """
        since = self._now() if refresh else None
        return await self._key_sets.current(at_least_since=since, **options)

    async def _believed(
        self,
        request: pb.CommitValidatedRequest | pb.GetCommitReceiptRequest,
        response: pb.CommitValidatedResponse | pb.GetCommitReceiptResponse,
        expected: dict[str, str],
        content: bytes | None,
        **options: Unpack[CallOptions],
    ) -> CommitReceipt:
        name = "CommitValidated" if isinstance(request, pb.CommitValidatedRequest) else "GetCommitReceipt"
        tenant = name_of_tenant(*self.credentials.tenant)
        return await believed(
            self._key_sets,
            KeyedCall.of(RPCS[name], request).failure(None, ""),
            response.receipt,
            attestation=_attestation(response),
            content=content,
            # What stands beside the receipt is signed by nobody: it must agree with the receipt.
            expected={"receipt_id": response.receipt_id, "record_id": response.record_id, "tenant": tenant} | expected,
            **options,
        )


def _receipt(response: pb.CommitValidatedResponse | pb.GetCommitReceiptResponse, says: CommitReceipt | None) -> Receipt:
    return Receipt(response.receipt_id, response.record_id, response.receipt, _attestation(response), says)


def _attestation(response: pb.CommitValidatedResponse | pb.GetCommitReceiptResponse) -> SignedStatement | None:
    return response.attestation if response.HasField("attestation") else None
