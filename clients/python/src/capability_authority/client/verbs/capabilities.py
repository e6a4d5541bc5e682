"""Verbs of CapabilityService that get, judge and revoke capabilities, and tell the keys that sign them."""

from collections.abc import Iterable
from datetime import UTC, timedelta
from typing import Unpack
from uuid import uuid4

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.content import Content
from capability_authority.client.credentials import Reference
from capability_authority.client.presentations import present, terms_of
from capability_authority.client.times import duration_message
from capability_authority.client.values import CapabilityVerdict, IssuedCapability, RevisionLike, Revocation
from capability_authority.client.words import word_of
from capability_authority.offline import KeySet
from capability_authority.v1 import capability_service_pb2 as pb
from capability_authority.v1.errors_pb2 import ErrorReason
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority.v1.types_pb2 import PrincipalRef

__all__ = ["CapabilityVerbs"]


class CapabilityVerbs(Connection):
    """Capabilities, and the key set."""

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
        from 1 second to 24 hours, 15 minutes when None. Asked again for the same holder, key and content: the same one;
        once it was revoked, a request id that was used before is `Revoked`, and a new one gets a new capability.

        Raises `AuthorityError`: `NotAllowed`, `NotValidated`, `ApprovalRequired`, `PolicyDenied`, `Expired`, `Revoked`,
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

    async def revoke(
        self,
        capability: IssuedCapability | SignedStatement | str,
        *,
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> Revocation:
        """Withdraw a capability for ever, named by itself or by its id: as its holder, an admin, or who may issue.

        Once this returns, nothing is committed with it any more, and no commit that was on its way lands afterwards.
        Revoked before, by whomever: the time of that.

        Raises `AuthorityError`: `AlreadyCommitted` when it came too late, with the receipt's id; `NotFound` for what is
        not there or not yours; `IdempotencyConflict`.
        """
        capability_id = capability if isinstance(capability, str) else terms_of(capability)[1].capability_id
        request = pb.RevokeCapabilityRequest(request_id=request_id, capability_id=capability_id)
        response = await self._send(request, pb.RevokeCapabilityResponse, **options)
        return Revocation(response.revoke_time.ToDatetime(tzinfo=UTC), response.replayed)

    async def key_set(self, *, refresh: bool = False, **options: Unpack[CallOptions]) -> KeySet:
        """The pinned issuer's keys, to verify statements with `capability_authority.offline`.

        At most five minutes old; `refresh` fetches them again. Raises `KeySetRefused` (of `offline`) when the
        authority is not the pinned issuer, and `AuthorityError`.
        """
        since = self._now() if refresh else None
        return await self._key_sets.current(at_least_since=since, **options)
