"""Ed25519 verification against Wycheproof (C2SP/wycheproof, testvectors_v1/ed25519_test.json)."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from capability_authority.offline import PublicKey
from tests.vectors.vector_files import published


def cases() -> Iterator[tuple[PublicKey, dict[str, Any]]]:
    """Every test with the public key of its group."""
    suite = json.loads(published("wycheproof/ed25519_test.json").read_text())
    for group in suite["testGroups"]:
        assert group["publicKey"]["curve"] == "edwards25519"
        public_key = PublicKey(bytes.fromhex(group["publicKey"]["pk"]))
        for test in group["tests"]:
            yield public_key, test


def verdict(public_key: PublicKey, test: dict[str, Any]) -> str:
    verified = public_key.verify(bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"]))
    return "valid" if verified else "invalid"


def test_e01_every_verdict_is_the_published_one() -> None:
    wrong = [test["tcId"] for public_key, test in cases() if verdict(public_key, test) != test["result"]]

    assert wrong == []


def test_e01_the_suite_is_whole() -> None:
    assert Counter(test["result"] for _, test in cases()) == {"valid": 88, "invalid": 63}


def test_e02_no_signature_is_valid_in_a_second_form() -> None:
    malleable = [(key, test) for key, test in cases() if "SignatureMalleability" in test["flags"]]

    assert 63 in {test["tcId"] for _, test in malleable}
    for public_key, test in malleable:
        assert verdict(public_key, test) == "invalid", test["tcId"]


def test_e05_signatures_of_another_length_are_invalid() -> None:
    lengths = {"TruncatedSignature", "SignatureWithGarbage"}
    misshapen = [(key, test) for key, test in cases() if lengths & set(test["flags"])]

    assert {test["tcId"] for _, test in misshapen} >= set(range(30, 38))
    for public_key, test in misshapen:
        assert len(bytes.fromhex(test["sig"])) != 64, test["tcId"]
        assert verdict(public_key, test) == "invalid", test["tcId"]
