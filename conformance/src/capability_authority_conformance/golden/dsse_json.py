"""`dsse_json.json`: statements as DSSE JSON envelopes, for tools that know DSSE but not this project."""

import json
from typing import Any, Final

from capability_authority.offline import to_dsse_json
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.samples import SAMPLES

__all__ = ["dsse_json"]

_FLAGS: Final = (
    Flag("EveryKind", "BASIC", "A statement of each kind as this project writes it.", "Other tools cannot read it."),
    Flag("OtherWriters", "EDGE_CASE", "What the DSSE specification lets others write.", "Theirs cannot be read."),
    Flag(
        "OneSignature",
        "AMBIGUITY",
        "A statement has exactly one signature, which names its key.",
        "Which of several signers counts is guessed.",
    ),
    Flag("Form", "AMBIGUITY", "What is no such envelope.", "A lenient reader guesses what was meant."),
)
_PLUS_AND_SLASH: Final = "commit-receipt"


def dsse_json() -> VectorFile:
    """The file."""
    return VectorFile(
        "dsse_json",
        "DSSE JSON envelopes and the statement that each of them is, serialized. Nothing is verified.",
        _FLAGS,
        (
            Group(
                "Envelopes as they are written here",
                [_written(name) for name in ("commit-capability", "grant", "invocation")],
            ),
            Group("Envelopes as others may write them", _by_others()),
            Group("No envelope of a statement", _refused()),
        ),
    )


def _envelope() -> dict[str, Any]:
    envelope: dict[str, Any] = json.loads(to_dsse_json(SAMPLES[_PLUS_AND_SLASH].statement()))
    return envelope


def _statement(name: str) -> str:
    return SAMPLES[name].statement().SerializeToString(deterministic=True).hex()


def _written(name: str) -> Test:
    text = to_dsse_json(SAMPLES[name].statement())
    return Test(
        name,
        "as it is written",
        ("EveryKind",),
        {"envelope": text, "statement": _statement(name), "is_written_so": True},
    )


def _by_others() -> list[Test]:
    usual = _envelope()
    url_safe = {
        **usual,
        "payload": usual["payload"].translate(str.maketrans("+/", "-_")),
        "signatures": [
            {name: text.translate(str.maketrans("+/", "-_")) if name == "sig" else text for name, text in each.items()}
            for each in usual["signatures"]
        ],
    }
    texts = (
        ("spaces", "with spaces, members in another order", json.dumps(dict(reversed(usual.items())), indent=2)),
        ("url-safe", "base64 with - and _", json.dumps(url_safe)),
        ("more-members", "members that DSSE does not define", json.dumps(usual | {"extra": {"a": [1]}})),
    )
    return [
        Test(
            name,
            comment,
            ("OtherWriters",),
            {"envelope": text, "statement": _statement(_PLUS_AND_SLASH), "is_written_so": False},
        )
        for name, comment, text in texts
    ]


def _refused() -> list[Test]:
    usual = _envelope()
    signature = usual["signatures"][0]

    def signed(**changes: object) -> str:
        return json.dumps(usual | {"signatures": [signature | changes]})

    def without(name: str) -> str:
        return json.dumps({key: value for key, value in usual.items() if key != name})

    texts = (
        ("two-signatures", "two of them", "OneSignature", json.dumps(usual | {"signatures": [signature, signature]})),
        ("no-signatures", "an empty list", "OneSignature", json.dumps(usual | {"signatures": []})),
        ("signatures-missing", "none at all", "OneSignature", without("signatures")),
        (
            "signatures-object",
            "one that stands in no list",
            "OneSignature",
            json.dumps(usual | {"signatures": signature}),
        ),
        ("signatures-null", "null", "OneSignature", json.dumps(usual | {"signatures": None})),
        (
            "key-id-missing",
            "which DSSE allows",
            "OneSignature",
            json.dumps(usual | {"signatures": [{"sig": signature["sig"]}]}),
        ),
        ("key-id-null", "null", "OneSignature", signed(keyid=None)),
        ("type-missing", "no payload type", "Form", without("payloadType")),
        ("type-number", "a number", "Form", json.dumps(usual | {"payloadType": 1})),
        ("payload-missing", "no payload", "Form", without("payload")),
        ("payload-not-base64", "other letters", "Form", json.dumps(usual | {"payload": "\u00e9\u00e9\u00e9\u00e9"})),
        ("payload-not-padded", "three letters", "Form", json.dumps(usual | {"payload": "AAA"})),
        ("payload-line-feed", "a line feed inside", "Form", json.dumps(usual | {"payload": "AAAA\nAAAA"})),
        ("payload-object", "an object", "Form", json.dumps(usual | {"payload": {}})),
        ("signature-not-base64", "a space inside", "Form", signed(sig="AA AA")),
        ("member-twice", "a payload twice", "Form", '{"payload":"",' + json.dumps(usual)[1:]),
        ("list", "a list", "Form", json.dumps([usual])),
        ("cut-off", "the last brace is missing", "Form", json.dumps(usual)[:-1]),
        ("nothing", "no text", "Form", ""),
    )
    return [
        Test(
            f"not-{name}",
            comment,
            (flag,),
            {"envelope": text, "statement": None, "is_written_so": False},
            "not_dsse_json",
        )
        for name, comment, flag, text in texts
    ]
