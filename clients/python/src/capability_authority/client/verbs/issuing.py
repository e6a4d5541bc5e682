"""Verbs of CapabilityService that get capabilities."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Unpack

from capability_authority.client.batches import BatchItem
from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.credentials import Reference
from capability_authority.client.errors import AuthorityError, TransportError
from capability_authority.client.grant_values import HeldGrant
from capability_authority.client.issue_items import IssueItem
from capability_authority.client.presentations import terms_of
from capability_authority.client.rpcs import RPCS
from capability_authority.client.statuses import KeyedCall
from capability_authority.client.values import IssuedCapability, RevisionLike
from capability_authority.offline import StatementError
from capability_authority.v1 import capability_service_pb2 as pb
from capability_authority.v1.statements_pb2 import SignedStatement

__all__ = ["IssuingVerbs"]


class IssuingVerbs(Connection):
    """The rights to commit."""

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
        grant: HeldGrant | None = None,
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> IssuedCapability:
        """Get the right to commit exactly this revision once.

        The holder is the caller, with the key of its credentials, unless named otherwise. `commit_idempotency_key` is
        the only key under which it can be committed; one is made up when None, and the result has it. `lifetime` is
        from 1 second to 24 hours, 15 minutes when None. Asked again for the same holder, key and content: the same one;
        once it was revoked, a request id that was used before is `Revoked`, and a new one gets a new capability.
        Under a `grant` that the caller holds its subject's right counts in place of the caller's; a new capability
        costs one use of it and of each ancestor, and what the proposal has cost; one that is found costs nothing.

        Raises `AuthorityError`: `NotAllowed`, `NotValidated`, `ApprovalRequired`, `PolicyDenied`, `Expired`, `Revoked`,
        `IdempotencyConflict`, `AlreadyCommitted`; under a grant also `GrantExceeded`, `BudgetExhausted` (each with its
        `dimension`), `HolderMismatch`, `SignatureInvalid`, `IssuerUnknown`, `KeyRevoked`.
        """
        item = IssueItem(
            proposal,
            validation_receipt=validation_receipt,
            decision_receipt=decision_receipt,
            holder=holder,
            holder_key_id=holder_key_id,
            audience=audience,
            commit_idempotency_key=commit_idempotency_key,
            lifetime=lifetime,
            grant=grant,
            request_id=request_id,
        )
        response = await self._send(item.request(self.credentials), pb.IssueCapabilityResponse, **options)
        return _issued(response)

    async def issue_batch(
        self, items: Iterable[IssueItem], **options: Unpack[CallOptions]
    ) -> list[IssuedCapability | AuthorityError]:
        """Get many capabilities: for each, in order, what `issue` would return, or the exception that it would raise.

        They go in as few calls as fit (512 items and 3 MiB each), one call after the other; each is answered as if one
        were asked for after the other, so that the first of those that contend wins. A call that fails is tried again
        as a whole, an item refused for now by itself. `timeout` is for all of it, so give many items more. One that was
        not sent before the time was up is a `DeadlineExceeded` whose `outcome_unknown` is false.

        Keys that are not given are made up: give those of what may have to be asked for again by another process.
        Raises `ValueError` for a lifetime that no duration can be, before anything is sent.
        """
        rpc = RPCS["BatchIssueCapabilities"]
        requests = [item.request(self.credentials) for item in items]
        asked = [BatchItem(KeyedCall(rpc, "request_id", one.request_id), one) for one in requests]
        await self._send_batch(rpc, asked, **options)
        return [_outcome(one) for one in asked]


def _outcome(item: BatchItem) -> IssuedCapability | AuthorityError:
    answer = item.answer
    if isinstance(answer, AuthorityError):
        return answer
    assert isinstance(answer, pb.IssueCapabilityResponse)
    try:
        return _issued(answer)
    except StatementError as error:
        failure = TransportError(item.call.failure(None, f"what came as the capability cannot be read: {error}"))
        return failure.after(item.attempts, in_doubt=True)


def _issued(response: pb.IssueCapabilityResponse) -> IssuedCapability:
    statement, terms = terms_of(response.capability)
    return IssuedCapability(statement, terms, response.replayed)
