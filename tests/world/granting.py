"""Grants in a world: made by the authority, handed on by their holders, presented, revoked."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from authority.domain.grant import Grant, OpenedGrant
from authority.domain.grant_use import GrantUse
from authority.domain.granting import BoundHolder, GrantDimensions, Validity, grant_of, ground_of_child
from authority.domain.references import DAY
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.signing.codec.grant import encode_grant
from authority.usecases.grants.look_after import FoundGrant, GrantRevocation
from authority.usecases.grants.make import GrantExchange, GrantRequest
from authority.usecases.grants.presented import PresentedGrant
from authority.usecases.grants.verify import GrantQuestion
from authority.usecases.ports import IssuedCapability, MadeGrant, RevokedGrant
from capability_authority.offline import sign
from tests.world.authority import HERE
from tests.world.world import Allowed, Issued, IssueTerms, Person, World, must, soon

WIDE = GrantDimensions(
    audiences=(HERE.audience,),
    actions=("memory.commit-validated",),
    resources=(),
    read_memory_namespaces=("notes",),
    write_memory_namespaces=("notes",),
    tools=(),
    providers=(),
    models=(),
    usd_micros=1_000_000,
    tokens=1_000_000,
    latency_ms=1_000,
    concurrency=1_000,
    uses=1_000,
    network=False,
    destructive=False,
    delegation_depth=4,
)
"""What the tests grant unless they say otherwise: to commit what was validated, often."""


@dataclass(frozen=True, slots=True)
class Granted:
    """A chain, root first, and who holds its last block."""

    chain: tuple[OpenedGrant, ...]
    holder: Person

    @property
    def grant(self) -> OpenedGrant:
        """The last block."""
        return self.chain[-1]

    @property
    def presented(self) -> PresentedGrant:
        """The grant with all its ancestors."""
        *ancestors, grant = (block.statement for block in self.chain)
        return PresentedGrant(grant, tuple(ancestors))

    @property
    def alone(self) -> PresentedGrant:
        """The grant without its ancestors, which the authority keeps."""
        return PresentedGrant(self.grant.statement)


@dataclass(frozen=True, slots=True)
class Granting:
    """The verbs of grants, by the people of a world."""

    world: World

    async def issue(
        self, holder: Person, *, by: Person | None = None, request_id: str | None = None, **said: Any
    ) -> MadeGrant | Refusal:
        """IssueGrant, by the admin in the service's name; `said` are dimensions, or terms of the request."""
        world, by = self.world, by or self.world.admin
        dimensions, terms = _apart(WIDE, said)
        meaning = (holder.ref, holder.key_id, dimensions, sorted(terms.items()))
        request = GrantRequest(
            mark=world.mark(by, request_id, "issue grant", *map(repr, meaning)),
            subject=terms.get("subject", world.service.ref),
            holder=holder.ref,
            holder_key_id=terms.get("holder_key_id", holder.key_id),
            dimensions=dimensions,
            lifetime_ms=terms.get("lifetime_ms", DAY),
            policy_version=terms.get("policy_version", b""),
            correlation_id=terms.get("correlation_id", ""),
        )
        return await world.authority.do.issue_grant(by.calls(), request)

    async def issued(self, holder: Person, **said: Any) -> Granted:
        """A root that this person holds."""
        return Granted((must(await self.issue(holder, **said)).grant,), holder)

    async def exchange(
        self,
        parent: Granted,
        holder: Person,
        *,
        by: Person | None = None,
        request_id: str | None = None,
        presented: PresentedGrant | None = None,
        **said: Any,
    ) -> MadeGrant | Refusal:
        """ExchangeGrant, by the parent's holder: for as much as the parent says, unless `said`."""
        world, by = self.world, by or parent.holder
        dimensions, terms = _apart(_handed_on(parent.grant.terms), said)
        meaning = (parent.grant.digest, holder.ref, dimensions, sorted(terms.items()))
        request = GrantExchange(
            mark=world.mark(by, request_id, "exchange", *map(repr, meaning)),
            presented=presented or parent.presented,
            holder=holder.ref,
            holder_key_id=terms.get("holder_key_id", holder.key_id),
            dimensions=dimensions,
            lifetime_ms=terms.get("lifetime_ms"),
            correlation_id=terms.get("correlation_id", ""),
        )
        return await world.authority.do.exchange_grant(by.calls(), request)

    async def exchanged(self, parent: Granted, holder: Person, **said: Any) -> Granted:
        """A child that the authority made."""
        return Granted((*parent.chain, must(await self.exchange(parent, holder, **said)).grant), holder)

    def delegated(self, parent: Granted, holder: Person, **said: Any) -> Granted:
        """A child that the parent's holder made offline: the authority has not met it."""
        dimensions, terms = _apart(_handed_on(parent.grant.terms), said)
        bearer = BoundHolder(holder.ref, hashlib.sha256(holder.key.public_key.raw).digest(), holder.key.public_key.raw)
        span = Validity(parent.grant.terms.not_before_time, terms.pop("expire_time", parent.grant.terms.expire_time))
        nonce = bytes.fromhex(self.world.authority.ids.new().replace("-", ""))
        ground = ground_of_child(parent.grant.terms, parent.grant.digest)
        said_terms = replace(
            grant_of("", ground, bearer, dimensions, span, "", nonce), delegated_by=parent.holder.ref, **terms
        )
        return Granted((*parent.chain, self.signed(said_terms, parent.holder)), holder)

    def signed(self, terms: Grant, by: Person) -> OpenedGrant:
        """The terms, signed by the person, whether they hold or not."""
        made = sign(encode_grant(terms), by.key)
        statement = Statement(made.payload_type, made.payload, made.signature.key_id, made.signature.signature)
        return must(self.world.authority.reader.open_grant(statement))

    async def revoke(
        self,
        named: Granted | bytes,
        *,
        by: Person | None = None,
        request_id: str | None = None,
        presented: PresentedGrant | None = None,
    ) -> RevokedGrant | Refusal:
        """RevokeGrant, by the admin: of a kept one by its digest, unless `presented`."""
        by = by or self.world.admin
        digest = named if isinstance(named, bytes) else named.grant.digest
        mark = self.world.mark(by, request_id, "revoke grant", digest, presented is None)
        request = GrantRevocation(mark, presented or digest)
        return await self.world.authority.do.revoke_grant(by.calls(), request)

    async def get(self, named: Granted | bytes, *, by: Person | None = None) -> FoundGrant | Refusal:
        """GetGrant, by the admin."""
        digest = named if isinstance(named, bytes) else named.grant.digest
        return await self.world.authority.do.get_grant((by or self.world.admin).calls(), digest)

    async def verify(
        self, granted: Granted, use: GrantUse | None = None, *, by: Person | None = None, alone: bool = False
    ) -> Refusal | None:
        """VerifyGrant, by anybody: what is told of the chain, presented whole unless `alone`."""
        asked = GrantQuestion(granted.alone if alone else granted.presented, use)
        return must(await self.world.authority.do.verify_grant((by or self.world.agent).calls(), asked)).refusal

    async def issue_under(
        self, granted: Granted, ground: Allowed, key: str, *, presented: PresentedGrant | None = None, **said: Any
    ) -> IssuedCapability | Refusal:
        """IssueCapability under the grant, by its holder, for the service."""
        by = said.pop("by", granted.holder)
        asked = IssueTerms(ground, key, said.pop("capability_holder", self.world.service), **said)
        request = self.world.issue_request(asked, by, soon(30))
        return await self.world.authority.do.issue(by.calls(), replace(request, grant=presented or granted.presented))

    async def issue_as(self, asked: IssueTerms, granted: Granted, by: Person) -> IssuedCapability | Refusal:
        """IssueCapability on these terms, under the grant, by this person."""
        request = replace(self.world.issue_request(asked, by, soon(30)), grant=granted.presented)
        return await self.world.authority.do.issue(by.calls(), request)

    async def issue_many_under(
        self, wanted: Sequence[tuple[Granted, Allowed, str]], by: Person
    ) -> list[IssuedCapability | Refusal] | Refusal:
        """BatchIssueCapabilities, each item under its grant."""
        deadline = soon(30)
        requests = [
            replace(
                self.world.issue_request(IssueTerms(ground, key, self.world.service), by, deadline),
                grant=granted.presented,
            )
            for granted, ground, key in wanted
        ]
        return await self.world.authority.do.issue_batch(by.calls(), requests, deadline)

    async def issued_under(self, granted: Granted, *, key: str = "", ground: Allowed | None = None) -> Issued:
        """A capability for the service, under the grant."""
        ground = ground or await self.world.allowed()
        key = key or f"key-{next(self.world.numbers)}"
        issued = must(await self.issue_under(granted, ground, key))
        return Issued(ground, issued.capability, self.world.service)


def _handed_on(parent: Grant) -> GrantDimensions:
    said = {field.name: getattr(parent, field.name) for field in fields(GrantDimensions)}
    return replace(GrantDimensions(**said), delegation_depth=max(parent.delegation_depth - 1, 0))


def _apart(dimensions: GrantDimensions, said: dict[str, Any]) -> tuple[GrantDimensions, dict[str, Any]]:
    """What is said of dimensions, and what of other terms."""
    names = {field.name for field in fields(GrantDimensions)}
    changed = {name: value for name, value in said.items() if name in names}
    return replace(dimensions, **changed), {name: value for name, value in said.items() if name not in names}
