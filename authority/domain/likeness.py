"""By what contents are found that say nearly the same, or something else of the same thing."""

from dataclasses import dataclass

HASH_BYTES = 4
SIGNATURE_HASHES = 128
SIGNATURE_BYTES = SIGNATURE_HASHES * HASH_BYTES
MARK_BYTES = 16
_WHOLE = 1000


@dataclass(frozen=True, slots=True)
class Assertion:
    """One thing that a content asserts: `about` stands for subject and predicate, `value` for the value; digests."""

    about: bytes
    value: bytes


@dataclass(frozen=True, slots=True)
class Traits:
    """What a content is kept under, so that others are compared with it and never read.

    `signature` is a MinHash signature, which proves nothing: `SIGNATURE_HASHES` hashes, by which texts are compared;
    empty for a text too short to be like another;
    `bands` are digests of its parts: contents that are much alike share at least one.
    """

    signature: bytes = b""
    bands: tuple[bytes, ...] = ()
    assertions: tuple[Assertion, ...] = ()


NO_TRAITS = Traits()
"""Of a content that nothing is compared with."""


def similarity_permille(one: bytes, other: bytes) -> int:
    """About how many of 1,000 pieces two contents share, by their signatures: the part of their hashes that agree."""
    if len(one) != len(other) or not one:
        return 0
    places = range(0, len(one), HASH_BYTES)
    agreeing = sum(one[at : at + HASH_BYTES] == other[at : at + HASH_BYTES] for at in places)
    return agreeing * _WHOLE // len(places)
