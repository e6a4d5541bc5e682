"""`digests.json`: digests in their wire form."""

from typing import Final

from capability_authority.offline import sha256, to_wire
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile

__all__ = ["digests"]

_FLAGS: Final = (
    Flag("Ordinary", "BASIC", "A digest and what it is of.", "Nothing can be named."),
    Flag(
        "AnotherForm",
        "AMBIGUITY",
        'A digest is written "sha256:" and 64 lowercase hexadecimal digits; nothing is trimmed, folded or completed.',
        "One thing has many names: what is compared or unique by name is missed.",
    ),
    Flag(
        "OfSomethingElse",
        "CONFUSION",
        "A digest in its form, and of other bytes.",
        "Bytes pass for bytes they are not.",
    ),
)
_CONTENT: Final = b'{"fact":"a"}'


def digests() -> VectorFile:
    """The file."""
    right = to_wire(sha256(_CONTENT))
    digits = right.removeprefix("sha256:")
    taken = (
        ("content", "of a document", _CONTENT),
        ("nothing", "of no bytes", b""),
        ("nul", "of a NUL", b"\x00"),
    )
    misshapen = (
        ("no-prefix", "the digits alone", digits),
        ("another-prefix", "of another algorithm", f"sha512:{digits}"),
        ("capital-prefix", "SHA256", f"SHA256:{digits}"),
        ("capital-digits", "capital digits", f"sha256:{digits.upper()}"),
        ("short", "a digit too few", right[:-1]),
        ("long", "a digit too many", right + "0"),
        ("line-feed", "behind, which `$` lets pass", right + "\n"),
        ("space", "before", " " + right),
        ("space-inside", "behind the colon", f"sha256: {digits}"),
        ("base64", "the bytes in base64", "sha256:" + "A" * 43 + "="),
        ("other-digits", "digits of another script", "sha256:" + "\u0660" * 64),
        ("empty", "nothing", ""),
        ("nul", "a NUL behind", right + "\x00"),
    )
    others = (
        ("of-a-text-with-line-feed", "of the same with a line feed", to_wire(sha256(_CONTENT + b"\n"))),
        ("of-its-digits", "of the content in hexadecimal digits", to_wire(sha256(_CONTENT.hex().encode()))),
        ("one-bit", "the last bit is another", right[:-1] + format(int(right[-1], 16) ^ 1, "x")),
    )
    return VectorFile(
        "digests",
        "Contents and digests in wire form: whether the digest is that of exactly these bytes.",
        _FLAGS,
        (
            Group(
                "The digest of the content",
                [_test(name, comment, data, to_wire(sha256(data)), "Ordinary") for name, comment, data in taken],
            ),
            Group(
                "No digest in wire form",
                [
                    _test(f"misshapen-{name}", comment, _CONTENT, digest, "AnotherForm", "malformed")
                    for name, comment, digest in misshapen
                ],
            ),
            Group(
                "The digest of something else",
                [
                    _test(name, comment, _CONTENT, digest, "OfSomethingElse", "mismatch")
                    for name, comment, digest in others
                ],
            ),
        ),
    )


def _test(name: str, comment: str, data: bytes, digest: str, flag: str, reason: str | None = None) -> Test:
    return Test(name, comment, (flag,), {"content": data.hex(), "digest": digest}, reason)
