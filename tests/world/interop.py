"""What other verifiers of signed envelopes ask about, and leave behind."""

import json
from typing import Any

from authority.domain.references import MINUTE, after
from authority.domain.replay import Reservation
from authority.usecases.verify_action_envelope import EnvelopeQuestion, EnvelopeVerdict
from tests.world.authority import HERE
from tests.world.granting import Granted
from tests.world.world import Issued, Person, World, must


async def named_and_reserved(world: World) -> None:
    """A name for the service's key, a revoked one, and a reservation by the service."""
    store, now = world.authority.store, world.now()
    for name in ("k1", "k0"):
        await store.key_aliases.add(world.tenant, name, world.service.key_id, now)
    await store.key_aliases.revoke(world.tenant, "k0", now)
    reservation = Reservation(
        tenant=world.tenant,
        replay_key=b"k" * 32,
        envelope_digest=b"e" * 32,
        reserved_by=world.service.ref,
        request_id="reserve",
        request_digest=b"d" * 32,
        reserve_time=now,
        expire_time=after(now, 5 * MINUTE),
    )
    await store.replays.reserve(reservation, now)


def envelope_for(world: World, issued: Issued, **changed: object) -> dict[str, Any]:
    """An envelope for exactly this commit, without its signature, but for what is changed; None leaves a member out."""
    terms = issued.capability.terms
    members: dict[str, object] = {
        "resourceRefs": [terms.memory_namespace],
        "requestDigest": wire(world.plan(issued).claim.fingerprint),
        "contentDigest": wire(terms.content_digest),
        "idempotencyKey": terms.commit_idempotency_key,
        "policyReceiptId": wire(terms.decision_receipt_digest),
        "capabilityId": terms.capability_id,
        "validationReceiptId": wire(terms.validation_receipt_digest),
    }
    return action(world, "memory.commit-validated", **members | changed)


def envelope_under(world: World, granted: Granted, name: str, *resources: str, **changed: object) -> dict[str, Any]:
    """An envelope for an action under this grant."""
    members: dict[str, object] = {
        "resourceRefs": resources,
        "capabilityId": wire(granted.grant.digest),
        "policyReceiptId": wire(granted.grant.terms.policy_version),
    }
    return action(world, name, **members | changed)


def action(world: World, name: str, **members: object) -> dict[str, Any]:
    """An envelope of the tenant that upstream's schema allows, of which nothing else is said than its members say."""
    tenant = {"namespace": world.tenant.namespace, "id": world.tenant.id}
    owner = "ruflo.policy" if name.startswith("cognition.") else "ruflo.memory"
    source = {
        "authority": owner,
        "tenantRef": tenant,
        "sourceType": f"{owner}/action",
        "sourceId": "source-1",
        "sourceVersion": "1",
        "sourceDigest": wire(bytes(32)),
    }
    usual: dict[str, object] = {
        "schemaVersion": "cognitum.action.v1",
        "eventId": "event-1",
        "issuer": "ruflo.policy",
        "audience": HERE.audience,
        "subject": {"namespace": "ruflo-agent", "id": "agent 7"},
        "tenantRef": tenant,
        "action": name,
        "requestDigest": wire(bytes(32)),
        "idempotencyKey": "key-1",
        "correlationId": "run-1",
        "authoritativeSource": source,
        "occurredAt": "2026-07-28T12:00:00.000Z",
        "expiresAt": "2026-07-28T12:05:00.000Z",
        "privacyClass": "P1",
    }
    return {name: value for name, value in (usual | members).items() if value is not None}


def wire(digest: bytes) -> str:
    """A digest as envelopes name it."""
    return f"sha256:{digest.hex()}"


async def judged(
    world: World, envelope: dict[str, Any], *, signer: Person | None = None, by: Person | None = None
) -> EnvelopeVerdict:
    """VerifyActionEnvelope, asked by the service, of an envelope that the service signed unless told otherwise."""
    question = EnvelopeQuestion(json.dumps(envelope).encode(), (signer or world.service).key_id)
    return must(await world.authority.do.verify_action_envelope((by or world.service).calls(), question))
