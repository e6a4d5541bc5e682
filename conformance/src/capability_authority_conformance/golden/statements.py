"""`statements.json`: signed statements of every kind, and what must not pass for one (semantics §3)."""

from collections.abc import Callable
from typing import Final

from google.protobuf.json_format import MessageToDict

from capability_authority.offline import digest_of
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.published_keys import published_key
from capability_authority_conformance.golden.samples import SAMPLES, Sample
from capability_authority_conformance.golden.statement_readings import two_readings
from capability_authority_conformance.golden.statement_tests import inputs, of_bytes, refused, shared, signed

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
    samples = {name: sample for name, sample in SAMPLES.items() if sample.key}
    return VectorFile(
        "statements",
        "Statements, serialized, each to be opened as the kind of its group with the key of its group.",
        _FLAGS,
        (
            *(_group(name, sample) for name, sample in samples.items()),
            _key_names(),
            _signature_forms(),
            _envelopes(),
            *two_readings(),
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
            _with_signature(right, signed("stranger", right.payload_type, right.payload)),
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
            Test(name, "as it was made", ("EveryKind",), inputs(right) | {"message": MessageToDict(sample.message)}),
            *(refused(f"{name}-{what}", comment, flag, made, why) for what, comment, flag, made, why in others),
        ],
        shared(str(sample.key), sample.payload_type),
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
            refused(f"key-{what}", comment, "KeyName", _with_key_id(right, name), "key_unknown")
            for what, comment, name in names
        ],
        shared("capability", sample.payload_type),
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
            signed("capability", SAMPLES["invocation"].payload_type, right.payload),
        ),
        (
            "of-another-payload",
            "over the empty payload",
            "AnotherSignature",
            signed("capability", right.payload_type, b""),
        ),
    )
    return Group(
        "Signatures of another form, or over something else",
        [
            refused(f"signature-{what}", comment, flag, _with_signature(right, signature), "signature_invalid")
            for what, comment, flag, signature in forms
        ],
        shared("capability", sample.payload_type),
    )


def _envelopes() -> Group:
    sample = SAMPLES["commit-capability"]
    right = sample.statement().SerializeToString(deterministic=True)
    fields = wire.fields_of(right)
    payload_type, payload, signature = (field.raw for field in fields)
    key_id, raw = (field.raw for field in wire.fields_of(wire.value_of(fields[-1])))
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
            Test(f"envelope-{what}", comment, ("Envelope",), of_bytes(data), "envelope_refused")
            for what, comment, data in shapes
        ],
        shared("capability", sample.payload_type),
    )


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
