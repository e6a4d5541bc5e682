"""What a well signed payload may not say all the same: each field's shape, and the path that a refusal names."""

from collections.abc import Callable
from typing import Any

import pytest

from authority.domain import limits
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.statement import KeyPurpose
from capability_authority.offline import PrivateKey, sign
from tests.unit.signing import kinds, samples
from tests.unit.signing.conftest import Room
from tests.unit.signing.kinds import CAPABILITY, DECISION, GRANT, RECEIPT, VALIDATION, Kind, signed

LONG_ID = "a" * (limits.ID_BYTES + 1)
LONG_KEY = "k" * (limits.KEY_BYTES + 1)

Spoil = Callable[[Any], object]


def put(path: str, value: object) -> Spoil:
    """Sets the field at the path, for instance `holder.id`."""

    def spoil(message: object) -> None:
        *parents, name = path.split(".")
        for parent in parents:
            message = getattr(message, parent)
        if isinstance(value, list):
            getattr(message, name)[:] = value
        else:
            setattr(message, name, value)

    return spoil


def clear(name: str) -> Spoil:
    """Takes the field away."""
    return lambda message: message.ClearField(name)


def add(name: str, *values: object) -> Spoil:
    """Appends to a repeated field."""
    return lambda message: getattr(message, name).extend(values)


def refused_path(room: Room, kind: Kind, spoil: Spoil) -> str:
    """The field that the refusal of the spoiled sample names, though the authority's own key signed it."""
    message = kind.message()
    spoil(message)
    assert kind.purpose is not None
    assert kind.read is not None
    payload = message.SerializeToString(deterministic=True)
    statement = signed(kind.payload_type, payload, room.private_key(kind.purpose))
    refusal = kind.read(room.reader, statement)
    assert isinstance(refusal, Refusal), refusal
    assert refusal.reason is Reason.MALFORMED
    return refusal.facts["field"]


BAD_IDS = {
    "empty": "",
    "leading space": " a",
    "trailing space": "a ",
    "trailing newline": "a\n",
    "zero width space": "a\u200b1",
    "nul": "a\x00",
    "not ascii": "ä",
    "the separator of stored tenants": "a|b",
    "punctuation first": "-a",
    "overlong": LONG_ID,
}

ID_FIELDS = (
    (CAPABILITY, "issuer"),
    (CAPABILITY, "audience"),
    (CAPABILITY, "tenant.namespace"),
    (CAPABILITY, "tenant.id"),
    (CAPABILITY, "memory_namespace"),
    (CAPABILITY, "subject.namespace"),
    (CAPABILITY, "subject.id"),
    (CAPABILITY, "holder.namespace"),
    (CAPABILITY, "holder.id"),
    (CAPABILITY, "action"),
    (CAPABILITY, "validator_profile"),
    (CAPABILITY, "validator_profile_version"),
    (CAPABILITY, "commit_idempotency_key"),
    (VALIDATION, "issuer"),
    (VALIDATION, "tenant.id"),
    (VALIDATION, "memory_namespace"),
    (VALIDATION, "validator_profile"),
    (VALIDATION, "validator_profile_version"),
    (DECISION, "issuer"),
    (DECISION, "tenant.namespace"),
    (DECISION, "memory_namespace"),
    (DECISION, "holder.id"),
    (DECISION, "action"),
    (RECEIPT, "issuer"),
    (RECEIPT, "capability.holder.id"),
    (GRANT, "tenant.id"),
    (GRANT, "subject.namespace"),
    (GRANT, "holder.id"),
    (GRANT, "delegated_by.id"),
)


@pytest.mark.parametrize("bad", BAD_IDS.values(), ids=BAD_IDS.keys())
@pytest.mark.parametrize(("kind", "path"), ID_FIELDS, ids=[f"{kind.name}.{path}" for kind, path in ID_FIELDS])
def test_a09_ids_are_compared_byte_for_byte_and_never_mended(room: Room, kind: Kind, path: str, bad: str) -> None:
    assert refused_path(room, kind, put(path, bad)) == f"{kind.name}.{path}"


UUID_FIELDS = (
    (CAPABILITY, "capability_id"),
    (CAPABILITY, "proposal_id"),
    (VALIDATION, "validation_id"),
    (VALIDATION, "proposal_id"),
    (DECISION, "decision_id"),
    (DECISION, "proposal_id"),
    (RECEIPT, "receipt_id"),
    (RECEIPT, "record_id"),
    (RECEIPT, "capability.capability_id"),
)


@pytest.mark.parametrize(
    "bad", ["", "k1", samples.made_id(1) + "\n", samples.made_id(10).upper(), samples.made_id(1).replace("-", "")]
)
@pytest.mark.parametrize(("kind", "path"), UUID_FIELDS, ids=[f"{kind.name}.{path}" for kind, path in UUID_FIELDS])
def test_ids_that_the_authority_makes_are_lowercase_uuids(room: Room, kind: Kind, path: str, bad: str) -> None:
    assert refused_path(room, kind, put(path, bad)) == f"{kind.name}.{path}"


DIGEST_FIELDS = (
    (CAPABILITY, "holder_key"),
    (CAPABILITY, "proposal_digest"),
    (CAPABILITY, "content_digest"),
    (CAPABILITY, "validation_receipt_digest"),
    (CAPABILITY, "policy_version"),
    (CAPABILITY, "decision_receipt_digest"),
    (VALIDATION, "proposal_digest"),
    (DECISION, "proposal_digest"),
    (DECISION, "validation_receipt_digest"),
    (DECISION, "policy_version"),
    (RECEIPT, "capability_digest"),
    (RECEIPT, "request_fingerprint"),
    (RECEIPT, "capability.content_digest"),
    (GRANT, "policy_version"),
)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
@pytest.mark.parametrize(("kind", "path"), DIGEST_FIELDS, ids=[f"{kind.name}.{path}" for kind, path in DIGEST_FIELDS])
def test_digests_are_exactly_32_bytes(room: Room, kind: Kind, path: str, size: int) -> None:
    assert refused_path(room, kind, put(path, bytes(size))) == f"{kind.name}.{path}"


BAD_SELECTORS = (
    *("", "*", "/*", "*/a", "a*", "a/*/*", "a/**", "/a", "a/", "a//b", "a/../b", "a/./b", "..", "a/../*"),
    *("a b", "a\n", "ä", "%2e/a\\b", "a" * 255 + "/*"),
)
"""What selects nothing: segments that are none, and wildcards that are none."""
OTHER_SHAPES: tuple[tuple[Kind, str, str, Spoil], ...] = (
    (CAPABILITY, "tenant.namespace", "absent tenant", clear("tenant")),
    (CAPABILITY, "holder.namespace", "absent holder", clear("holder")),
    (CAPABILITY, "commit_idempotency_key", "129 bytes", put("commit_idempotency_key", LONG_KEY)),
    (CAPABILITY, "approval_reference", "no uuid", put("approval_reference", "approval-1")),
    (CAPABILITY, "correlation_id", "nul", put("correlation_id", "a\x00")),
    (CAPABILITY, "grant_digest", "31 bytes", put("grant_digest", bytes(31))),
    (CAPABILITY, "media_type", "unknown", put("media_type", "text/html")),
    (CAPABILITY, "media_type", "absent", clear("media_type")),
    (CAPABILITY, "proposal_revision", "zero", put("proposal_revision", 0)),
    (CAPABILITY, "proposal_revision", "negative", put("proposal_revision", -1)),
    (CAPABILITY, "max_uses", "none", clear("max_uses")),
    (CAPABILITY, "max_uses", "two", put("max_uses", 2)),
    (CAPABILITY, "max_uses", "the largest", put("max_uses", 2**32 - 1)),
    (CAPABILITY, "evidence_digests", "short", add("evidence_digests", bytes(31))),
    (CAPABILITY, "evidence_digests", "repeated", add("evidence_digests", samples.digest(4))),
    (CAPABILITY, "evidence_digests", "65", add("evidence_digests", *map(samples.digest, range(100, 163)))),
    (CAPABILITY, "not_before_time", "absent", clear("not_before_time")),
    (CAPABILITY, "expire_time", "absent", clear("expire_time")),
    (CAPABILITY, "expire_time", "before 1970", put("expire_time.seconds", -1)),
    (CAPABILITY, "expire_time", "before year 1", put("expire_time.seconds", -62_135_596_801)),
    (CAPABILITY, "expire_time", "year 10000", put("expire_time.seconds", 253_402_300_800)),
    (CAPABILITY, "expire_time", "infinite", put("expire_time.seconds", 2**63 - 1)),
    (CAPABILITY, "expire_time", "part of a millisecond", put("expire_time.nanos", 1)),
    (CAPABILITY, "expire_time", "negative nanoseconds", put("expire_time.nanos", -1_000_000)),
    (VALIDATION, "outcome", "unspecified", clear("outcome")),
    (VALIDATION, "outcome", "unknown", put("outcome", 9)),
    (VALIDATION, "findings.outcome", "unspecified", lambda message: message.findings[1].ClearField("outcome")),
    (VALIDATION, "findings.validator", "absent", lambda message: message.findings[0].ClearField("validator")),
    (VALIDATION, "findings.reason", "nul", lambda message: setattr(message.findings[0], "reason", "\x00")),
    (VALIDATION, "findings.confidence_permille", "1001", lambda m: setattr(m.findings[0], "confidence_permille", 1001)),
    (VALIDATION, "validate_time", "absent", clear("validate_time")),
    (VALIDATION, "expire_time", "absent", clear("expire_time")),
    (VALIDATION, "proposal_revision", "zero", put("proposal_revision", 0)),
    (DECISION, "outcome", "unspecified", clear("outcome")),
    (DECISION, "outcome", "unknown", put("outcome", 9)),
    (DECISION, "sequence", "negative", put("sequence", -1)),
    (DECISION, "approval_references", "empty", add("approval_references", "")),
    (DECISION, "determining_policies", "nul", add("determining_policies", "\x00")),
    (DECISION, "decide_time", "absent", clear("decide_time")),
    (DECISION, "expire_time", "absent", clear("expire_time")),
    (DECISION, "correlation_id", "overlong", put("correlation_id", LONG_ID)),
    (GRANT, "issuer", "not ascii", put("issuer", "ä")),
    (GRANT, "holder_key", "31 bytes", put("holder_key", bytes(31))),
    (GRANT, "parent_digest", "31 bytes", put("parent_digest", bytes(31))),
    (GRANT, "holder_public_key", "of another key", put("holder_public_key", bytes(32))),
    (GRANT, "holder_public_key", "31 bytes", put("holder_public_key", bytes(31))),
    (GRANT, "nonce", "15 bytes", put("nonce", bytes(15))),
    (GRANT, "nonce", "17 bytes", put("nonce", bytes(17))),
    (GRANT, "actor_chain", "nine", lambda message: message.actor_chain.extend([message.holder] * 7)),
    (GRANT, "actor_chain.id", "empty", lambda message: message.actor_chain[1].ClearField("id")),
    (GRANT, "audiences", "a wildcard", put("audiences.names", ["*"])),
    (GRANT, "audiences", "empty", put("audiences.names", [""])),
    (GRANT, "actions", "unknown", put("actions.names", ["policy.promote"])),
    (GRANT, "actions", "in capitals", put("actions.names", ["Memory.Recall"])),
    (GRANT, "actions", "a wildcard", put("actions.names", ["memory.*"])),
    (GRANT, "actions", "repeated", put("actions.names", ["memory.recall", "memory.recall"])),
    (GRANT, "resources", "65", put("resources.names", [f"r{number}" for number in range(65)])),
    (GRANT, "resources", "repeated", put("resources.names", ["r/*", "r/*"])),
    *((GRANT, "resources", name, put("resources.names", [name])) for name in BAD_SELECTORS),
    (GRANT, "read_memory_namespaces", "a wildcard", put("read_memory_namespaces.names", ["*"])),
    (GRANT, "write_memory_namespaces", "a wildcard", put("write_memory_namespaces.names", ["*"])),
    (GRANT, "tools", "a wildcard", put("tools.names", ["*"])),
    (GRANT, "providers", "a wildcard", put("providers.names", ["*"])),
    (GRANT, "models", "a wildcard", put("models.names", ["*"])),
    (GRANT, "usd_micros", "negative", put("usd_micros.most", -1)),
    (GRANT, "tokens", "negative", put("tokens.most", -1)),
    (GRANT, "latency_ms", "negative", put("latency_ms.most", -1)),
    (GRANT, "concurrency", "negative", put("concurrency.most", -1)),
    (GRANT, "uses", "negative", put("uses.most", -(2**63))),
    (GRANT, "delegation_depth", "nine", put("delegation_depth", 9)),
    (GRANT, "not_before_time", "absent", clear("not_before_time")),
    (GRANT, "expire_time", "absent", clear("expire_time")),
    (GRANT, "correlation_id", "nul", put("correlation_id", "a\x00")),
    (RECEIPT, "commit_time", "absent", clear("commit_time")),
    (RECEIPT, "capability.capability_id", "absent capability", clear("capability")),
    (RECEIPT, "capability.max_uses", "two", put("capability.max_uses", 2)),
    (RECEIPT, "capability.expire_time", "part of a millisecond", put("capability.expire_time.nanos", 999)),
)


@pytest.mark.parametrize(
    ("kind", "path", "spoil"),
    [(kind, path, spoil) for kind, path, _, spoil in OTHER_SHAPES],
    ids=[f"{kind.name}.{path}: {problem}" for kind, path, problem, _ in OTHER_SHAPES],
)
def test_what_no_payload_can_say_is_refused_by_its_path(room: Room, kind: Kind, path: str, spoil: Spoil) -> None:
    assert refused_path(room, kind, spoil) == f"{kind.name}.{path}"


ALLOWED: tuple[tuple[str, Spoil], ...] = (
    ("no grant", clear("grant_digest")),
    ("no approval", clear("approval_reference")),
    ("no correlation", clear("correlation_id")),
    ("no evidence", clear("evidence_digests")),
    ("64 evidence digests", add("evidence_digests", *map(samples.digest, range(100, 162)))),
    ("the longest id", put("memory_namespace", "a" * limits.ID_BYTES)),
    ("the longest key", put("commit_idempotency_key", "k" * limits.KEY_BYTES)),
    ("the first instant", lambda message: message.not_before_time.Clear()),
    ("the last instant", lambda message: message.expire_time.FromMilliseconds(limits.LATEST_MS)),
)


@pytest.mark.parametrize("allow", [allow for _, allow in ALLOWED], ids=[name for name, _ in ALLOWED])
def test_what_a_capability_may_leave_out_or_stretch_to(room: Room, allow: Spoil) -> None:
    # Given a capability at the edge of what is allowed
    message = CAPABILITY.message()
    allow(message)
    payload = message.SerializeToString(deterministic=True)

    # When it is read
    capability = room.reader.open_capability(
        signed(CAPABILITY.payload_type, payload, room.private_key(KeyPurpose.CAPABILITY))
    )

    # Then it has terms
    assert not isinstance(capability, Refusal), capability


def test_nonces_have_16_to_32_bytes_and_key_ids_their_wire_form(room: Room) -> None:
    # Given Invocations that differ in one thing only
    holder = PrivateKey.generate()

    def opens(spoil: Spoil, key_id: str | None = None) -> bool:
        message: Any = kinds.INVOCATION.message()
        spoil(message)
        statement = sign(message, holder)
        if key_id is not None:
            statement.signature.key_id = key_id
        return room.reader.open_invocation(statement.SerializeToString(deterministic=True)) is not None

    # Then just those of the right shape are opened
    assert [size for size in range(40) if opens(put("nonce", bytes(size)))] == list(range(16, 33))
    assert not opens(put("tenant.id", "a\x00"))
    assert not opens(put("principal.id", ""))
    assert not opens(put("request_digest", bytes(31)))
    assert not opens(clear("issue_time"))
    assert not opens(put("method", "/another.Service/Method"), key_id="sha256:\x00")
    assert opens(put("method", "/another.Service/Method"))
    assert opens(put("audience", "another audience"))
