"""Digests are written in one way only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.offline import DigestError, from_wire, sha256, to_wire

EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_digest_of_nothing_is_the_published_one() -> None:
    assert to_wire(sha256(b"")) == EMPTY


@given(st.binary(min_size=32, max_size=32))
def test_what_is_written_reads_back(digest: bytes) -> None:
    assert from_wire(to_wire(digest)) == digest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sha256:",
        EMPTY.upper(),
        EMPTY.replace("sha256", "SHA256"),
        EMPTY.replace("sha256", "sha512"),
        EMPTY[:-1],
        EMPTY + "0",
        EMPTY + "\n",
        " " + EMPTY,
        EMPTY + " ",
        EMPTY[:7] + "+" + EMPTY[8:],
        EMPTY[:7] + "٣" + EMPTY[8:],
        EMPTY[7:],
    ],
)
def test_any_other_form_is_refused(text: str) -> None:
    with pytest.raises(DigestError):
        from_wire(text)


@pytest.mark.parametrize("length", [0, 20, 31, 33, 64])
def test_a_digest_of_another_length_is_not_written(length: int) -> None:
    with pytest.raises(DigestError):
        to_wire(bytes(length))
