"""The verbs of GrantService."""

from dataclasses import fields
from datetime import UTC, timedelta
from typing import Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.credentials import Reference
from capability_authority.client.grant_values import GrantStatus, GrantVerdict, HeldGrant
from capability_authority.client.times import duration_message
from capability_authority.client.values import Revocation
from capability_authority.client.words import word_of
from capability_authority.offline import GrantUse
from capability_authority.v1 import grant_service_pb2 as pb
from capability_authority.v1.errors_pb2 import ErrorReason
from capability_authority.v1.types_pb2 import PrincipalRef

__all__ = ["GrantVerbs"]


class GrantVerbs(Connection):
    """Authorizations that are used more than once, and handed on narrower."""

    async def issue_grant(
        self,
        terms: pb.GrantTerms,
        *,
        subject: Reference,
        holder: Reference,
        holder_key_id: str,
        lifetime: timedelta | None = None,
        policy_version: str = "",
        correlation_id: str = "",
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> HeldGrant:
        """Make a root: whoever holds it acts by the subject's rights, as far as `terms` (see `grant_terms`) allow.

        `lifetime` is from 1 second to 30 days, a day when None. `policy_version` is the digest of a policy: the grant
        is good for memory namespaces under it. It may be empty where all of the tenant are under one.

        Raises `AuthorityError`: `NotAllowed` without the right `issue`, or for a key that is not an active one of the
        holder; `NotFound` for the subject or the policy; `IdempotencyConflict`.
        """
        request = pb.IssueGrantRequest(
            request_id=request_id,
            subject=_ref(subject),
            holder=_ref(holder),
            holder_key_id=holder_key_id,
            terms=terms,
            lifetime=duration_message(lifetime),
            policy_version=policy_version,
            correlation_id=correlation_id,
        )
        response = await self._send(request, pb.IssueGrantResponse, **options)
        return HeldGrant(response.grant, (), response.replayed)

    async def exchange_grant(
        self,
        grant: HeldGrant,
        *,
        holder: Reference,
        holder_key_id: str,
        terms: pb.GrantTerms | None = None,
        lifetime: timedelta | None = None,
        correlation_id: str = "",
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> HeldGrant:
        """Have the authority make a child of a grant that the caller holds, for another holder.

        `terms` are no wider than the grant's in any dimension; None is all of them. `lifetime` None is as long as the
        grant lives. The subject stays; the caller joins those who act for it.

        Raises `AuthorityError`: `GrantExceeded` with the `dimension`, `HolderMismatch`, `Expired`, `Revoked`,
        `NotAllowed` for a key that is not an active one of the new holder, `IdempotencyConflict`.
        """
        request = pb.ExchangeGrantRequest(
            request_id=request_id,
            grant=grant.statement,
            grant_ancestors=grant.ancestors,
            holder=_ref(holder),
            holder_key_id=holder_key_id,
            terms=grant.narrowed() if terms is None else terms,
            lifetime=duration_message(lifetime),
            correlation_id=correlation_id,
        )
        response = await self._send(request, pb.ExchangeGrantResponse, **options)
        return HeldGrant(response.grant, (*grant.ancestors, grant.statement), response.replayed)

    async def revoke_grant(
        self, grant: HeldGrant | str, *, request_id: str = "", **options: Unpack[CallOptions]
    ) -> Revocation:
        """Withdraw a grant for ever, with all that was derived from it; named by itself, or by its digest.

        As its subject, its holder, the holder of an ancestor, an admin, or who may issue. Once this returns, nothing is
        issued by it any more, and no commit of what was lands. One that the authority has not met yet is presented.
        Revoked before, by whomever: the time of that.

        Raises `AuthorityError`: `NotFound` for what is not kept or not yours; `IdempotencyConflict`.
        """
        request = pb.RevokeGrantRequest(request_id=request_id)
        if isinstance(grant, str):
            request.grant_digest = grant
        else:
            request.grant.CopyFrom(grant.statement)
            request.grant_ancestors.extend(grant.ancestors)
        response = await self._send(request, pb.RevokeGrantResponse, **options)
        return Revocation(response.revoke_time.ToDatetime(tzinfo=UTC), response.replayed)

    async def get_grant(self, digest: str, **options: Unpack[CallOptions]) -> GrantStatus:
        """Read a grant that the authority made or has met, what became of it, and what was spent of it.

        Raises `AuthorityError`, `NotFound` for what is not kept or not yours.
        """
        response = await self._send(pb.GetGrantRequest(grant_digest=digest), pb.GetGrantResponse, **options)
        revoked = response.HasField("revoke_time")
        return GrantStatus(
            grant=HeldGrant(response.grant, tuple(response.grant_ancestors)),
            state=word_of(pb.GetGrantResponse.State, response.state),
            revoke_time=response.revoke_time.ToDatetime(tzinfo=UTC) if revoked else None,
            spent=response.spent,
        )

    async def verify_grant(
        self, grant: HeldGrant, *, use: GrantUse | None = None, **options: Unpack[CallOptions]
    ) -> GrantVerdict:
        """Ask whether a grant, with all its ancestors, is good now, and for this use of it.

        Changes nothing and spends nothing, and a refusal of the grant is an answer: `facts` names the `dimension`. What
        was withdrawn and what is used up (BUDGET_EXHAUSTED) counts, as it stands at this moment.

        Raises `AuthorityError` when the question itself is refused.
        """
        asked = None if use is None else _use(use)
        request = pb.VerifyGrantRequest(grant=grant.statement, grant_ancestors=grant.ancestors, use=asked)
        response = await self._send(request, pb.VerifyGrantResponse, **options)
        return GrantVerdict(
            granted=response.verdict == pb.VerifyGrantResponse.VERDICT_GRANTED,
            reason=word_of(ErrorReason, response.reason).upper() if response.reason else "",
            facts=dict(response.facts),
        )


def _use(use: GrantUse) -> pb.GrantUse:
    """One use: that a grant with no uses allows nothing the authority knows by itself."""
    needed = {each.name: getattr(use, each.name) for each in fields(use) if each.name != "uses"}
    return pb.GrantUse(**needed)


def _ref(reference: Reference) -> PrincipalRef:
    return PrincipalRef(namespace=reference.namespace, id=reference.id)
