"""`statements.json`: signed statements of every kind, and what must not pass for one (semantics §3)."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from google.protobuf.json_format import MessageToDict

from capability_authority.offline import digest_of, encode, pae, payload_type_of, statement_digest, to_wire
from capability_authority.v1.statements_pb2 import CommitCapability, Signature, SignedStatement, ValidationReceipt
from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.form import Flag, Group, Inputs, Test, VectorFile
from capability_authority_conformance.golden.published_keys import published, published_key
from capability_authority_conformance.golden.samples import ISSUER, SAMPLES, Sample

__all__ = ["statements"]

_FLAGS: Final = (
    Flag("EveryKind", "BASIC", "A statement of each kind, signed by the key of its group.", "Nothing verifies."),
    Flag(
        "ChangedAfterwards",
        "FORGERY",
        "A statement of which something was changed after it was signed (case E10).",
        "Whoever carries a statement rewrites it.",
    ),
    Flag(
        "AnotherSignature",
        "FORGERY",
        "A signature that the key of the group did not make over this type and payload.",
        "Anyone makes statements.",
    ),
    Flag(
        "SignatureForm",
        "MALLEABILITY",
        "A signature that is not exactly 64 bytes in their one form (cases E02, E05).",
        "One statement has many signatures, or a reader fails on one.",
    ),
    Flag(
        "AnotherKind",
        "CONFUSION",
        "A statement that is well signed and of another kind than the one that is asked for.",
        "An Invocation passes for a grant.",
    ),
    Flag(
        "KeyName",
        "CONFUSION",
        "A key id that is not exactly that of the key: ids are compared, never completed or folded.",
        "A statement is judged by another key's purpose, scope and state.",
    ),
    Flag(
        "Envelope",
        "AMBIGUITY",
        "Bytes around the payload that are not exactly one statement.",
        "Something that nobody signed travels with what somebody signed.",
    ),
    Flag(
        "TwoReadings",
        "AMBIGUITY",
        "Well signed, and still to be refused: the payload breaks the reading rule (cases D13, E11, I14).",
        "Two languages read one signed payload as two different ones.",
    ),
)

_GROUP_ORDER: Final = 2**252 + 27742317777372353535851937790883648493
"""Of Ed25519: adding it to the second half of a signature gives the same equation (case E02)."""
_UNKNOWN_FIELD: Final = wire.field(60000, b"a")


def statements() -> VectorFile:
    """The file."""
    signed = {name: sample for name, sample in SAMPLES.items() if sample.key}
    return VectorFile(
        "statements",
        "Statements, serialized, each to be opened as the kind of its group with the key of its group.",
        _FLAGS,
        (
            *(_group(name, sample) for name, sample in signed.items()),
            _key_names(),
            _signature_forms(),
            _envelopes(),
            _two_readings("capability", CommitCapability, _CAPABILITY_READINGS),
            _two_readings("capability", ValidationReceipt, _VALIDATION_READINGS),
        ),
    )


def _group(name: str, sample: Sample) -> Group:
    right = sample.statement()
    others = (
        (
            "signature-bit",
            "one bit of the signature",
            "ChangedAfterwards",
            _with_signature(right, _flipped(right.signature.signature)),
            "signature_invalid",
        ),
        (
            "payload-bit",
            "one bit of the payload",
            "ChangedAfterwards",
            _with_payload(right, _flipped(right.payload)),
            "signature_invalid",
        ),
        (
            "by-a-stranger",
            "signed by another key, under the name of this one",
            "AnotherSignature",
            _with_signature(right, _signed("stranger", right.payload_type, right.payload)),
            "signature_invalid",
        ),
        (
            "type-changed",
            "the type of another kind, after it was signed",
            "AnotherKind",
            _with_type(right, _another(sample)),
            "payload_type_mismatch",
        ),
    )
    return Group(
        f"A {name.replace('-', ' ')}, and what was made of it",
        [
            Test(name, "as it was made", ("EveryKind",), _inputs(right) | {"message": MessageToDict(sample.message)}),
            *(_refused(f"{name}-{what}", comment, flag, made, why) for what, comment, flag, made, why in others),
        ],
        _shared(str(sample.key), sample.payload_type),
    )


def _another(sample: Sample) -> str:
    return SAMPLES["grant" if "invocation" in sample.payload_type else "invocation"].payload_type


def _key_names() -> Group:
    sample = SAMPLES["commit-capability"]
    right = sample.statement()
    key_id = right.signature.key_id
    names = (
        ("of-a-stranger", "of another key", published_key("stranger").public_key.key_id),
        ("capital", "in capital digits", "sha256:" + key_id[7:].upper()),
        ("without-prefix", "its digits alone", key_id[7:]),
        ("short", "its first 16 digits", key_id[:23]),
        ("line-feed", "a line feed behind", key_id + "\n"),
        ("empty", "no key id", ""),
    )
    return Group(
        "A good signature under the name of another key",
        [
            _refused(f"key-{what}", comment, "KeyName", _with_key_id(right, name), "key_unknown")
            for what, comment, name in names
        ],
        _shared("capability", sample.payload_type),
    )


def _signature_forms() -> Group:
    sample = SAMPLES["commit-capability"]
    right = sample.statement()
    good = right.signature.signature
    half = int.from_bytes(good[32:], "little") + _GROUP_ORDER
    forms = (
        (
            "added-order",
            "the order of the group added to its second half",
            "SignatureForm",
            good[:32] + half.to_bytes(32, "little"),
        ),
        ("short", "63 bytes", "SignatureForm", good[:-1]),
        ("long", "65 bytes", "SignatureForm", good + b"\0"),
        ("empty", "no bytes", "SignatureForm", b""),
        ("half", "32 bytes", "SignatureForm", good[:32]),
        ("digits", "its hexadecimal digits", "SignatureForm", good.hex().encode()),
        ("zeros", "64 zero bytes", "AnotherSignature", bytes(64)),
        (
            "of-the-payload",
            "over the payload alone",
            "AnotherSignature",
            published_key("capability").sign(right.payload),
        ),
        (
            "of-the-digest",
            "over the digest of the signing input",
            "AnotherSignature",
            published_key("capability").sign(digest_of(right)),
        ),
        (
            "of-another-type",
            "over the payload as of another kind",
            "AnotherSignature",
            _signed("capability", SAMPLES["invocation"].payload_type, right.payload),
        ),
        (
            "of-another-payload",
            "over the empty payload",
            "AnotherSignature",
            _signed("capability", right.payload_type, b""),
        ),
    )
    return Group(
        "Signatures of another form, or over something else",
        [
            _refused(f"signature-{what}", comment, flag, _with_signature(right, signature), "signature_invalid")
            for what, comment, flag, signature in forms
        ],
        _shared("capability", sample.payload_type),
    )


def _envelopes() -> Group:
    sample = SAMPLES["commit-capability"]
    right = sample.statement().SerializeToString(deterministic=True)
    payload_type, payload, signature = (field.raw for field in wire.fields_of(right))
    key_id, raw = (field.raw for field in wire.fields_of(wire_value(signature)))
    shapes = (
        ("unknown-field", "a field that no statement has", right + _UNKNOWN_FIELD),
        (
            "unknown-field-in-signature",
            "… beside the key id",
            payload_type + payload + wire.field(3, key_id + raw + _UNKNOWN_FIELD),
        ),
        ("payload-twice", "the payload twice, the last counts", payload_type + payload + payload + signature),
        ("signature-twice", "two signatures, which parsers merge", right + signature),
        ("reordered", "the signature before the payload", payload_type + signature + payload),
        (
            "long-tag",
            "the tag of the payload type in two bytes",
            wire.tag(1, wire.BYTES, size=2) + payload_type[1:] + payload + signature,
        ),
        ("cut-off", "the last byte is missing", right[:-1]),
        ("trailing-byte", "a zero behind", right + b"\0"),
        ("in-base64", "text in place of bytes", b"ClhhcHBsaWNhdGlvbi92bmQu"),
    )
    return Group(
        "Bytes that are not exactly one statement",
        [
            Test(f"envelope-{what}", comment, ("Envelope",), _of_bytes(data), "envelope_refused")
            for what, comment, data in shapes
        ],
        _shared("capability", sample.payload_type),
    )


def wire_value(raw: bytes) -> bytes:
    """What stands in a field behind its tag and its length of one or two bytes."""
    return raw[2:] if raw[1] < 128 else raw[3:]  # noqa: PLR2004 - the bit that says that another byte follows


_SMALL: Final = encode(CommitCapability(capability_id="cap_01", issuer=ISSUER))
_ID: Final = wire.field(1, b"cap_01")
_REST: Final = _SMALL.removeprefix(_ID)

_CAPABILITY_READINGS: Final = (
    ("truncated", "not_parsable", "the last byte is missing", _SMALL[:-1]),
    ("wrong-wire-type", "unknown_field", "field 1 as a varint instead of a string", wire.field(1, 1)),
    ("not-utf8", "not_parsable", "capability_id is no UTF-8", wire.field(1, b"\xff")),
    ("cesu-surrogate", "not_parsable", "capability_id holds an encoded surrogate", wire.field(1, b"\xed\xa0\x80")),
    ("unknown-field-behind", "unknown_field", "field 60000 after the known ones", _SMALL + _UNKNOWN_FIELD),
    ("unknown-field-before", "unknown_field", "field 60000 before the known ones", _UNKNOWN_FIELD + _SMALL),
    (
        "unknown-field-nested",
        "unknown_field",
        "field 15 inside the tenant",
        _SMALL + wire.field(4, wire.field(15, b"xyz")),
    ),
    (
        "two-readings",
        "unknown_field",
        "case I14: field 14, a string, twice as a varint behind max_uses",
        wire.field(25, 1) + wire.field(14, 1) * 2,
    ),
    ("field-twice", "not_deterministic", "capability_id twice, the last wins", wire.field(1, b"x") + _SMALL),
    ("fields-swapped", "not_deterministic", "issuer before capability_id", _REST + _ID),
    ("default-written", "not_deterministic", "correlation_id written though empty", _SMALL + wire.field(26, b"")),
    (
        "long-tag",
        "not_deterministic",
        "the tag of capability_id in two bytes",
        wire.tag(1, wire.BYTES, size=2) + _SMALL[1:],
    ),
    (
        "long-length",
        "not_deterministic",
        "the length of capability_id in two bytes",
        _SMALL[:1] + wire.varint(6, size=2) + _SMALL[2:],
    ),
    (
        "long-varint",
        "not_deterministic",
        "max_uses = 1 in two bytes",
        _SMALL + wire.tag(25, wire.VARINT) + wire.varint(1, size=2),
    ),
    (
        "varint-beyond-32-bits",
        "not_deterministic",
        "max_uses = 2^32 + 1, which parsers cut to 1",
        _SMALL + wire.field(25, 2**32 + 1),
    ),
    (
        "nested-split",
        "not_deterministic",
        "the tenant in two parts, which parsers merge",
        _SMALL + wire.field(4, wire.field(1, b"n")) + wire.field(4, wire.field(2, b"i")),
    ),
    (
        "half-a-millisecond",
        "instant_out_of_range",
        "expire_time with 500,000 ns",
        wire.field(24, wire.field(2, 500_000)),
    ),
    (
        "year-10000",
        "instant_out_of_range",
        "expire_time 10000-01-01T00:00:00Z",
        wire.field(24, wire.field(1, 253_402_300_800)),
    ),
    (
        "negative-nanos",
        "instant_out_of_range",
        "expire_time with -1,000,000 ns",
        wire.field(24, wire.field(2, 2**64 - 1_000_000)),
    ),
)
_VALIDATION_READINGS: Final = (
    ("unknown-enum-value", "unknown_enum_value", "outcome = 4", wire.field(11, 4)),
    ("unknown-enum-value-nested", "unknown_enum_value", "outcome = 99 in a finding", wire.field(10, wire.field(3, 99))),
)


def _two_readings(key: str, kind: type, payloads: tuple[tuple[str, str, str, bytes], ...]) -> Group:
    payload_type = payload_type_of(kind)
    return Group(
        "Well signed payloads that break the reading rule",
        list(_well_signed(key, payload_type, payloads)),
        _shared(key, payload_type),
    )


def _well_signed(key: str, payload_type: str, payloads: tuple[tuple[str, str, str, bytes], ...]) -> Iterator[Test]:
    for name, problem, comment, payload in payloads:
        signature = Signature(
            key_id=published_key(key).public_key.key_id, signature=_signed(key, payload_type, payload)
        )
        statement = SignedStatement(payload_type=payload_type, payload=payload, signature=signature)
        yield _refused(name, comment, "TwoReadings", statement, problem)


def _refused(name: str, comment: str, flag: str, statement: SignedStatement, reason: str) -> Test:
    return Test(name, comment, (flag,), _inputs(statement) | {"message": None}, reason)


def _inputs(statement: SignedStatement) -> dict[str, Any]:
    return {
        "statement": statement.SerializeToString(deterministic=True).hex(),
        "statement_digest": to_wire(statement_digest(statement.payload_type, statement.payload)),
    }


def _of_bytes(data: bytes) -> Inputs:
    return {"statement": data.hex(), "statement_digest": None, "message": None}


def _shared(key: str, payload_type: str) -> Inputs:
    return {"payload_type": payload_type, "key": published(key)}


def _signed(key: str, payload_type: str, payload: bytes) -> bytes:
    return published_key(key).sign(pae(payload_type, payload))


def _changed(change: Callable[[SignedStatement], None], statement: SignedStatement) -> SignedStatement:
    changed = SignedStatement()
    changed.CopyFrom(statement)
    change(changed)
    return changed


def _with_signature(statement: SignedStatement, signature: bytes) -> SignedStatement:
    return _changed(lambda changed: setattr(changed.signature, "signature", signature), statement)


def _with_key_id(statement: SignedStatement, key_id: str) -> SignedStatement:
    return _changed(lambda changed: setattr(changed.signature, "key_id", key_id), statement)


def _with_payload(statement: SignedStatement, payload: bytes) -> SignedStatement:
    return _changed(lambda changed: setattr(changed, "payload", payload), statement)


def _with_type(statement: SignedStatement, payload_type: str) -> SignedStatement:
    return _changed(lambda changed: setattr(changed, "payload_type", payload_type), statement)


def _flipped(data: bytes) -> bytes:
    """With one bit changed in the middle, where a length seldom stands."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
