"""The golden vectors of canonical JSON, contents, digests, fingerprints and signing inputs, run over the client."""

from typing import Any

from capability_authority.offline import (
    DigestError,
    JsonError,
    NonCanonicalJson,
    canonicalize,
    from_wire,
    pae,
    parse,
    request_fingerprint,
    require_canonical,
    sha256,
    statement_digest,
    to_wire,
)
from tests.vectors.vector_runs import Vector, every, vectors


@every("canonical_json")
def test_d01_d10_documents_have_one_canonical_form(vector: Vector) -> None:
    assert judge_document(vector.test) == vector.test["reason"]


def judge_document(test: dict[str, Any]) -> str | None:
    try:
        written = canonicalize(parse(bytes.fromhex(test["document"])))
    except JsonError as error:
        assert test["canonical"] is test["digest"] is None
        return error.problem
    if written.hex() != test["canonical"]:
        return "not_canonical"
    return None if to_wire(sha256(written)) == test["digest"] else "digest_mismatch"


@every("content")
def test_d04_d06_d16_content_is_canonical_or_refused(vector: Vector) -> None:
    try:
        require_canonical(bytes.fromhex(vector.test["content"]))
        reason = None
    except NonCanonicalJson as error:
        reason = error.problem

    assert reason == vector.test["reason"]


@every("digests")
def test_digests_have_one_form(vector: Vector) -> None:
    try:
        matches = from_wire(vector.test["digest"]) == sha256(bytes.fromhex(vector.test["content"]))
        reason = None if matches else "mismatch"
    except DigestError:
        reason = "malformed"

    assert reason == vector.test["reason"]


@every("fingerprints")
def test_d10_d11_d14_requests_have_one_fingerprint(vector: Vector) -> None:
    assert judge_fingerprint(vector.test) == vector.test["reason"]


def judge_fingerprint(test: dict[str, Any]) -> str | None:
    try:
        matches = to_wire(request_fingerprint(**test["terms"])) == test["fingerprint"]
    except DigestError:
        return "malformed"
    return None if matches else "mismatch"


def test_d10_d11_no_two_requests_have_the_same_fingerprint() -> None:
    valid = [vector.test["fingerprint"] for vector in vectors("fingerprints") if vector.test["result"] == "valid"]

    assert len(set(valid)) == len(valid)


@every("signing_input")
def test_d11_types_and_payloads_have_one_signing_input(vector: Vector) -> None:
    assert judge_signing_input(vector.test) == vector.test["reason"]


def judge_signing_input(test: dict[str, Any]) -> str | None:
    payload = bytes.fromhex(test["payload"])
    if pae(test["payload_type"], payload).hex() != test["signing_input"]:
        return "signing_input_mismatch"
    right = to_wire(statement_digest(test["payload_type"], payload))
    return None if right == test["statement_digest"] else "digest_mismatch"
