"""Verbs over evidence: what a test puts, and what a person decides on it."""

import hashlib
from typing import TypedDict, Unpack

from authority.domain.evidence import Evidence, EvidenceClaim, EvidenceState
from authority.domain.proposal import Visibility
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.signing.codec.evidence import encode_evidence_claim
from authority.usecases.grants.presented import PresentedGrant
from authority.usecases.put_evidence import EvidenceRequest
from authority.usecases.read_evidence import EvidenceQuery
from capability_authority.offline import sign
from tests.world.world import Person, World, must


class Put(TypedDict, total=False):
    """What a test says of evidence, in place of the ordinary."""

    by: Person
    request_id: str
    media_type: str
    reference: str
    visibility: Visibility
    visibility_scope: str
    signed_by: PrincipalRef
    statement: Statement


def digest_of(content: bytes) -> bytes:
    """By what it is named."""
    return hashlib.sha256(content).digest()


async def keep(world: World, content: bytes, **said: Unpack[Put]) -> Evidence | Refusal:
    """Hands evidence to the store, by the agent; only referred to where a reference is given."""
    by, reference = said.get("by", world.agent), said.get("reference")
    evidence = Evidence(
        tenant=world.tenant,
        digest=digest_of(content),
        media_type=said.get("media_type", "text/plain"),
        content=None if reference else content,
        reference=reference,
        put_by=by.ref,
        visibility=said.get("visibility", Visibility.WORKSPACE),
        visibility_scope=said.get("visibility_scope", ""),
        signed_by=said.get("signed_by"),
        statement=said.get("statement"),
        put_time=world.now(),
    )
    meaning = sorted((name, value) for name, value in said.items() if name not in {"by", "request_id"})
    mark = world.mark(by, said.get("request_id"), "put evidence", content, meaning)
    return await world.authority.store.evidence.put(mark, evidence)


async def kept(world: World, content: bytes, **said: Unpack[Put]) -> Evidence:
    """Evidence, kept and not decided on."""
    return must(await keep(world, content, **said))


async def decide(
    world: World,
    evidence: Evidence,
    state: EvidenceState = EvidenceState.APPROVED,
    *,
    by: Person | None = None,
    note: str = "",
) -> None:
    """The operator enters what a person decided, the admin unless named."""
    judge = (by or world.admin).ref
    reviews = world.authority.store.evidence_reviews
    await reviews.decide(world.tenant, evidence.digest, state, by=judge, note=note, now=world.now())


async def approved(world: World, content: bytes, **said: Unpack[Put]) -> Evidence:
    """Evidence that a person approved."""
    evidence = await kept(world, content, **said)
    await decide(world, evidence)
    return evidence


def claimed(
    world: World, content: bytes, by: Person, *, media_type: str = "text/plain", tenant: TenantRef | None = None
) -> Statement:
    """The person's claim, signed with its key, that it made these bytes."""
    claim = EvidenceClaim(tenant or world.tenant, by.ref, digest_of(content), media_type, world.now())
    signed = sign(encode_evidence_claim(claim), by.key)
    return Statement(signed.payload_type, signed.payload, signed.signature.key_id, signed.signature.signature)


async def put(world: World, content: bytes, **said: Unpack[Put]) -> Evidence | Refusal:
    """PutEvidence, by the agent, visible to the workspace unless told otherwise."""
    by, reference = said.get("by", world.agent), said.get("reference")
    meaning = sorted((name, value) for name, value in said.items() if name not in {"by", "request_id"})
    request = EvidenceRequest(
        mark=world.mark(by, said.get("request_id"), "put evidence", content, meaning),
        content=None if reference else content,
        reference=reference,
        digest=digest_of(content),
        media_type=said.get("media_type", "text/plain"),
        visibility=said.get("visibility", Visibility.WORKSPACE),
        visibility_scope=said.get("visibility_scope", ""),
        claim=said.get("statement"),
    )
    return await world.authority.do.put_evidence(by.calls(), request)


async def read(world: World, digest: bytes, by: Person, *, grant: PresentedGrant | None = None) -> Evidence | Refusal:
    """ReadEvidence."""
    asked = EvidenceQuery(digest, world.mark(by, None, "read"), grant)
    return await world.authority.do.read_evidence(by.calls(), asked)
