"""`canonical_json.json`: documents and the bytes that RFC 8785 makes of them."""

import json
from typing import Final

from capability_authority.offline import canonicalize, parse, sha256, to_wire
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile

__all__ = ["canonical_json"]

_FLAGS: Final = (
    Flag("Ordinary", "BASIC", "A document of every day.", "Digests of the same document differ between languages."),
    Flag(
        "KeyOrder",
        "CONFUSION",
        "Members are sorted by the UTF-16 code units of their names, once unescaped: neither by code points, nor by "
        "numbers, nor as a person would.",
        "The same content has two digests, and a commit from another language is refused.",
    ),
    Flag(
        "Numbers",
        "EDGE_CASE",
        "Numbers are written as ECMAScript writes a double: shortest, with an exponent from 1e21 on and below 1e-6.",
        "The same number has two digests.",
    ),
    Flag(
        "Escapes",
        "EDGE_CASE",
        "Only what must be escaped is: control characters, quotation mark, backslash; in short where that exists.",
        "The same text has two digests.",
    ),
    Flag(
        "NotNormalized",
        "CONFUSION",
        "Texts that look alike stay apart: nothing is normalized, trimmed or folded (case D08).",
        "Two contents have one digest: one is validated, the other committed.",
    ),
    Flag(
        "KeptApart",
        "CONFUSION",
        "Missing, empty and null are three things, as are lists in another order or with something twice (D09, D10).",
        "Two contents have one digest: one is validated, the other committed.",
    ),
    Flag(
        "NotJson",
        "AMBIGUITY",
        "No JSON, or JSON of which readers disagree on what it says.",
        "Two readers of one document act on different things.",
    ),
    Flag(
        "NotRepresentable",
        "OUT_OF_RANGE",
        "A number that a double does not hold exactly, or not at all (case D04).",
        "A number is rounded without a word, and two numbers become one.",
    ),
    Flag(
        "WrongDigest",
        "CONFUSION",
        "The canonical form is right, and the digest is of something else.",
        "Bytes are named by a digest that is not theirs.",
    ),
)

_KEPT: Final = (
    ("object", "members sorted, spaces gone", '{ "b" : 1 , "a" : [ true , false , null ] }', "Ordinary"),
    ("empty", "an empty object", "{}", "Ordinary"),
    ("text-alone", "a document can be a text", '"a"', "Ordinary"),
    ("nested", "members are sorted at every depth", '{"b":{"d":1,"c":[{"z":1,"a":2}]},"a":[]}', "KeyOrder"),
    ("names-like-numbers", "texts, not numbers, are sorted", '{"10":1,"9":2,"1":3}', "KeyOrder"),
    ("name-beyond-16-bits", "U+1F600 comes before U+FF20", '{"\\uff20":1,"\\ud83d\\ude00":1}', "KeyOrder"),
    ("name-u10000", "U+10000 comes before U+FFFF", '{"\\uffff":1,"\\ud800\\udc00":2}', "KeyOrder"),
    ("upper-and-lower", "no letter is another", '{"b":1,"B":2,"a":3,"A":4}', "KeyOrder"),
    ("zeros", "every zero is 0", "[-0,-0.0,0.0,0]", "Numbers"),
    ("exponents", "where exponents begin", "[1e20,1e21,1e-6,1e-7,9.999999999999999e20,1e22]", "Numbers"),
    ("shortest", "the shortest that reads the same", "[1.0,1.00,4.50,2e-3,333333333.33333329,1E30]", "Numbers"),
    ("smallest-and-largest", "the ends of doubles", "[5e-324,1.7976931348623157e308]", "Numbers"),
    ("largest-integers", "±(2^53-1)", "[9007199254740991,-9007199254740991]", "Numbers"),
    (
        "escapes",
        "short forms, lowercase digits; / and U+007F and U+2028 stand as they are",
        '"\\u0008\\u0009\\u000a\\u000c\\u000d\\u001f\\u0022\\u005c\\u002f\\u007f\\u2028"',
        "Escapes",
    ),
    ("e-acute", "one code point", '"\\u00e9"', "NotNormalized"),
    ("e-and-acute", "two code points", '"e\\u0301"', "NotNormalized"),
    ("angstrom", "U+212B is not U+00C5", '"\\u212b"', "NotNormalized"),
    ("member-missing", "no memory namespace", '{"tenant":"t"}', "KeptApart"),
    ("member-empty", "an empty one", '{"tenant":"t","namespace":""}', "KeptApart"),
    ("member-null", "null", '{"tenant":"t","namespace":null}', "KeptApart"),
    ("list", "in this order", '["sha256:b","sha256:a"]', "KeptApart"),
    ("list-turned", "in the other", '["sha256:a","sha256:b"]', "KeptApart"),
    ("list-twice", "the same twice", '["sha256:a","sha256:a"]', "KeptApart"),
)
"""Id, comment, document, flag."""

_MISMADE: Final = (
    ("not-sorted", "members as they came", '{"b":1,"a":2}', b'{"b":1,"a":2}', "KeyOrder"),
    (
        "sorted-by-code-point",
        "as most languages sort texts (D02)",
        '{"\\uff20":1,"\\ud83d\\ude00":1}',
        '{"\uff20":1,"\U0001f600":1}'.encode(),
        "KeyOrder",
    ),
    (
        "sorted-by-number",
        "as JavaScript orders such names",
        '{"10":1,"9":2,"1":3}',
        b'{"1":3,"9":2,"10":1}',
        "KeyOrder",
    ),
    ("sorted-without-case", "as a dictionary does", '{"b":1,"B":2,"a":3}', b'{"a":3,"b":1,"B":2}', "KeyOrder"),
    (
        "sorted-outside-alone",
        "the inner object as it came",
        '{"b":{"d":1,"c":2},"a":[]}',
        b'{"a":[],"b":{"d":1,"c":2}}',
        "KeyOrder",
    ),
    (
        "sorted-escaped",
        "sorted by what is written, not by what it means",
        '{"\\u0062":1,"a":2}',
        b'{"b":1,"a":2}',
        "KeyOrder",
    ),
    ("spaces", "after commas and colons", '{"a":[1,2]}', b'{"a": [1, 2]}', "Ordinary"),
    ("line-feed", "behind the document", "{}", b"{}\n", "Ordinary"),
    ("byte-order-mark", "before the document", "{}", b"\xef\xbb\xbf{}", "Ordinary"),
    ("utf-16", "another encoding", '"a"', '"a"'.encode("utf-16-le"), "Ordinary"),
    ("nothing", "no bytes at all", "{}", b"", "Ordinary"),
    ("point-zero", "1.0 as it came", "[1.0]", b"[1.0]", "Numbers"),
    ("minus-zero", "-0 as it came", "[-0]", b"[-0]", "Numbers"),
    ("exponent-without-sign", "1e21 for 1e+21", "[1e21]", b"[1e21]", "Numbers"),
    ("exponent-too-early", "1e+20 for all its digits", "[1e20]", b"[1e+20]", "Numbers"),
    ("exponent-capital", "E for e", "[1e22]", b"[1E+22]", "Numbers"),
    ("exponent-two-digits", "1e-07 for 1e-7, as C writes it", "[1e-7]", b"[1e-07]", "Numbers"),
    ("too-many-digits", "17 digits where 16 are enough", "[333333333.33333329]", b"[333333333.33333331]", "Numbers"),
    ("integer-rounded", "2^53-1 as the next even number", "[9007199254740991]", b"[9007199254740992]", "Numbers"),
    ("escaped-slash", "/ needs no escape", '"/"', b'"\\/"', "Escapes"),
    ("escaped-beyond-ascii", "an escape for what can stand as it is", '"\\u00e9"', b'"\\u00e9"', "Escapes"),
    ("escaped-long", "U+000A has a short form", '"\\u000a"', b'"\\u000a"', "Escapes"),
    ("escaped-capital", "U+001F with a capital digit", '"\\u001f"', b'"\\u001F"', "Escapes"),
    ("escaped-delete", "U+007F needs no escape", '"\\u007f"', b'"\\u007f"', "Escapes"),
    ("composed", "e and acute as one code point", '"e\\u0301"', b'"\xc3\xa9"', "NotNormalized"),
    ("folded", "U+212B as U+00C5", '"\\u212b"', b'"\xc3\x85"', "NotNormalized"),
    ("trimmed", "a space gone", '" a"', b'"a"', "NotNormalized"),
    ("null-left-out", "null is not missing (D09)", '{"namespace":null,"tenant":"t"}', b'{"tenant":"t"}', "KeptApart"),
    ("empty-as-null", "empty is not null (D09)", '{"namespace":""}', b'{"namespace":null}', "KeptApart"),
    ("list-sorted", "the order of a list is kept (D10)", '["b","a"]', b'["a","b"]', "KeptApart"),
    ("list-once", "so is what stands twice in it (D10)", '["a","a"]', b'["a"]', "KeptApart"),
)
"""Id, comment, document, bytes that are not its canonical form, flag."""

_REFUSED: Final = (
    ("name-twice", "a name twice (D06)", '{"a":1,"a":2}', "duplicate_key", "NotJson"),
    ("name-twice-escaped", "a name twice, once escaped (D06)", '{"a":1,"\\u0061":2}', "duplicate_key", "NotJson"),
    ("name-twice-below", "a name twice inside", '[{"x":{"a":1,"a":1}}]', "duplicate_key", "NotJson"),
    ("half-a-pair", "half of a surrogate pair", '"\\ud800"', "lone_surrogate", "NotJson"),
    ("half-a-pair-low", "the other half", '"\\udc00"', "lone_surrogate", "NotJson"),
    ("half-a-pair-in-a-name", "in a name", '{"\\ud800":1}', "lone_surrogate", "NotJson"),
    ("nul", "U+0000, which C and databases end at", '"\\u0000"', "nul", "NotJson"),
    ("nan", "no number of JSON", "[NaN]", "not_json", "NotJson"),
    ("infinity", "no number of JSON", "[-Infinity]", "not_json", "NotJson"),
    ("two-documents", "one behind the other", "{}{}", "not_json", "NotJson"),
    ("comma-behind", "a comma before the end", "[1,]", "not_json", "NotJson"),
    ("apostrophes", "for quotation marks", "{'a':1}", "not_json", "NotJson"),
    ("leading-zero", "a number that begins with 0", "[01]", "not_json", "NotJson"),
    ("comment", "a comment", "{}//", "not_json", "NotJson"),
    ("beyond-doubles", "a number that overflows", "[1e999]", "number_out_of_range", "NotRepresentable"),
    ("two-to-53", "2^53, which is 2^53+1 rounded", "[9007199254740992]", "integer_out_of_range", "NotRepresentable"),
    ("two-to-53-and-1", "2^53+1", "[9007199254740993]", "integer_out_of_range", "NotRepresentable"),
    ("minus-two-to-53", "-2^53", "[-9007199254740992]", "integer_out_of_range", "NotRepresentable"),
)
"""Id, comment, document, reason, flag."""


def canonical_json() -> VectorFile:
    """The file."""
    return VectorFile(
        "canonical_json",
        "Documents in JSON, the bytes that RFC 8785 makes of them, and their digest.",
        _FLAGS,
        (
            Group("Documents with their canonical form", [_kept(*row) for row in _KEPT]),
            Group("Documents with bytes that are not their canonical form", [_mismade(*row) for row in _MISMADE]),
            Group("Canonical forms with a digest that is not theirs", _wrong_digests()),
            Group("Documents that have no canonical form here", [_refused(*row) for row in _REFUSED]),
        ),
    )


def _kept(name: str, comment: str, document: str, flag: str) -> Test:
    written = canonicalize(parse(document.encode()))
    return Test(name, comment, (flag,), _inputs(document, written, sha256(written)))


def _mismade(name: str, comment: str, document: str, claimed: bytes, flag: str) -> Test:
    return Test(name, comment, (flag,), _inputs(document, claimed, sha256(claimed)), "not_canonical")


def _refused(name: str, comment: str, document: str, reason: str, flag: str) -> Test:
    return Test(
        name, comment, (flag,), {"document": document.encode().hex(), "canonical": None, "digest": None}, reason
    )


def _wrong_digests() -> list[Test]:
    document = '{"b":1,"a":2}'
    canonical = canonicalize(json.loads(document))
    wrong = (
        ("digest-of-the-document", "of the bytes as they came", sha256(document.encode())),
        ("digest-of-a-digest", "hashed twice", sha256(sha256(canonical))),
        ("digest-of-the-digits", "of the canonical form in hexadecimal digits", sha256(canonical.hex().encode())),
    )
    return [
        Test(name, comment, ("WrongDigest",), _inputs(document, canonical, digest), "digest_mismatch")
        for name, comment, digest in wrong
    ]


def _inputs(document: str, canonical: bytes, digest: bytes) -> dict[str, str]:
    return {"document": document.encode().hex(), "canonical": canonical.hex(), "digest": to_wire(digest)}
