"""The golden vectors over the authority's own rules, where it has them in its own words beside the client's.

The authority tells its callers less, and of several problems the one that is highest in its table: for a vector, which
has one, that is the reason of the table below.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from authority.domain.capability import OpenedCapability
from authority.domain.grant_use import GrantUse, judge_grant_time, judge_use
from authority.domain.invocation import Call, judge_fit
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, highest
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState, Statement
from authority.domain.verify import judge_time
from authority.signing.codec.words import KEY_PURPOSES
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.statements import StatementReader
from authority.usecases.grants.chains import GrantChains
from capability_authority.offline import PAYLOAD_CLASSES, parse_statement, sha256
from capability_authority.offline.verification import PURPOSES
from capability_authority.v1.statements_pb2 import (
    CommitCapability,
    CommitReceipt,
    DecisionReceipt,
    Grant,
    ValidationReceipt,
)
from tests.vectors.vector_runs import Vector, every, vectors

READING = dict.fromkeys(
    ("not_parsable", "unknown_field", "not_deterministic", "unknown_enum_value", "instant_out_of_range"), "MALFORMED"
)
REASONS = {
    **READING,
    "payload_type_mismatch": "MALFORMED",
    "grant_malformed": "MALFORMED",
    "grant_exceeded": "GRANT_EXCEEDED",
    "signature_invalid": "SIGNATURE_INVALID",
    "key_unknown": "ISSUER_UNKNOWN",
    "key_purpose_mismatch": "ISSUER_UNKNOWN",
    "key_scope_mismatch": "ISSUER_UNKNOWN",
    "issuer_mismatch": "ISSUER_UNKNOWN",
    "key_revoked": "KEY_REVOKED",
    "grant_not_yet_valid": "NOT_YET_VALID",
    "not_yet_valid": "NOT_YET_VALID",
    "grant_expired": "EXPIRED",
    "expired": "EXPIRED",
}
"""The authority's reason for each word of the vectors."""

OTHERWISE = {
    # What says that a holder made it is asked for the holder's signature, and its parent is missing.
    "truncated-offline": "SIGNATURE_INVALID",
    "root-by-a-holder": "SIGNATURE_INVALID",
}
"""Where the authority looks at something else first."""

ISSUERS_OWN = {purpose.value for purpose in KeyPurpose}
STATES = {state.value for state in KeyState}


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return KeyRing(KeyFolder(tmp_path / "keys"))


def know(ring: KeyRing, group: dict[str, Any]) -> None:
    """The keys of the set that can be an authority's own."""
    keys = [_issuer_key(told) for told in group["key_set"] if told["purpose"] in ISSUERS_OWN]
    assert ring.replace(keys) == ()


def _issuer_key(told: dict[str, Any]) -> IssuerKey:
    since, tenant = told["compromised_since_ms"], told["tenant"]
    return IssuerKey(
        key_id=told["key_id"],
        public_key=bytes.fromhex(told["public_key"]),
        purpose=KeyPurpose(told["purpose"]),
        state=KeyState(told["state"]),
        create_time=Instant(0),
        compromised_since=None if since is None else Instant(since),
        tenant=None if tenant is None else TenantRef(tenant["namespace"], tenant["id"]),
        memory_namespace=told["memory_namespace"],
    )


def statement(digits: str) -> Statement:
    signed = parse_statement(bytes.fromhex(digits))
    return Statement(signed.payload_type, signed.payload, signed.signature.key_id, signed.signature.signature)


def expected(test: dict[str, Any]) -> str | None:
    return OTHERWISE.get(test["id"]) or REASONS.get(test["reason"])


def word(refusal: Refusal | None) -> str | None:
    return None if refusal is None else refusal.reason.name


@every("grant_chains")
def test_e17_e18_e21_i15_the_authority_judges_chains_alike(vector: Vector, ring: KeyRing) -> None:
    know(ring, vector.group)
    refusal = judge_chain(vector, GrantChains(StatementReader(ring), vector.group["issuer"]))

    assert word(refusal) == expected(vector.test)
    if refusal and refusal.reason.name == "GRANT_EXCEEDED":
        assert refusal.facts["dimension"] == vector.test["field"]
    if refusal and vector.test["reason"] == "grant_malformed" and vector.test["field"] != "chain":
        assert refusal.facts["field"].split(".")[1] == vector.test["field"]


def judge_chain(vector: Vector, chains: GrantChains) -> Refusal | None:
    test, now = vector.test, Instant(vector.test["now_ms"])
    statements = [statement(each) for each in test["chain"]]
    if not statements:
        return chains.judge(())
    chain = chains.open(statements[-1], statements[:-1])
    if isinstance(chain, Refusal):
        return chain
    use = test["use"]
    times = [judge_grant_time(block.terms, now) for block in chain]
    return chains.judge(chain) or highest([*times, judge_use(chain, GrantUse(**use), now) if use else None])


@every("times")
def test_e12_the_authority_judges_times_alike(vector: Vector, ring: KeyRing) -> None:
    know(ring, vector.group)
    refusal = judge_instant(vector, StatementReader(ring))

    assert word(refusal) == expected(vector.test)


def judge_instant(vector: Vector, reader: StatementReader) -> Refusal | None:
    signed, now = statement(vector.test["statement"]), Instant(vector.test["now_ms"])
    if PAYLOAD_CLASSES[vector.group["payload_type"]] is Grant:
        grant = reader.open_grant(signed)
        return grant if isinstance(grant, Refusal) else judge_grant_time(grant.terms, now)
    capability = reader.open_capability(signed)
    return judge_time(capability.terms, now) if isinstance(capability, OpenedCapability) else capability


JUDGED = {CommitCapability, CommitReceipt, ValidationReceipt, DecisionReceipt, Grant}
"""Kinds whose issuer's signature the authority judges."""


def judged_by_the_authority() -> Iterator[Vector]:
    """Vectors of keys that its database can hold, and of what it asks of a signature alone."""
    for vector in vectors("key_states"):
        kind = PAYLOAD_CLASSES[parse_statement(bytes.fromhex(vector.test["statement"])).payload_type]
        is_alone = vector.test["attestation"] is vector.test["content"] is None
        asks_issuer = vector.test["reason"] == "issuer_mismatch" or vector.test["id"].endswith("derived-grant")
        if all(map(_can_be_held, vector.group["key_set"])) and kind in JUDGED and is_alone and not asks_issuer:
            yield vector


def _can_be_held(told: dict[str, Any]) -> bool:
    return told["state"] in STATES and (told["compromised_since_ms"] is None or told["state"] == "revoked")


KEYED = list(judged_by_the_authority())


@pytest.mark.parametrize("vector", KEYED, ids=lambda vector: vector.test["id"])
def test_e09_the_authority_judges_keys_alike(vector: Vector, ring: KeyRing) -> None:
    know(ring, vector.group)

    assert word(judge_key(vector, StatementReader(ring))) == expected(vector.test)


def judge_key(vector: Vector, reader: StatementReader) -> Refusal | None:
    signed = statement(vector.test["statement"])
    message: Any = PAYLOAD_CLASSES[signed.payload_type].FromString(signed.payload)
    claims = message.capability if isinstance(message, CommitReceipt) else message
    tenant = TenantRef(claims.tenant.namespace, claims.tenant.id)
    purpose = KEY_PURPOSES.decode(PURPOSES[signed.payload_type], "purpose")
    memory_namespace = "" if isinstance(message, Grant) else claims.memory_namespace
    return reader.judge_signature(signed, purpose, tenant, memory_namespace)


def test_the_authority_is_asked_about_most_keys() -> None:
    reasons = {vector.test["reason"] for vector in KEYED}

    assert len(KEYED) > 60
    assert reasons == {None, "key_revoked", "key_purpose_mismatch", "key_scope_mismatch", "key_unknown"}


@every("invocations")
def test_i06_the_authority_judges_proofs_alike(vector: Vector, ring: KeyRing) -> None:
    assert judge_proof(vector, StatementReader(ring)) == vector.test["reason"]


def judge_proof(vector: Vector, reader: StatementReader) -> str | None:
    group, call = vector.group, vector.test["call"]
    opened = reader.open_invocation(bytes.fromhex(vector.test["proof"]))
    if opened is None:
        return "unreadable"
    invocation, key = opened.invocation, group["key"]
    if opened.statement.key_id != key["key_id"]:
        return "key_unknown"
    if not reader.is_signed_by(opened.statement, bytes.fromhex(key["public_key"])):
        return "signature_invalid"
    for ref, told in ((invocation.tenant, group["tenant"]), (invocation.principal, group["principal"])):
        if (ref.namespace, ref.id) != (told["namespace"], told["id"]):
            return "principal"
    fitting = Call(
        audience=call["audience"],
        method=call["method"],
        request_digest=sha256(bytes.fromhex(call["request"])),
        is_read=call["kind"] == "read",
        opens_stream=call["kind"] == "stream",
    )
    refusal = judge_fit(invocation, fitting, Instant(vector.test["now_ms"]))
    return None if refusal is None else refusal.facts["proof"]
