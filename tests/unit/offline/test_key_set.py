"""Key sets: what is trusted of a GetKeySet response."""

from collections.abc import Callable

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from capability_authority.offline import KeyRecord, KeySet, KeySetRefused, timestamp
from capability_authority.v1.capability_service_pb2 import GetKeySetResponse
from capability_authority.v1.types_pb2 import (
    KEY_PURPOSE_CAPABILITY,
    KEY_PURPOSE_RECEIPT,
    KEY_STATE_ACTIVE,
    KEY_STATE_RETIRING,
    KEY_STATE_REVOKED,
    KEY_STATE_UNSPECIFIED,
    KeyState,
    TenantRef,
)
from tests.unit.offline.builders import ISSUER, NOW_MS, private_key

RECEIPT_KEY = private_key("receipt").public_key
CAPABILITY_KEY = private_key("capability").public_key
ACME = TenantRef(namespace="cognitum-tenant", id="acme")


def response() -> GetKeySetResponse:
    receipt_key = GetKeySetResponse.Key(
        key_id=RECEIPT_KEY.key_id,
        public_key=RECEIPT_KEY.raw,
        purpose=KEY_PURPOSE_RECEIPT,
        state=KEY_STATE_REVOKED,
        compromised_since_time=timestamp(NOW_MS),
        tenant=ACME,
        memory_namespace="team/build",
    )
    capability_key = GetKeySetResponse.Key(
        key_id=CAPABILITY_KEY.key_id,
        public_key=CAPABILITY_KEY.raw,
        purpose=KEY_PURPOSE_CAPABILITY,
        state=KEY_STATE_ACTIVE,
    )
    return GetKeySetResponse(issuer=ISSUER, keys=[receipt_key, capability_key])


def test_a_record_says_what_the_response_says_of_the_key() -> None:
    key_set = KeySet.from_response(response(), pinned_issuer=ISSUER, pinned_key_ids=None)

    assert key_set.record(RECEIPT_KEY.key_id) == KeyRecord(
        public_key=RECEIPT_KEY,
        purpose=KEY_PURPOSE_RECEIPT,
        state=KEY_STATE_REVOKED,
        compromised_since_ms=NOW_MS,
        tenant=("cognitum-tenant", "acme"),
        memory_namespace="team/build",
    )
    assert key_set.record(CAPABILITY_KEY.key_id) == KeyRecord(
        public_key=CAPABILITY_KEY, purpose=KEY_PURPOSE_CAPABILITY, state=KEY_STATE_ACTIVE
    )
    assert key_set.record("sha256:unknown") is None


def test_only_pinned_keys_are_trusted() -> None:
    pins = frozenset({CAPABILITY_KEY.key_id, "sha256:elsewhere"})

    key_set = KeySet.from_response(response(), pinned_issuer=ISSUER, pinned_key_ids=pins)

    assert key_set.record(CAPABILITY_KEY.key_id) is not None
    assert key_set.record(RECEIPT_KEY.key_id) is None


@pytest.mark.parametrize("pins", [frozenset[str](), frozenset({"sha256:elsewhere"})])
def test_a_key_set_without_a_pinned_key_is_refused(pins: frozenset[str]) -> None:
    with pytest.raises(KeySetRefused, match="none of the pinned keys"):
        KeySet.from_response(response(), pinned_issuer=ISSUER, pinned_key_ids=pins)


@pytest.mark.parametrize("presented", ["", "other.example", ISSUER.upper(), ISSUER + "\n"])
def test_the_key_set_of_another_issuer_is_refused(presented: str) -> None:
    other = response()
    other.issuer = presented

    with pytest.raises(KeySetRefused, match=ISSUER):
        KeySet.from_response(other, pinned_issuer=ISSUER, pinned_key_ids=None)


def _with_foreign_id(key: GetKeySetResponse.Key) -> None:
    key.key_id = private_key("stranger").public_key.key_id


def _with_foreign_key(key: GetKeySetResponse.Key) -> None:
    key.public_key = private_key("stranger").public_key.raw


def _with_small_order_key(key: GetKeySetResponse.Key) -> None:
    key.public_key = b"\x01" + bytes(31)


def _with_short_key(key: GetKeySetResponse.Key) -> None:
    key.public_key = key.public_key[:31]


def _with_impossible_time(key: GetKeySetResponse.Key) -> None:
    key.compromised_since_time.CopyFrom(Timestamp(nanos=1))


def _with_the_other_key(key: GetKeySetResponse.Key) -> None:
    key.key_id, key.public_key = CAPABILITY_KEY.key_id, CAPABILITY_KEY.raw


@pytest.mark.parametrize(
    "spoil",
    [
        _with_foreign_id,
        _with_foreign_key,
        _with_small_order_key,
        _with_short_key,
        _with_impossible_time,
        _with_the_other_key,
    ],
)
def test_a_key_set_that_contradicts_itself_is_refused(spoil: Callable[[GetKeySetResponse.Key], None]) -> None:
    spoiled = response()
    spoil(spoiled.keys[0])

    with pytest.raises(KeySetRefused):
        KeySet.from_response(spoiled, pinned_issuer=ISSUER, pinned_key_ids=None)


def test_a_key_set_of_records_holds_each_key_once() -> None:
    record = KeyRecord(public_key=RECEIPT_KEY, purpose=KEY_PURPOSE_RECEIPT, state=KEY_STATE_ACTIVE)
    again = KeyRecord(public_key=RECEIPT_KEY, purpose=KEY_PURPOSE_CAPABILITY, state=KEY_STATE_ACTIVE)

    assert KeySet.of(ISSUER, record).record(RECEIPT_KEY.key_id) is record
    with pytest.raises(KeySetRefused, match="twice"):
        KeySet.of(ISSUER, record, again)


@pytest.mark.parametrize(
    ("state", "compromised_since_ms", "verifies"),
    [
        (KEY_STATE_ACTIVE, None, True),
        (KEY_STATE_RETIRING, None, True),
        (KEY_STATE_REVOKED, None, False),
        (KEY_STATE_UNSPECIFIED, None, False),
        (4, None, False),
        (KEY_STATE_ACTIVE, NOW_MS, False),
        (KEY_STATE_REVOKED, NOW_MS, False),
    ],
)
def test_only_active_and_retiring_keys_verify(
    state: KeyState.ValueType, compromised_since_ms: int | None, *, verifies: bool
) -> None:
    record = KeyRecord(
        public_key=RECEIPT_KEY,
        purpose=KEY_PURPOSE_RECEIPT,
        state=state,
        compromised_since_ms=compromised_since_ms,
    )

    assert record.verifies is verifies


@pytest.mark.parametrize(
    ("tenant", "memory_namespace", "covered"),
    [
        (None, None, True),
        (("cognitum-tenant", "acme"), None, True),
        (("cognitum-tenant", "acme"), "team/build", True),
        (None, "team/build", True),
        (("comms-tenant", "acme"), None, False),
        (("cognitum-tenant", "other"), "team/build", False),
        (None, "team", False),
        (("cognitum-tenant", "acme"), "team/build/x", False),
    ],
)
def test_a_key_covers_its_scope_and_nothing_else(
    tenant: tuple[str, str] | None, memory_namespace: str | None, *, covered: bool
) -> None:
    record = KeyRecord(
        public_key=RECEIPT_KEY,
        purpose=KEY_PURPOSE_RECEIPT,
        state=KEY_STATE_ACTIVE,
        tenant=tenant,
        memory_namespace=memory_namespace,
    )

    assert record.covers(ACME, "team/build") is covered
