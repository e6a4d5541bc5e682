"""`signing_input.json`: what is signed, and what the digest of a statement is over (DSSE v1, semantics §3)."""

import base64
from typing import Final

from capability_authority.offline import pae, sha256, to_wire
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.samples import SAMPLES

__all__ = ["signing_input"]

_FLAGS: Final = (
    Flag(
        "EveryKind", "BASIC", "The payload of a statement of each kind.", "No statement verifies in another language."
    ),
    Flag(
        "Lengths", "EDGE_CASE", "Types and payloads whose length is easily got wrong.", "Some statements do not verify."
    ),
    Flag(
        "Shifted",
        "CONFUSION",
        "Bytes moved between type and payload (case D11).",
        "One signature is good for two statements.",
    ),
    Flag(
        "AnotherComputation",
        "CONFUSION",
        "What comes of a step that is left out or done otherwise.",
        "Statements made here verify nowhere else, or a signature made for something else verifies here.",
    ),
    Flag(
        "WrongDigest",
        "MALLEABILITY",
        "The signing input is right, and the digest is over something else: the signature, or the payload alone (E02).",
        "One statement has two digests, or two have one: what was revoked is used again.",
    ),
)
_TYPE: Final = "application/vnd.capability-authority.grant.v1+protobuf"


def signing_input() -> VectorFile:
    """The file."""
    return VectorFile(
        "signing_input",
        "Payload types and payloads, their DSSE pre-authentication encoding, and its SHA-256: the statement digest.",
        _FLAGS,
        (
            Group("The signing input and digest", [*_every_kind(), *_edges()]),
            Group("Another signing input", _wrong_inputs()),
            Group("Another digest", _wrong_digests()),
        ),
    )


def _every_kind() -> list[Test]:
    return [
        _right(name, "the statement of this name in statements.json", "EveryKind", sample.payload_type, sample.payload)
        for name, sample in SAMPLES.items()
    ]


def _edges() -> list[Test]:
    return [
        _right("empty-payload", "a payload of no bytes", "Lengths", _TYPE, b""),
        _right("empty-type", "a type of no bytes", "Lengths", "", b"a"),
        _right("binary-payload", "NUL, line feed and bytes that are no text", "Lengths", _TYPE, b"\x00\n\xff"),
        _right("type-beyond-ascii", "lengths count bytes of UTF-8", "Lengths", "type/\u00e9", b"a"),
        _right("spaces-in-type", "nothing is escaped", "Lengths", "a 1 b", b"c"),
        _right("shifted-left", 'type "a", payload "bc"', "Shifted", "a", b"bc"),
        _right("shifted-right", 'type "ab", payload "c"', "Shifted", "ab", b"c"),
    ]


def _wrong_inputs() -> list[Test]:
    payload = SAMPLES["grant"].payload
    type_bytes, length = _TYPE.encode(), len(payload)
    right = pae(_TYPE, payload)
    beyond = "type/\u00e9".encode()
    wrong = (
        ("payload-alone", "the payload without anything before it", payload),
        ("no-lengths", "without lengths", b"DSSEv1 " + type_bytes + b" " + payload),
        (
            "no-length-of-payload",
            "without the payload's length",
            b"DSSEv1 %d %b %b" % (len(type_bytes), type_bytes, payload),
        ),
        ("another-version", "DSSEv2", right.replace(b"DSSEv1", b"DSSEv2")),
        ("lower-case", "dssev1", right.replace(b"DSSEv1", b"dssev1")),
        (
            "leading-zeros",
            "lengths with leading zeros",
            b"DSSEv1 0%d %b 0%d %b" % (len(type_bytes), type_bytes, length, payload),
        ),
        (
            "hexadecimal-lengths",
            "lengths in hexadecimal digits",
            b"DSSEv1 %x %b %x %b" % (len(type_bytes), type_bytes, length, payload),
        ),
        (
            "binary-lengths",
            "lengths of eight bytes, as in PASETO",
            b"DSSEv1" + len(type_bytes).to_bytes(8, "little") + type_bytes + length.to_bytes(8, "little") + payload,
        ),
        ("payload-in-base64", "the payload as it stands in JSON", pae(_TYPE, base64.b64encode(payload))),
        ("payload-in-digits", "the payload in hexadecimal digits", pae(_TYPE, payload.hex().encode())),
        ("another-type", "the signing input of another kind", pae(SAMPLES["invocation"].payload_type, payload)),
        ("no-version-of-type", "the type without its version", pae(_TYPE.replace(".v1", ""), payload)),
        ("line-feed-behind", "a line feed behind", right + b"\n"),
        (
            "line-feeds-between",
            "line feeds for spaces",
            b"DSSEv1\n%d\n%b\n%d\n%b" % (len(type_bytes), type_bytes, length, payload),
        ),
        ("a-byte-too-few", "the last byte is missing", right[:-1]),
        ("hashed-first", "its digest in place of the payload", pae(_TYPE, sha256(payload))),
        ("as-of-shifted", "of the type with a byte of the payload", pae(_TYPE + "\n", payload[1:])),
    )
    tests = [
        _test(
            f"input-{name}",
            comment,
            "AnotherComputation",
            (_TYPE, payload),
            claimed,
            sha256(claimed),
            "signing_input_mismatch",
        )
        for name, comment, claimed in wrong
    ]
    by_characters = b"DSSEv1 6 " + beyond + b" 1 a"
    tests.append(
        _test(
            "input-lengths-in-characters",
            "the length of the type in characters",
            "AnotherComputation",
            (beyond.decode(), b"a"),
            by_characters,
            sha256(by_characters),
            "signing_input_mismatch",
        )
    )
    return tests


def _wrong_digests() -> list[Test]:
    sample = SAMPLES["grant"]
    statement, right = sample.statement(), pae(sample.payload_type, sample.payload)
    wrong = (
        ("of-the-payload", "over the payload alone", sha256(sample.payload)),
        ("of-the-signature", "over the signature", sha256(statement.signature.signature)),
        (
            "with-the-signature",
            "over the signing input and the signature",
            sha256(right + statement.signature.signature),
        ),
        (
            "of-the-statement",
            "over the whole statement, serialized",
            sha256(statement.SerializeToString(deterministic=True)),
        ),
        ("hashed-twice", "the digest of the digest", sha256(sha256(right))),
    )
    return [
        _test(
            f"digest-{name}",
            comment,
            "WrongDigest",
            (sample.payload_type, sample.payload),
            right,
            digest,
            "digest_mismatch",
        )
        for name, comment, digest in wrong
    ]


def _right(name: str, comment: str, flag: str, payload_type: str, payload: bytes) -> Test:
    encoded = pae(payload_type, payload)
    return _test(name, comment, flag, (payload_type, payload), encoded, sha256(encoded))


def _test(
    name: str,
    comment: str,
    flag: str,
    signed: tuple[str, bytes],
    encoded: bytes,
    digest: bytes,
    reason: str | None = None,
) -> Test:
    payload_type, payload = signed
    inputs = {
        "payload_type": payload_type,
        "payload": payload.hex(),
        "signing_input": encoded.hex(),
        "statement_digest": to_wire(digest),
    }
    return Test(name, comment, (flag,), inputs, reason)
