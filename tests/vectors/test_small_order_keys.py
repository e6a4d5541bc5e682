"""Public keys against `measured/ed25519_small_order.json`."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from capability_authority.offline import KeyRefused, PublicKey
from tests.vectors.vector_files import own

VECTORS = own("measured/ed25519_small_order.json")
FORGERY = VECTORS["forgery"]


def test_e03_the_library_takes_a_forgery_that_needs_no_private_key() -> None:
    forged = bytes.fromhex(FORGERY["sig"])

    Ed25519PublicKey.from_public_bytes(bytes.fromhex(FORGERY["pk"])).verify(forged, b"any message at all")

    with pytest.raises(KeyRefused, match="small order"):
        PublicKey(bytes.fromhex(FORGERY["pk"]))


@pytest.mark.parametrize("vector", VECTORS["small_order_canonical"], ids=lambda vector: vector["pk"][:8])
def test_e03_all_eight_points_of_small_order_are_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(KeyRefused, match="small order"):
        PublicKey(bytes.fromhex(vector["pk"]))


@pytest.mark.parametrize("vector", VECTORS["non_canonical"], ids=lambda vector: vector["note"])
def test_e03_their_non_canonical_encodings_are_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(KeyRefused):
        PublicKey(bytes.fromhex(vector["pk"]))


def test_e03_the_vectors_are_all_there() -> None:
    keys = {vector["pk"] for vector in VECTORS["small_order_canonical"] + VECTORS["non_canonical"]}

    assert len(VECTORS["small_order_canonical"]) == 8
    assert len(keys) == 14
