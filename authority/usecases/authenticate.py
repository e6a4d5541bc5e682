"""Who is calling: by a signed Invocation, a client certificate or a bearer token (semantics §2).

Each that is shown must hold, and all of them must name one principal of one tenant. Nothing unverified authenticates
anybody, and what cannot be verified is not passed over because something else can.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from authority.domain import limits
from authority.domain.certificate import Certificate, credentials_of
from authority.domain.identity import Caller, Proof, RegisteredKey
from authority.domain.invocation import Call, judge_fit
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.shape import is_id
from authority.domain.token import VerifiedToken
from authority.usecases.ports import Certificates, Clock, Registry, Statements, Tokens

_NOBODY: Final = Refusal(Reason.CALLER_UNAUTHENTICATED)
_BEARER: Final = "bearer"

_Found: TypeAlias = Caller | Refusal | None
"""Who it is by one way of showing it; None when nothing was shown that way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a call shows of its caller, unread. Of all this TLS has verified the certificate, and nobody the rest."""

    proofs: Sequence[bytes] = ()
    """Metadata entries that carry Invocations."""
    certificate: bytes | None = None
    """The client certificate of the connection, as PEM; what proxies tell of other connections is never here."""
    authorizations: Sequence[str] = ()
    """Metadata entries `authorization`."""
    tenants: Sequence[str] = ()
    """Metadata entries that name a tenant, for a certificate names none."""
    is_private: bool = True
    """Whether nobody between could read along: over TLS, or on this machine."""


@dataclass(frozen=True, slots=True)
class NoCertificates:
    """Reads none: connections show none where no authority of clients is configured."""

    def read(self, pem: bytes) -> Certificate | None:  # noqa: ARG002 - none is taken
        """None."""
        return None


@dataclass(frozen=True, slots=True)
class NoTokens:
    """Verifies none: no issuer is configured."""

    @property
    def are_taken(self) -> bool:
        """No."""
        return False

    async def verify(self, token: str) -> VerifiedToken | None:  # noqa: ARG002 - none is taken
        """None."""
        return None


@dataclass(frozen=True, slots=True)
class Authenticate:
    """Answers with the caller, or CALLER_UNAUTHENTICATED. Raises DependencyUnavailable when that cannot be known.

    A well signed Invocation that does not fit the call still names its caller: the misfit travels along as the
    proof's refusal, for it is told only after the request's shape was judged.
    """

    statements: Statements
    registry: Registry
    clock: Clock
    certificates: Certificates = NoCertificates()
    trust_domains: frozenset[str] = frozenset()
    """Of the SPIFFE ids in certificates."""
    tokens: Tokens = NoTokens()

    async def __call__(self, shown: Shown, call: Call) -> Caller | Refusal:
        """The one principal that everything shown names; its strongest credential is what the caller is taken to hold.

        That is the key that signed this call, then the certificate, then the token: what was signed for this call
        alone proves the most.
        """
        signer = await self._signer(shown.proofs, call)
        if isinstance(signer, Refusal):
            return signer
        bearer = await self.bearer(shown)
        return bearer if isinstance(bearer, Refusal) else await self.agreed(shown, signer, bearer)

    async def agreed(self, shown: Shown, signer: Caller | None, bearer: Caller | None) -> Caller | Refusal:
        """Who it is by what signs, the token and the certificate together, the first of them that there is."""
        tenant = _one_tenant(shown.tenants, signer, bearer)
        if isinstance(tenant, Refusal):
            return tenant
        peer = await self._peer(shown.certificate, tenant)
        if isinstance(peer, Refusal):
            return peer
        return _agreed([caller for caller in (signer, peer, bearer) if caller])

    async def _signer(self, proofs: Sequence[bytes], call: Call) -> _Found:
        """By the Invocation: exactly one is accepted (case I06)."""
        if not proofs:
            return None
        if len(proofs) != 1 or len(proofs[0]) > limits.PROOF_BYTES:
            return _NOBODY
        opened = self.statements.open_invocation(proofs[0])
        if opened is None:
            return _NOBODY
        invocation, statement = opened.invocation, opened.statement
        key = await self.registry.active_key(invocation.tenant, invocation.principal, statement.key_id)
        if key is None or not self.statements.is_signed_by(statement, key.public_key):
            return _NOBODY
        fit = judge_fit(invocation, call, self.clock.now())
        return Caller(key.principal, key.key_id, Proof(invocation.nonce, fit), one_use=call.is_read)

    async def bearer(self, shown: Shown) -> Caller | Refusal | None:
        """Who it is by the token: exactly one, and where nobody else can have read it. None when there is none."""
        if not shown.authorizations or not self.tokens.are_taken:
            return None
        scheme, _, token = shown.authorizations[0].partition(" ")
        is_one = len(shown.authorizations) == 1 and scheme.lower() == _BEARER and len(token) <= limits.TOKEN_BYTES
        verified = await self.tokens.verify(token) if is_one and shown.is_private else None
        if verified is None:
            return _NOBODY
        owner = await self.registry.owner(verified.tenant, verified.credential.id)
        return _by(owner, valid_until=verified.expire_time, has_bound_key=False) if owner else _NOBODY

    async def _peer(self, pem: bytes | None, tenant: TenantRef | None) -> _Found:
        """By the connection's certificate, in the tenant that the call is for.

        One that is registered for nobody there names nobody: it may be that of a proxy, before callers who sign. One
        that nobody may show is refused whatever else is shown, and so is one that is two principals.
        """
        if pem is None:
            return None
        certificate = self.certificates.read(pem)
        if certificate is None:
            return _NOBODY
        credentials = credentials_of(certificate, self.trust_domains, self.clock.now())
        if credentials is None:
            return _NOBODY
        if tenant is None:
            return None
        found = await asyncio.gather(*(self.registry.owner(tenant, credential.id) for credential in credentials))
        owners = [owner for owner in found if owner]
        if len({owner.principal.ref for owner in owners}) > 1:
            return _NOBODY
        return _by(owners[0], valid_until=certificate.expire_time) if owners else None


def _by(owner: RegisteredKey, *, valid_until: Instant, has_bound_key: bool = True) -> Caller:
    return Caller(
        owner.principal,
        owner.key_id,
        proof=None,
        one_use=False,
        has_bound_key=has_bound_key,
        valid_until=valid_until,
    )


def _one_tenant(named: Sequence[str], *callers: Caller | None) -> TenantRef | Refusal | None:
    """The tenant that entry, Invocation and token agree on; None when none of them names one."""
    if len(named) > 1:
        return _NOBODY
    tenants = {caller.tenant for caller in callers if caller}
    for text in named:
        namespace, _, identifier = text.partition("|")
        if not is_id(namespace) or not is_id(identifier):
            return _NOBODY
        tenants.add(TenantRef(namespace, identifier))
    return _NOBODY if len(tenants) > 1 else next(iter(tenants), None)


def _agreed(callers: Sequence[Caller]) -> Caller | Refusal:
    """The first of them, who is valid for as long as all of them are."""
    if len({(caller.tenant, caller.ref) for caller in callers}) != 1:
        return _NOBODY
    ends = [caller.valid_until for caller in callers if caller.valid_until is not None]
    return replace(callers[0], valid_until=min(ends, default=None))
