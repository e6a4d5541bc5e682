"""Grants, as the verbs take them and answer with them."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from capability_authority.client.credentials import Credentials, Reference
from capability_authority.offline import Narrower, PublicKey, delegate, read_payload, statement_digest, to_wire
from capability_authority.offline.narrowing import AMOUNTS, EXACT, FLAGS, SELECTORS
from capability_authority.v1.grant_service_pb2 import GrantSpending, GrantTerms
from capability_authority.v1.statements_pb2 import Grant, GrantedAmount, GrantedFlag, GrantedNames, SignedStatement
from capability_authority.v1.types_pb2 import PrincipalRef

__all__ = ["GrantStatus", "GrantTerms", "GrantVerdict", "HeldGrant", "grant_terms"]

_NONCE_BYTES: Final = 16
_LISTS: Final = (*EXACT, *SELECTORS)
_AS_IT_IS: Final = Narrower()


def grant_terms(  # noqa: PLR0913  # the dimensions of a grant, each by its name
    *,
    audiences: Iterable[str] | None = None,
    actions: Iterable[str] | None = None,
    resources: Iterable[str] | None = None,
    read_memory_namespaces: Iterable[str] | None = None,
    write_memory_namespaces: Iterable[str] | None = None,
    tools: Iterable[str] | None = None,
    providers: Iterable[str] | None = None,
    models: Iterable[str] | None = None,
    usd_micros: int | None = None,
    tokens: int | None = None,
    latency_ms: int | None = None,
    concurrency: int | None = None,
    uses: int | None = None,
    network: bool | None = None,
    destructive: bool | None = None,
    delegation_depth: int = 0,
) -> GrantTerms:
    """What a grant allows. What is None is absent: it denies in a root, and is refused in a child.

    An empty list denies all. Selectors (resources, memory namespaces, tools, providers, models) are whole segments, or
    some of them and "/*". `delegation_depth` is how many generations may be derived, 0 to 8.
    """
    return GrantTerms(
        audiences=_names(audiences),
        actions=_names(actions),
        resources=_names(resources),
        read_memory_namespaces=_names(read_memory_namespaces),
        write_memory_namespaces=_names(write_memory_namespaces),
        tools=_names(tools),
        providers=_names(providers),
        models=_names(models),
        usd_micros=_amount(usd_micros),
        tokens=_amount(tokens),
        latency_ms=_amount(latency_ms),
        concurrency=_amount(concurrency),
        uses=_amount(uses),
        network=_flag(network),
        destructive=_flag(destructive),
        delegation_depth=delegation_depth,
    )


@dataclass(frozen=True, slots=True)
class HeldGrant:
    """A grant and its ancestors, root first, as its holder presents them."""

    statement: SignedStatement
    ancestors: tuple[SignedStatement, ...] = ()
    replayed: bool = False
    """Whether it existed before the call that answered with it."""

    def __repr__(self) -> str:
        """Short: the statements are bytes."""
        holder = self.terms.holder
        until = f"{self.expire_time:%Y-%m-%dT%H:%M:%SZ}"
        return f"<HeldGrant {self.digest} of {holder.namespace}|{holder.id} until {until}>"

    @property
    def terms(self) -> Grant:
        """What it says itself, unverified: judging it is the authority's. Raises `StatementError` (of `offline`)."""
        return read_payload(self.statement.payload_type, self.statement.payload, Grant)

    @property
    def digest(self) -> str:
        """Names it, "sha256:…"."""
        return to_wire(statement_digest(self.statement.payload_type, self.statement.payload))

    @property
    def expire_time(self) -> datetime:
        """From then on it allows nothing."""
        return self.terms.expire_time.ToDatetime(tzinfo=UTC)

    def narrowed(self, **terms: Iterable[str] | int | bool) -> GrantTerms:
        """As much as may be derived from it, but for what is said: what `grant_terms` takes, by name.

        What is absent in it denies; the child says so, for what is absent there would be refused.
        """
        parent = self.terms
        most = {name: getattr(parent, name).names for name in _LISTS} | {
            name: getattr(parent, name).most for name in AMOUNTS
        }
        flags = {name: getattr(parent, name).allowed for name in FLAGS}
        said: dict[str, Any] = {**most, **flags, "delegation_depth": max(parent.delegation_depth - 1, 0), **terms}
        return grant_terms(**said)

    def delegate(
        self,
        credentials: Credentials,
        *,
        holder: Reference,
        bound_to: PublicKey | bytes,
        narrower: Narrower = _AS_IT_IS,
    ) -> "HeldGrant":
        """A child for another holder, made offline with the key of `credentials`, which this grant must bind.

        The authority meets it when it is used first. `bound_to` is the new holder's public key; or the digest of
        another credential, with which it hands nothing on. Raises (of `offline`) `GrantExceeded` for a child that would
        be wider, `GrantMalformed`, `SignatureInvalid` for credentials that are not the holder's; and
        `CredentialsRefused` for credentials without a key.
        """
        child = delegate(
            self.statement,
            credentials.signing_key,
            holder=PrincipalRef(namespace=holder.namespace, id=holder.id),
            bound_to=bound_to,
            nonce=secrets.token_bytes(_NONCE_BYTES),
            narrower=narrower,
        )
        return HeldGrant(child, (*self.ancestors, self.statement))


@dataclass(frozen=True, slots=True)
class GrantVerdict:
    """What the authority says of a grant now. Nothing was used up."""

    granted: bool
    reason: str
    """The name of an ErrorReason without its prefix; empty when granted."""
    facts: dict[str, str]
    """What the refusal names, such as `dimension`."""


@dataclass(frozen=True, slots=True)
class GrantStatus:
    """A grant that the authority keeps, and what became of it."""

    grant: HeldGrant
    state: str
    """"active", "expired", or "revoked": it, or one of its ancestors."""
    revoke_time: datetime | None
    """When it, or the first of its ancestors that was, was revoked."""
    spent: GrantSpending
    """By itself and by all that was derived from it."""


def _names(names: Iterable[str] | None) -> GrantedNames | None:
    return None if names is None else GrantedNames(names=names)


def _amount(most: int | None) -> GrantedAmount | None:
    return None if most is None else GrantedAmount(most=most)


def _flag(allowed: bool | None) -> GrantedFlag | None:  # noqa: FBT001  # the value itself
    return None if allowed is None else GrantedFlag(allowed=allowed)
