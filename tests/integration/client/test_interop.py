"""The verbs of InteropService over the wire."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from capability_authority.client import ActionVerdict, CapabilityAuthority, EnvelopeVerdicts, NotFound
from capability_authority.offline import KeyRefused, to_wire
from capability_authority.v1 import types_pb2 as types
from tests.integration.client.small_authority import SmallAuthority
from tests.integration.client.state import NOW_MS
from tests.integration.client.witness import LoseAnswer

NOW = datetime.fromtimestamp(NOW_MS / 1000, UTC)
ENVELOPE = {"capabilityId": "c1", "subject": {"namespace": "ruflo-agent", "id": "zoë"}}


async def test_a_key_is_resolved_by_its_name(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    found = await client.resolve_key("k1")

    assert found.public_key == small_authority.state.signing[types.KEY_PURPOSE_RECEIPT].public_key
    assert (found.key_id, found.principal) == (found.public_key.key_id, ("workload", "committer"))
    assert (found.principal_kind, found.create_time) == ("service", NOW)
    assert found.as_of_time == NOW + timedelta(milliseconds=1)
    with pytest.raises(NotFound):
        await client.resolve_key("k2")


@pytest.mark.parametrize("asked", ["swapped", to_wire(b"\x01" * 32)])
async def test_a_key_that_is_another_than_was_asked_for_is_refused(client: CapabilityAuthority, asked: str) -> None:
    with pytest.raises(KeyRefused, match="was answered by the key"):
        await client.resolve_key(asked)


async def test_an_envelope_is_reserved_once_and_a_lost_answer_is_no_replay(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # given an answer that is lost once
    small_authority.upset("ReserveReplay", LoseAnswer())
    digest, soon = to_wire(bytes(32)), NOW + timedelta(minutes=5)

    # when the client asks, then it asks again with the same request, and the envelope may pass
    first = await client.reserve_replay("key", envelope_digest=digest, expire_time=soon)
    assert (first.outcome, first.reserved, first.replayed) == ("reserved", True, True)
    sent = [attempt.request_bytes for attempt in small_authority.attempts("ReserveReplay")]
    assert len(sent) > 1
    assert len(set(sent)) == 1

    # and nobody else's does
    again = await client.reserve_replay("key", envelope_digest=digest, expire_time=soon)
    other = await client.reserve_replay("key", envelope_digest=to_wire(b"\x01" * 32), expire_time=soon)
    assert [(it.outcome, it.reserved) for it in (again, other)] == [("replay", False), ("conflict", False)]


@pytest.mark.parametrize("form", [dict, str, bytes])
async def test_an_envelope_is_judged_however_it_is_handed_over(client: CapabilityAuthority, form: type) -> None:
    def formed(envelope: dict[str, object]) -> dict[str, object] | str | bytes:
        text = json.dumps(envelope, ensure_ascii=False)
        return envelope if form is dict else text if form is str else text.encode()

    allowed = ActionVerdict(allowed=True)
    assert await client.verify_action_envelope(formed({**ENVELOPE}), key_id="k1") == EnvelopeVerdicts(
        allowed, allowed, ""
    )
    denied = ActionVerdict(allowed=False, reason="BINDING_MISMATCH", facts={"term": "audience"})
    assert await client.verify_action_envelope(
        formed({**ENVELOPE, "capabilityId": "c2"}), key_id="k1"
    ) == EnvelopeVerdicts(allowed, denied, "receipt")
