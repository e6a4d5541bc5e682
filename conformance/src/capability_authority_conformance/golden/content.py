"""`content.json`: bytes that are proposed as JSON content, which must already be canonical (semantics §3)."""

from typing import Final

from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile

__all__ = ["content"]

_FLAGS: Final = (
    Flag("Ordinary", "BASIC", "Content of every day.", "Good content is refused."),
    Flag(
        "NotCanonical",
        "CONFUSION",
        "Good JSON that is not, byte for byte, its RFC 8785 form.",
        "One content has many digests: a tombstone or a duplicate is missed.",
    ),
    Flag("NotJson", "AMBIGUITY", "No JSON, or JSON that readers disagree on.", "Two readers see different content."),
    Flag(
        "NotRepresentable",
        "OUT_OF_RANGE",
        "A number of which a reader could not tell whether it was rounded (case D04).",
        "Two numbers become one.",
    ),
    Flag(
        "Depth",
        "OUT_OF_RANGE",
        "At most 32 arrays and objects stand inside one another, the outermost counted (case D16).",
        "A document takes a reader's stack down.",
    ),
)

_DEEPEST: Final = 32
_SMALLEST_BEYOND: Final = 2**53


def _nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


_TAKEN: Final = (
    ("object", "an object", b'{"duration_minutes":40,"fact":"The nightly build takes forty minutes."}', "Ordinary"),
    ("number", "a number alone", b"0.5", "Ordinary"),
    ("null", "null alone", b"null", "Ordinary"),
    ("beyond-ascii", "UTF-8 as it is", '"\u00e9\U0001f600"'.encode(), "Ordinary"),
    ("largest-integer", "2^53-1", b"[9007199254740991]", "Ordinary"),
    ("deepest", "32 arrays", _nested(_DEEPEST), "Depth"),
    ("brackets-in-a-text", "are no depth", b'"' + b"[" * (_DEEPEST + 1) + b'"', "Depth"),
)

_REFUSED: Final = (
    ("space", "a space", b'{"a": 1}', "not_canonical", "NotCanonical"),
    ("not-sorted", "members in another order", b'{"b":1,"a":2}', "not_canonical", "NotCanonical"),
    ("point-zero", "1.0", b"[1.0]", "not_canonical", "NotCanonical"),
    ("minus-zero", "-0", b"[-0]", "not_canonical", "NotCanonical"),
    ("line-feed", "behind the document", b"{}\n", "not_canonical", "NotCanonical"),
    ("escaped-letter", "an escape that none needs", b'"\\u0061"', "not_canonical", "NotCanonical"),
    ("escaped-slash", "an escaped /", b'"\\/"', "not_canonical", "NotCanonical"),
    (
        "escaped-pair",
        "a surrogate pair for what can stand as it is",
        b'"\\ud83d\\ude00"',
        "not_canonical",
        "NotCanonical",
    ),
    ("nothing", "no bytes", b"", "not_json", "NotJson"),
    ("byte-order-mark", "before the document", b"\xef\xbb\xbf{}", "not_json", "NotJson"),
    ("cut-off", "no closing brace", b'{"a":1', "not_json", "NotJson"),
    ("trailing-text", "a second document", b"{} {}", "not_json", "NotJson"),
    ("nan", "no number of JSON", b"[NaN]", "not_json", "NotJson"),
    ("raw-line-feed", "a control character that must be escaped", b'"\n"', "not_json", "NotJson"),
    ("not-utf-8", "a byte that begins nothing", b'"\xff"', "bad_utf8", "NotJson"),
    ("raw-surrogate", "an encoded surrogate", b'"\xed\xa0\x80"', "bad_utf8", "NotJson"),
    ("overlong", "/ in two bytes", b'"\xc0\xaf"', "bad_utf8", "NotJson"),
    ("name-twice", "a name twice", b'{"a":1,"a":1}', "duplicate_key", "NotJson"),
    ("half-a-pair", "an escaped lone surrogate", b'"\\ud800"', "lone_surrogate", "NotJson"),
    ("nul", "an escaped NUL", b'"\\u0000"', "nul", "NotJson"),
    ("first-problem-counts", "NUL before a name twice", b'["\\u0000",{"a":1,"a":1}]', "nul", "NotJson"),
    ("integer-beyond", "2^53", b"[%d]" % _SMALLEST_BEYOND, "integer_out_of_range", "NotRepresentable"),
    ("integer-beyond-below", "-2^53", b"[-%d]" % _SMALLEST_BEYOND, "integer_out_of_range", "NotRepresentable"),
    (
        "double-written-as-integer",
        "1e20, whose canonical form is an integer beyond",
        b"[100000000000000000000]",
        "integer_out_of_range",
        "NotRepresentable",
    ),
    ("double-beyond", "overflows", b"[1e999]", "number_out_of_range", "NotRepresentable"),
    ("too-deep", "33 arrays", _nested(_DEEPEST + 1), "too_deep", "Depth"),
    ("far-too-deep", "5,000 arrays that are never closed", b"[" * 5000, "too_deep", "Depth"),
)


def content() -> VectorFile:
    """The file."""
    return VectorFile(
        "content",
        "Bytes of the media type application/json, and whether they can be proposed and committed as they are.",
        _FLAGS,
        (
            Group("Content that is taken", [_test(*row) for row in _TAKEN]),
            Group(
                "Content that is refused",
                [_test(name, comment, data, flag, reason) for name, comment, data, reason, flag in _REFUSED],
            ),
        ),
    )


def _test(name: str, comment: str, data: bytes, flag: str, reason: str | None = None) -> Test:
    return Test(name, comment, (flag,), {"content": data.hex()}, reason)
