"""Canonical JSON against the published test data of RFC 8785 (cyberphone/json-canonicalization)."""

import struct

import pytest

from capability_authority.offline import canonicalize, is_canonical, parse, sha256
from tests.vectors.vector_files import published

OUTPUT_DIGESTS = {
    "arrays": ("099601b1", "ac42"),
    "french": ("d99d0ebd", "7ed5"),
    "structures": ("605f6500", "95d5"),
    "unicode": ("0d99aad9", "81d3"),
    "values": ("2d5e01a3", "aacb"),
    "weird": ("6af595a9", "94d1"),
}
"""First and last digits of the SHA-256 of each output (case D01)."""

NUMBER_DIGESTS = {1_000: ("be18b62b", "8687"), 10_000: ("b9f7a8e7", "6892")}
"""The same of the number files, by their count of lines (case D03)."""


@pytest.mark.parametrize("name", OUTPUT_DIGESTS)
def test_d01_the_published_documents_are_canonicalized_byte_for_byte(name: str) -> None:
    source = published(f"jcs/testdata/input/{name}.json").read_bytes()
    expected = bytes.fromhex(published(f"jcs/testdata/outhex/{name}.txt").read_text())

    written = canonicalize(parse(source))

    assert written == expected
    assert is_canonical(written)
    assert_ends(sha256(written).hex(), OUTPUT_DIGESTS[name])


@pytest.mark.parametrize("lines", NUMBER_DIGESTS)
def test_d03_the_published_doubles_are_written_as_published(lines: int) -> None:
    source = published(f"jcs/es6numbers_{lines}.txt").read_bytes()
    assert_ends(sha256(source).hex(), NUMBER_DIGESTS[lines])

    written = [_rewritten(line) for line in source.splitlines()]

    assert b"\n".join([*written, b""]) == source
    assert len(written) == lines


def _rewritten(line: bytes) -> bytes:
    """A line "<bits of a double in hexadecimal>,<double>" with the double written anew from its bits."""
    bits = line.split(b",")[0]
    (double,) = struct.unpack(">d", bytes.fromhex(bits.decode().zfill(16)))
    return bits + b"," + canonicalize(double)


def assert_ends(digest: str, ends: tuple[str, str]) -> None:
    """Check the first and last digits."""
    assert (digest[:8], digest[-4:]) == ends
