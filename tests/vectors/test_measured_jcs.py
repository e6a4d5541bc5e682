"""Canonical JSON against `measured/jcs_extra.json`."""

import json
from typing import Any

import pytest

from capability_authority.offline import JsonError, canonical_content, canonicalize, is_canonical, parse, sha256
from tests.vectors.vector_files import own

VECTORS = {vector["id"]: vector for vector in own("measured/jcs_extra.json")["vectors"]}
ACCEPTED = [vector for vector in VECTORS.values() if "canonical" in vector]
REFUSED = [vector for vector in VECTORS.values() if vector.get("expect") == "REJECT"]

NO_CONTENT = {"exp-thresholds": "integer_out_of_range", "escapes": "nul"}
"""Vectors that RFC 8785 canonicalizes and the content rule does not take, with the problem."""


def digest(name: str) -> str:
    """SHA-256 of the canonical form of a vector's input."""
    return sha256(canonicalize(json.loads(VECTORS[name]["json_input"]))).hex()


def test_every_vector_says_what_to_expect() -> None:
    assert len(ACCEPTED) + len(REFUSED) == len(VECTORS)


@pytest.mark.parametrize("vector", ACCEPTED, ids=lambda vector: vector["id"])
def test_the_canonical_form_is_the_measured_one(vector: dict[str, Any]) -> None:
    written = canonicalize(json.loads(vector["json_input"]))

    assert written.hex() == vector["canonical_utf8_hex"]
    assert written.decode() == vector["canonical"]
    assert sha256(written).hex() == vector["sha256"]


@pytest.mark.parametrize("vector", ACCEPTED, ids=lambda vector: vector["id"])
def test_what_is_content_is_taken_as_content(vector: dict[str, Any]) -> None:
    problem = NO_CONTENT.get(vector["id"])
    value = json.loads(vector["json_input"])

    if problem is None:
        assert canonical_content(value).hex() == vector["canonical_utf8_hex"]
        assert is_canonical(vector["canonical"].encode())
    else:
        with pytest.raises(JsonError, match=problem):
            canonical_content(value)
        assert not is_canonical(vector["canonical"].encode())


@pytest.mark.parametrize("vector", REFUSED, ids=lambda vector: vector["id"])
def test_what_must_be_refused_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(JsonError):
        parse(vector["json_input"].encode())


def test_d02_keys_are_sorted_by_utf16_code_units() -> None:
    assert digest("key-order-astral") == "425159f5c1f0575fbcbf9d05a8f60cde3d040eae5166aa2136657564048651b6"


def test_d02_the_order_of_code_points_would_give_the_wrong_digest() -> None:
    value = json.loads(VECTORS["key-order-astral"]["json_input"])
    wrong = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()

    assert sha256(wrong).hex() == "1c314559129cce00bc1b3caa2ee37fa3e81f926aee65b34f8e4e21856b2de83b"
    assert not is_canonical(wrong)


def test_d08_three_spellings_have_three_digests() -> None:
    assert digest("nfc").startswith("f2886017")
    assert digest("nfd").startswith("3d68ce21")
    assert digest("angstrom").startswith("95a36f1c")


def test_d09_missing_empty_and_null_have_three_digests() -> None:
    assert digest("ns-missing").startswith("c297b48d")
    assert digest("ns-empty").startswith("202b9ab7")
    assert digest("ns-null").startswith("ece63575")


def test_d10_order_and_duplicates_have_three_digests() -> None:
    assert digest("array-order").startswith("91801003")
    assert digest("array-order-2").startswith("021feb89")
    assert digest("array-dup").startswith("84690d71")
