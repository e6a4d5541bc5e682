"""Ed25519 at the edges of its definition (novifinancial/ed25519-speccheck).

The twelve cases probe what verifiers disagree on. "Mixed order" is a point with a small-order part, which only the
owner of the key can have put there. What is asserted is the verdict of loading the key and verifying, with its reason.
"""

import json
from typing import Final

import pytest

from capability_authority.offline import KeyRefused, PublicKey
from tests.vectors.vector_files import published

REFUSED, VALID, INVALID = "refused when loaded", "valid", "invalid"

VERDICTS: Final = [
    (REFUSED, "public key of small order, S = 0: valid for any message that hashes right, without a private key"),
    (REFUSED, "public key of small order, R of mixed order, an ordinary S"),
    (VALID, "public key of mixed order, R of small order: made by the owner, and the equation without cofactor holds"),
    (VALID, "public key and R of mixed order: the equation holds with and without cofactor"),
    (INVALID, "public key and R of mixed order: the equation holds only with the cofactor, which is not used"),
    (INVALID, "public key of mixed order: the equation holds only with the cofactor, which is not used"),
    (INVALID, "S is beyond the group order: a second form of a valid signature"),
    (INVALID, "S is far beyond the group order: so large that checks of its top bits alone would miss it"),
    (INVALID, "R is of small order and not canonically encoded, and was hashed as it would be after reduction"),
    (INVALID, "the same, but hashed as it is: the equation holds, and the bytes of the recomputed R differ"),
    (REFUSED, "public key of small order, not canonically encoded, hashed as it would be after reduction"),
    (REFUSED, "public key of small order, not canonically encoded, hashed as it is"),
]


def test_speccheck_has_twelve_cases() -> None:
    assert len(json.loads(published("speccheck/cases.json").read_text())) == len(VERDICTS)


@pytest.mark.parametrize("number", range(len(VERDICTS)), ids=lambda number: f"case-{number}")
def test_e03_speccheck_verdicts(number: int) -> None:
    case = json.loads(published("speccheck/cases.json").read_text())[number]
    expected, reason = VERDICTS[number]

    assert verdict(case) == expected, reason


def verdict(case: dict[str, str]) -> str:
    try:
        public_key = PublicKey(bytes.fromhex(case["pub_key"]))
    except KeyRefused:
        return REFUSED
    verified = public_key.verify(bytes.fromhex(case["signature"]), bytes.fromhex(case["message"]))
    return VALID if verified else INVALID
