"""Makes grants: roots, and children in exchange for a parent (semantics §6)."""

from dataclasses import dataclass

from authority.domain.grant import Grant, OpenedGrant
from authority.domain.granting import (
    BoundHolder,
    GrantDimensions,
    Ground,
    Validity,
    grant_of,
    ground_of_child,
    judge_presenter,
    require_grantor,
)
from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef, after
from authority.domain.refusal import Refusal, malformed
from authority.usecases.admit import Admit
from authority.usecases.grants.presented import PresentedGrant, PresentedGrants
from authority.usecases.ports import Clock, Identifiers, MadeGrant, Registry, RequestMark, Signer


@dataclass(frozen=True, slots=True)
class GrantRequest:
    """A root that is asked for. `lifetime_ms` is within the limits of semantics §3."""

    mark: RequestMark
    subject: PrincipalRef
    holder: PrincipalRef
    holder_key_id: str
    dimensions: GrantDimensions
    lifetime_ms: int
    policy_version: bytes
    """Empty: the one that all memory namespaces of the tenant are under."""
    correlation_id: str


@dataclass(frozen=True, slots=True)
class GrantExchange:
    """A child that is asked for. `lifetime_ms` None: as long as the parent lives."""

    mark: RequestMark
    presented: PresentedGrant
    holder: PrincipalRef
    holder_key_id: str
    dimensions: GrantDimensions
    lifetime_ms: int | None
    correlation_id: str


@dataclass(frozen=True, slots=True)
class BoundHolders:
    """Finds who is to hold a grant."""

    registry: Registry

    async def find(self, tenant: TenantRef, holder: PrincipalRef, key_id: str) -> BoundHolder | Refusal:
        """NOT_ALLOWED unless it is an active credential of an active principal."""
        found = await self.registry.active_key(tenant, holder, key_id)
        if found is None:
            return Refusal(Reason.NOT_ALLOWED, {"field": "holder_key_id", "problem": "not an active key of the holder"})
        return BoundHolder(holder, bytes.fromhex(key_id.removeprefix("sha256:")), found.public_key)


@dataclass(frozen=True, slots=True)
class IssueGrant:
    """Makes a root grant: the beginning of a chain, signed by the authority."""

    admit: Admit
    presented: PresentedGrants
    holders: BoundHolders
    signer: Signer
    clock: Clock
    identifiers: Identifiers

    async def __call__(self, caller: Caller, request: GrantRequest) -> MadeGrant | Refusal:
        """The grant; a retry is answered with what the first attempt made.

        Refusals: NOT_ALLOWED (the caller may not grant, or the key is not the holder's), IDEMPOTENCY_CONFLICT,
        NOT_FOUND for a subject that is not active or a policy that is not loaded, MALFORMED for no policy where the
        tenant has several, LIMIT_EXCEEDED.
        """
        if refusal := await self.admit(caller) or require_grantor(caller):
            return refusal
        grants, tenant = self.presented.grants, caller.tenant
        earlier = await grants.made_by(request.mark)
        if earlier is not None:
            return earlier
        bound = await self.holders.find(tenant, request.holder, request.holder_key_id)
        if isinstance(bound, Refusal):
            return bound
        if await self.holders.registry.principal(tenant, request.subject) is None:
            return Refusal(Reason.NOT_FOUND, {"field": "subject"})
        version = await grants.policy_version(tenant, request.policy_version)
        if version is None:
            return _no_policy(request)
        now = self.clock.now()
        ground = Ground(tenant, request.subject, version)
        validity = Validity(now, after(now, request.lifetime_ms))
        terms = grant_of(
            self.presented.chains.issuer,
            ground,
            bound,
            request.dimensions,
            validity,
            request.correlation_id,
            _nonce(self.identifiers),
        )
        grant = self.signer.sign_grant(terms)
        refusal = self.presented.chains.judge([grant])
        return refusal or await grants.add(request.mark, [grant], now)


@dataclass(frozen=True, slots=True)
class ExchangeGrant:
    """Makes a child in exchange for a parent that its holder presents: no wider, and one generation deeper.

    Subject and actor are kept apart: the subject stays whose rights are used, the parent's holder joins the actors.
    """

    admit: Admit
    presented: PresentedGrants
    holders: BoundHolders
    signer: Signer
    clock: Clock
    identifiers: Identifiers

    async def __call__(self, caller: Caller, request: GrantExchange) -> MadeGrant | Refusal:
        """The child; a retry is answered with what the first attempt made.

        Refusals: MALFORMED, LIMIT_EXCEEDED, HOLDER_MISMATCH (of the parent), IDEMPOTENCY_CONFLICT, SIGNATURE_INVALID,
        ISSUER_UNKNOWN, KEY_REVOKED, GRANT_EXCEEDED with the `dimension` in which the child would be wider,
        NOT_YET_VALID, EXPIRED, REVOKED (the parent or its chain), NOT_ALLOWED (the key is not the new holder's).
        """
        blocks = self.presented.read(request.presented)
        if isinstance(blocks, Refusal):
            return blocks
        parent = blocks[-1]
        if refusal := await self.admit(caller) or judge_presenter(caller, parent.terms):
            return refusal
        earlier = await self.presented.grants.made_by(request.mark)
        if earlier is not None:
            return earlier
        now = self.clock.now()
        standing = await self.presented.judge(caller.tenant, blocks, now)
        if isinstance(standing, Refusal):
            return standing
        return await self._exchange(request, standing.chain, now)

    async def _exchange(
        self, request: GrantExchange, chain: tuple[OpenedGrant, ...], now: Instant
    ) -> MadeGrant | Refusal:
        parent = chain[-1]
        bound = await self.holders.find(parent.terms.tenant, request.holder, request.holder_key_id)
        if isinstance(bound, Refusal):
            return bound
        child = self.signer.sign_grant(self._child(parent.terms, parent.digest, bound, request))
        refusal = self.presented.chains.judge([*chain, child])
        return refusal or await self.presented.grants.add(request.mark, [*chain, child], now)

    def _child(self, parent: Grant, digest: bytes, bound: BoundHolder, request: GrantExchange) -> Grant:
        begin = max(self.clock.now(), parent.not_before_time)
        end = parent.expire_time if request.lifetime_ms is None else after(begin, request.lifetime_ms)
        return grant_of(
            self.presented.chains.issuer,
            ground_of_child(parent, digest),
            bound,
            request.dimensions,
            Validity(begin, end),
            request.correlation_id or parent.correlation_id,
            _nonce(self.identifiers),
        )


def _no_policy(request: GrantRequest) -> Refusal:
    if request.policy_version:
        return Refusal(Reason.NOT_FOUND, {"field": "policy_version"})
    return malformed("policy_version", "required where memory namespaces are under several policies, or none is there")


def _nonce(identifiers: Identifiers) -> bytes:
    """An id is 16 bytes, and none is ever made twice."""
    return bytes.fromhex(identifiers.new().replace("-", ""))
