"""Who calls, and that a proof is used once."""

from typing import Protocol

from authority.domain.certificate import Certificate
from authority.domain.identity import Principal, RegisteredKey
from authority.domain.key_alias import NamedKey
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.token import VerifiedToken


class Registry(Protocol):
    """Registered principals and keys, read live."""

    async def active_key(self, tenant: TenantRef, principal: PrincipalRef, key_id: str) -> RegisteredKey | None:
        """The key, or certificate, of this holder when it, and its principal, are active; else None.

        Never a token, which binds nobody. Read after it was asked, never remembered.
        """
        ...

    async def owner(self, tenant: TenantRef, credential_id: str) -> RegisteredKey | None:
        """Whose credential it is: a key's, a certificate's or a token's, when it, and its principal, are active.

        Else None. How a caller is known, and known again; not what a holder may be bound to. Read after it was asked,
        never remembered.
        """
        ...

    async def principal(self, tenant: TenantRef, principal: PrincipalRef) -> Principal | None:
        """The principal when it is active; else None."""
        ...


class KeyNames(Protocol):
    """What signed envelopes call keys by: thumbprints, and names that operators gave."""

    async def key_called(self, tenant: TenantRef, name: str) -> NamedKey | None:
        """The key by its thumbprint or an unrevoked name, when it signs and it and its principal are active; else None.

        Of another tenant's keys and names nothing is told. Read after it was asked, never remembered.
        """
        ...


class Certificates(Protocol):
    """Reads the certificates that connections were opened with."""

    def read(self, pem: bytes) -> Certificate | None:
        """What it says; None when it cannot be read whole."""
        ...


class Tokens(Protocol):
    """Verifies bearer tokens of the issuers that operators configured."""

    @property
    def are_taken(self) -> bool:
        """Whether there is any such issuer; where there is none, nobody's token is looked at."""
        ...

    async def verify(self, token: str) -> VerifiedToken | None:
        """What a token says whose issuer signed it for us, and which is valid now; None for any other.

        Raises DependencyUnavailable while the issuer's keys cannot be had.
        """
        ...


class Nonces(Protocol):
    """Remembers the proofs of reads for as long as they are fresh."""

    async def use(self, key_id: str, nonce: bytes) -> Refusal | None:
        """None for the first use; PROOF_REPLAYED for another; DEPENDENCY_UNAVAILABLE when that cannot be known."""
        ...


class StreamNonces(Protocol):
    """Remembers the proofs that opened streams, durably: whatever becomes of Redis, each opens one (case I04)."""

    async def use(self, tenant: TenantRef, key_id: str, nonce: bytes) -> Refusal | None:
        """None for the first use; PROOF_REPLAYED for another, for as long as the proof can be fresh anywhere."""
        ...


class Persons(Protocol):
    """Who is one person with whom."""

    async def same_person(self, tenant: TenantRef, principal: PrincipalRef) -> frozenset[PrincipalRef]:
        """The principal and everyone that verified, unrevoked links lead to."""
        ...
