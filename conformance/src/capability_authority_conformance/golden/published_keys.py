"""The keys of the vectors. Their seeds are published on purpose, so that anyone signs with them: never trust them."""

from functools import cache
from typing import Final

from capability_authority.offline import PrivateKey, sha256
from capability_authority_conformance.golden.form import Inputs

__all__ = ["published", "published_key"]

_LABEL: Final = "capability-authority test key: "
_FROZEN: Final = {"revocation": "78d3addbc5fa5a80ab372f2fbb636dcb1a60f2b06384d85c5bbaf5983639b3c1"}
"""Seeds of statements that were frozen before every seed came of a name."""


@cache
def published_key(name: str) -> PrivateKey:
    """The key of this name; its seed is the SHA-256 of `capability-authority test key: ` and the name."""
    return PrivateKey.from_seed(_seed(name))


def published(name: str) -> Inputs:
    """A key as a group of vectors shows it, with the seed that signs for it."""
    public_key = published_key(name).public_key
    return {
        "name": name,
        "seed": _seed(name).hex(),
        "public_key": public_key.raw.hex(),
        "key_id": public_key.key_id,
    }


def _seed(name: str) -> bytes:
    frozen = _FROZEN.get(name)
    return bytes.fromhex(frozen) if frozen else sha256((_LABEL + name).encode())
