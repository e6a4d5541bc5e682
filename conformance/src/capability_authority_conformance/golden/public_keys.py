"""`public_keys.json`: public keys that can be trusted to verify, and those for which anyone can sign (case E03)."""

from typing import Final

from capability_authority.offline import sha256, to_wire
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.published_keys import published_key

__all__ = ["public_keys"]

_FLAGS: Final = (
    Flag("Ordinary", "BASIC", "A key and a signature of its own.", "Nothing verifies."),
    Flag(
        "SmallOrder",
        "WEAK_KEY",
        "One of the eight points of small order: its signature was made without a private key, and libraries take it.",
        "Who registers such a key lets everybody sign for it, and disowns every signature.",
    ),
    Flag(
        "NotCanonical",
        "WEAK_KEY",
        "A second encoding of a point, with a coordinate beyond the field or a sign of zero.",
        "One key has two ids, or a weak key passes a list of weak ones.",
    ),
    Flag("Length", "AMBIGUITY", "Not 32 bytes.", "A reader fails, or guesses."),
    Flag("NoPoint", "EDGE_CASE", "32 bytes that encode no point: they verify nothing.", "A reader fails at a call."),
    Flag("AnotherMessage", "FORGERY", "A good key, and a signature over something else.", "Anyone makes statements."),
    Flag(
        "SecondSignature",
        "MALLEABILITY",
        "A second form of a good signature (case E02).",
        "One statement has many signatures.",
    ),
)

_IDENTITY: Final = bytes([1]) + bytes(31)
_FORGERY: Final = _IDENTITY + bytes(32)
"""R is the identity and S is 0. It fits every message whose hash is a multiple of the key's order."""
_GROUP_ORDER: Final = 2**252 + 27742317777372353535851937790883648493

_SMALL: Final = (
    (
        "identity",
        "the identity: every message fits",
        "0100000000000000000000000000000000000000000000000000000000000000",
        0,
    ),
    ("order-2", "order 2", "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", 2),
    ("order-4", "order 4", "0000000000000000000000000000000000000000000000000000000000000000", 0),
    ("order-4-other", "order 4", "0000000000000000000000000000000000000000000000000000000000000080", 0),
    ("order-8", "order 8", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", 1),
    ("order-8-sign", "order 8", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa", 4),
    ("order-8-other", "order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", 12),
    ("order-8-other-sign", "order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85", 11),
)
"""Id, comment, key, and the number of a message that fits; found by trying one after the other."""
_SECOND_ENCODINGS: Final = (
    (
        "identity-sign",
        "the identity with a sign of zero",
        "0100000000000000000000000000000000000000000000000000000000000080",
        0,
    ),
    (
        "order-2-sign",
        "order 2 with a sign of zero",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        2,
    ),
    ("p", "y = p, which is 0", "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", 3),
    ("p-sign", "y = p with a sign", "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", 3),
    ("p-and-1", "y = p + 1, which is 1", "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", 0),
    ("p-and-1-sign", "y = p + 1 with a sign", "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", 0),
)
_NO_POINT: Final = bytes([2]) + bytes(31)
"""y = 2 is the coordinate of no point."""
_NAMES: Final = ("capability", "grant", "receipt", "holder", "agent")
_MESSAGE: Final = b"message"


def public_keys() -> VectorFile:
    """The file."""
    weak = [
        *(("SmallOrder", "small_order", row) for row in _SMALL),
        *(("NotCanonical", "not_canonical", row) for row in _SECOND_ENCODINGS),
    ]
    return VectorFile(
        "public_keys",
        "Raw Ed25519 public keys with a message and a signature: the key must be refused when it is loaded, or verify.",
        _FLAGS,
        (
            Group("Keys that verify what they signed", [_own(name) for name in _NAMES]),
            Group(
                "Keys for which anyone can sign, with a signature that nobody's private key made",
                [_weak(flag, reason, *row) for flag, reason, row in weak],
            ),
            Group("What is no key", _misshapen()),
            Group("Keys that can be loaded, and signatures that are not theirs", _not_theirs()),
        ),
    )


def _own(name: str) -> Test:
    key = published_key(name)
    return _test(name, "a published key", "Ordinary", key.public_key.raw, _MESSAGE, key.sign(_MESSAGE), None)


def _weak(flag: str, reason: str, name: str, comment: str, key: str, number: int) -> Test:
    return _test(name, comment, flag, bytes.fromhex(key), b"message %d" % number, _FORGERY, reason)


def _misshapen() -> list[Test]:
    key = published_key("holder")
    raw, signature = key.public_key.raw, key.sign(_MESSAGE)
    shapes = (
        ("empty", "no bytes", b""),
        ("short", "31 bytes", raw[:-1]),
        ("long", "33 bytes", raw + b"\0"),
        ("digits", "its hexadecimal digits", raw.hex().encode()),
        ("subject-public-key-info", "as X.509 has it", bytes.fromhex("302a300506032b6570032100") + raw),
    )
    return [
        _test(f"not-{name}", comment, "Length", data, _MESSAGE, signature, "wrong_length")
        for name, comment, data in shapes
    ]


def _not_theirs() -> list[Test]:
    key = published_key("holder")
    raw, good = key.public_key.raw, key.sign(_MESSAGE)
    second = good[:32] + (int.from_bytes(good[32:], "little") + _GROUP_ORDER).to_bytes(32, "little")
    wrong = (
        ("no-point", "y = 2", "NoPoint", _NO_POINT, good),
        ("no-point-forged", "y = 2, with the forgery for weak keys", "NoPoint", _NO_POINT, _FORGERY),
        ("forgery", "the forgery for weak keys", "AnotherMessage", raw, _FORGERY),
        ("zeros", "64 zero bytes", "AnotherMessage", raw, bytes(64)),
        ("another-message", "over another message", "AnotherMessage", raw, key.sign(b"message!")),
        ("another-key", "by another key", "AnotherMessage", raw, published_key("agent").sign(_MESSAGE)),
        ("of-the-digest", "over the digest of the message", "AnotherMessage", raw, key.sign(sha256(_MESSAGE))),
        ("added-order", "the order of the group added to S", "SecondSignature", raw, second),
        ("cut", "63 bytes", "SecondSignature", raw, good[:-1]),
        ("and-a-zero", "65 bytes", "SecondSignature", raw, good + b"\0"),
    )
    return [
        _test(f"signature-{name}", comment, flag, data, _MESSAGE, signature, "signature_invalid")
        for name, comment, flag, data, signature in wrong
    ]


def _test(name: str, comment: str, flag: str, key: bytes, message: bytes, signature: bytes, reason: str | None) -> Test:
    inputs = {
        "public_key": key.hex(),
        "key_id": to_wire(sha256(key)) if reason in (None, "signature_invalid") else None,
        "message": message.hex(),
        "signature": signature.hex(),
    }
    return Test(name, comment, (flag,), inputs, reason)
