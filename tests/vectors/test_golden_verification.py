"""The golden vectors of keys, times, proofs and chains of grants, run over the client."""

from typing import Any

from capability_authority.offline import (
    PAYLOAD_CLASSES,
    GrantUse,
    KeyRefused,
    OfflineError,
    PrivateKey,
    PublicKey,
    RevocationFeed,
    digest_of,
    instant_ms,
    make_invocation,
    open_statement,
    parse_statement,
    sha256,
    verify_as,
    verify_grant_chain,
    verify_receipt,
    verify_statement,
)
from capability_authority.offline.narrowing import ACTIONS, AMOUNTS, EXACT, FLAGS, SELECTORS
from capability_authority.offline.statements import REVOCATION
from capability_authority.v1.statements_pb2 import CommitCapability, Grant, Invocation, SignedStatement
from capability_authority.v1.types_pb2 import TenantRef
from tests.vectors.key_sets import key_set_of
from tests.vectors.vector_runs import Vector, every, vectors, word

SKEW_MS = 30_000
LIVES_MS = {"read": 60_000, "stream": 60_000, "mutation": 300_000}
KEY_PROBLEMS = {"wrong_length": "bytes, not", "not_canonical": "canonical encoding", "small_order": "small order"}


def statement(digits: str) -> SignedStatement:
    return parse_statement(bytes.fromhex(digits))


@every("public_keys")
def test_e02_e03_weak_keys_are_refused_and_others_verify_their_own(vector: Vector) -> None:
    assert judge_key(vector.test) is (vector.test["result"] == "valid")


def judge_key(test: dict[str, Any]) -> bool:
    try:
        key = PublicKey(bytes.fromhex(test["public_key"]))
    except KeyRefused:
        assert test["key_id"] is None
        return False
    assert key.key_id == test["key_id"]
    return key.verify(bytes.fromhex(test["signature"]), bytes.fromhex(test["message"]))


@every("key_states")
def test_e09_signatures_count_by_their_key(vector: Vector) -> None:
    assert judge_key_state(vector) == vector.test["reason"]


def judge_key_state(vector: Vector) -> str | None:
    test, key_set = vector.test, key_set_of(vector.group)
    signed = statement(test["statement"])
    try:
        if test["attestation"] is None and test["content"] is None:
            verify_statement(signed, key_set)
        else:
            verify_receipt(
                signed,
                key_set,
                attestation=None if test["attestation"] is None else statement(test["attestation"]),
                content=None if test["content"] is None else bytes.fromhex(test["content"]),
            )
    except OfflineError as error:
        return word(error)
    return None


@every("revocation_feeds")
def test_what_a_feed_withdraws_no_longer_counts(vector: Vector) -> None:
    assert judge_feed(vector) == vector.test["reason"]


def judge_feed(vector: Vector) -> str | None:
    group, test, key_set = vector.group, vector.test, key_set_of(vector.group)
    feed = RevocationFeed(TenantRef(**group["tenant"]))
    try:
        for told in map(statement, test["feed"]):
            (feed.take if told.payload_type == REVOCATION else feed.hear)(told, key_set)
        view = feed.view(now_ms=test["now_ms"], maximum_age_ms=test["maximum_age_ms"])
        verify_statement(statement(test["statement"]), key_set, revocations=view)
    except OfflineError as error:
        return word(error)
    return None


@every("times")
def test_e12_what_has_a_time_holds_in_it_alone(vector: Vector) -> None:
    assert judge_time(vector) == vector.test["reason"]


def judge_time(vector: Vector) -> str | None:
    """Of a grant the client judges the time; of a capability its caller does, by what the statement says."""
    test, key_set = vector.test, key_set_of(vector.group)
    signed = statement(test["statement"])
    try:
        if PAYLOAD_CLASSES[vector.group["payload_type"]] is Grant:
            verify_grant_chain([signed], key_set, now_ms=test["now_ms"])
            return None
        capability = verify_as(signed, key_set, CommitCapability)
    except OfflineError as error:
        return word(error).removeprefix("grant_")
    if test["now_ms"] < instant_ms(capability.not_before_time) - SKEW_MS:
        return "not_yet_valid"
    return "expired" if test["now_ms"] >= instant_ms(capability.expire_time) else None


@every("invocations")
def test_i06_proofs_fit_one_call(vector: Vector) -> None:
    assert judge_proof(vector) == vector.test["reason"]


def judge_proof(vector: Vector) -> str | None:
    group, call = vector.group, vector.test["call"]
    key = PublicKey(bytes.fromhex(group["key"]["public_key"]))
    try:
        proof = statement(vector.test["proof"])
        invocation = open_statement(proof, expected=Invocation, keys=lambda _: key)
    except OfflineError as error:
        return word(error) if word(error) in {"key_unknown", "signature_invalid"} else "unreadable"
    if not is_well_formed(invocation):
        return "unreadable"
    misfits = {
        "principal": not (
            is_ref(invocation.tenant, group["tenant"]) and is_ref(invocation.principal, group["principal"])
        ),
        "audience": invocation.audience != call["audience"],
        "method": invocation.method != call["method"],
        "request_digest": invocation.request_digest != sha256(bytes.fromhex(call["request"])),
        "issue_time": not -SKEW_MS
        <= vector.test["now_ms"] - instant_ms(invocation.issue_time)
        < LIVES_MS[call["kind"]],
    }
    return next((name for name, misfit in misfits.items() if misfit), None)


def is_well_formed(invocation: Invocation) -> bool:
    """What an Invocation must say at all, beside being readable; ids are those of the registered caller or others."""
    refs = (invocation.tenant, invocation.principal)
    return (
        16 <= len(invocation.nonce) <= 32
        and len(invocation.request_digest) == 32
        and invocation.HasField("issue_time")
        and instant_ms(invocation.issue_time) >= 0
        and all(part and part == part.strip() for ref in refs for part in (ref.namespace, ref.id))
    )


def is_ref(ref: Any, expected: dict[str, str]) -> bool:
    return {"namespace": ref.namespace, "id": ref.id} == expected


def test_an_invocation_made_again_has_the_same_bytes() -> None:
    for group, test in (vector for vector in vectors("invocations") if vector.test["result"] == "valid"):
        said = Invocation.FromString(statement(test["proof"]).payload)

        made = make_invocation(
            private_key=PrivateKey.from_seed(bytes.fromhex(group["key"]["seed"])),
            tenant=said.tenant,
            principal=said.principal,
            audience=said.audience,
            method=said.method,
            request_bytes=bytes.fromhex(test["call"]["request"]),
            nonce=said.nonce,
            issued_ms=instant_ms(said.issue_time),
        )

        assert made.hex() == test["proof"]


@every("grant_chains")
def test_e17_e18_e21_i15_chains_only_narrow(vector: Vector) -> None:
    assert judge_chain(vector) == (vector.test["reason"], vector.test["field"])


def judge_chain(vector: Vector) -> tuple[str | None, str | None]:
    test = vector.test
    chain = [statement(each) for each in test["chain"]]
    use = None if test["use"] is None else GrantUse(**test["use"])
    try:
        verified = verify_grant_chain(chain, key_set_of(vector.group), now_ms=test["now_ms"], use=use)
    except OfflineError as error:
        return word(error), getattr(error, "dimension", None) or getattr(error, "path", None) or None
    assert verified.digests == tuple(map(digest_of, chain))
    return None, None


def test_every_dimension_is_tried_narrower_equal_wider_absent_and_empty() -> None:
    tried = {vector.test["id"]: vector.test["result"] for vector in vectors("grant_chains")}

    for dimension in (*EXACT, *SELECTORS, *AMOUNTS):
        name = dimension.replace("_", "-")
        assert [tried[f"{name}-{how}"] for how in ("narrower", "nothing", "wider", "absent", "from-absent")] == [
            *("valid", "valid", "invalid", "invalid", "invalid"),
        ]
    for name in FLAGS:
        assert [tried[f"{name}-{how}"] for how in ("denied", "allowed", "absent")] == ["valid", "invalid", "invalid"]


def test_what_is_used_is_of_the_closed_vocabulary() -> None:
    used = [vector.test["use"]["action"] for vector in vectors("grant_chains") if vector.test["use"]]

    assert set(used) - ACTIONS == {"policy.promote"}
