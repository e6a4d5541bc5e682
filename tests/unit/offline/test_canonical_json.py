"""Canonical JSON, and the stricter rule for content."""

import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from capability_authority.offline import (
    MAX_DEPTH,
    JsonError,
    JsonValue,
    NonCanonicalJson,
    canonical_content,
    canonicalize,
    is_canonical,
    parse,
    require_canonical,
    sha256,
)
from capability_authority.offline.canonical_json import PROBLEMS

MIB = 1024 * 1024
SAFE = 2**53 - 1

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
numbers = st.integers(-SAFE, SAFE) | st.floats(-SAFE, SAFE) | st.floats(1e21, 1e308) | st.floats(-1e308, -1e21)
scalars = st.none() | st.booleans() | numbers | text
documents = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4))

REFUSED = {
    "bad_utf8": [b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xe2\x82'],
    "not_json": [
        *(b"", b" ", b"{", b"[1,]", b'{"a":1,}', b"{'a':1}", b"01", b"+1", b".5", b"1.", b"0x1", b"[1]x", b"null null"),
        *(b"NaN", b"[Infinity]", b'{"a":-Infinity}', b"nul", b"True", b'"\t"', b'"\\x"', b'"\\u12"', b'"a', b"\x00"),
        *(b"\xef\xbb\xbf1", b"/**/1", "[\u00a01]".encode()),
    ],
    "too_deep": [b"[" * 33 + b"]" * 33, b'{"a":' * 33 + b"1" + b"}" * 33, b"[" * MIB, b'[{"a":' * 20],
    "duplicate_key": [b'{"a":1,"a":2}', b'{"a":1,"\\u0061":2}', b'[{"x":{"a":1,"b":2,"a":1}}]', b'{"":1,"":1}'],
    "integer_out_of_range": [b"9007199254740992", b"9007199254740993", b"-9007199254740992", b"[1" + b"0" * MIB + b"]"],
    "number_out_of_range": [b"1e999", b"[-1e400]", b"1" * 400 + b".0"],
    "nul": [b'"\\u0000"', b'{"\\u0000":1}', b'["a\\u0000b"]'],
    "lone_surrogate": [b'"\\ud800"', b'"\\udc00"', b'"\\udc00\\ud800"', b'{"\\ud800x":1}', b'["\\\\\\ud83d"]'],
    "not_canonical": [b" 1", b'{"b":1,"a":2}', b"1.0", b"-0", b"1e20", b'"\\u0061"', b'"\\/"', b"[1, 2]", b"1e-400"],
}


@pytest.mark.parametrize(("problem", "data"), [(problem, data) for problem, all_ in REFUSED.items() for data in all_])
def test_content_is_refused_with_its_problem(problem: str, data: bytes) -> None:
    with pytest.raises(NonCanonicalJson) as refusal:
        require_canonical(data)

    assert refusal.value.problem == problem
    assert not is_canonical(data)


def test_every_problem_word_is_meant() -> None:
    only_of_values = {"unsupported_type"}

    assert set(REFUSED) | only_of_values == PROBLEMS


@given(documents)
@example({"\U0001f600": 1, "\uff20": 2, "": [-0.0, 5e-324, 1e21]})
def test_whatever_is_written_as_content_is_taken_as_content(value: JsonValue) -> None:
    data = canonical_content(value)

    assert require_canonical(data) == json.loads(data)
    assert canonicalize(require_canonical(data)) == data


@given(documents)
def test_another_writing_of_the_same_document_is_parsed_but_not_canonical(value: JsonValue) -> None:
    data = b" " + canonical_content(value)

    assert canonicalize(parse(data)) == data[1:]
    assert not is_canonical(data)


@given(st.binary(max_size=24) | st.text('[]{}",:\\u0d81eE+-. ', max_size=24).map(str.encode))
def test_no_bytes_raise_anything_but_a_refusal(data: bytes) -> None:
    try:
        value = require_canonical(data)
    except NonCanonicalJson as refusal:
        assert refusal.problem in PROBLEMS  # noqa: PT017  # both outcomes are right
    else:
        assert canonicalize(value) == data


def test_d03_doubles_are_written_as_ecmascript_writes_them() -> None:
    doubles = [-0.0, 1e20, 1e21, 1e-6, 1e-7, 1.0, 333333333.33333329, 5e-324]

    written = canonicalize(doubles)

    assert written == b"[0,100000000000000000000,1e+21,0.000001,1e-7,1,333333333.3333333,5e-324]"


def test_d03_d04_a_double_written_as_a_large_integer_has_a_canonical_form_but_is_no_content() -> None:
    assert canonicalize(1e20) == b"100000000000000000000"

    with pytest.raises(JsonError, match="integer_out_of_range"):
        canonical_content(1e20)
    assert parse(b"1e20") == 1e20
    assert not is_canonical(b"1e20")
    assert not is_canonical(b"100000000000000000000")


@pytest.mark.parametrize("integer", [SAFE, -SAFE])
def test_d04_the_largest_integers_are_taken(integer: int) -> None:
    assert require_canonical(str(integer).encode()) == integer


@pytest.mark.parametrize("integer", [2**53, 2**53 + 1, -(2**53), 2**63 - 1])
def test_d04_integers_beyond_are_refused_not_rounded(integer: int) -> None:
    with pytest.raises(JsonError, match="integer_out_of_range"):
        canonicalize(integer)
    with pytest.raises(JsonError, match="integer_out_of_range"):
        parse(str(integer).encode())


def test_d04_a_value_that_is_no_json_is_refused_with_the_rule() -> None:
    with pytest.raises(JsonError, match=r"^JSON refused: integer_out_of_range; integers end at .* sent as text$"):
        canonicalize({"at_ns": 2**60})
    with pytest.raises(JsonError, match=r"^JSON refused: integer_out_of_range at /at_ns; integers end at "):
        parse(b'{"at_ns":1152921504606846976}')
    with pytest.raises(JsonError, match=r"^JSON refused: unsupported_type; only None, bool, int"):
        canonicalize({1, 2})


@pytest.mark.parametrize("data", REFUSED["duplicate_key"])
def test_d06_duplicate_keys_are_refused(data: bytes) -> None:
    assert json.loads(data) is not None  # the standard library keeps the last one, silently

    with pytest.raises(JsonError, match="duplicate_key"):
        parse(data)


def test_d08_nothing_is_normalised() -> None:
    spellings = ["\u00e9", "e\u0301", "\u212b", "\u00c5", "A\u030a"]

    assert len({sha256(canonical_content(spelling)) for spelling in spellings}) == len(spellings)


def test_d09_missing_empty_and_null_are_three_things() -> None:
    documents_ = [{"tenant": "t"}, {"tenant": "t", "namespace": ""}, {"tenant": "t", "namespace": None}]

    assert len({canonical_content(document) for document in documents_}) == len(documents_)


def test_d16_nesting_is_taken_up_to_the_limit_and_no_deeper() -> None:
    def nested(depth: int) -> bytes:
        return b"[" * depth + b"]" * depth

    assert is_canonical(nested(MAX_DEPTH))
    assert not is_canonical(nested(MAX_DEPTH + 1))
    assert is_canonical(nested(MAX_DEPTH + 1), max_depth=MAX_DEPTH + 1)


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_d16_a_limit_beyond_the_interpreter_is_still_a_refusal(depth: int) -> None:
    with pytest.raises(NonCanonicalJson, match="too_deep"):
        require_canonical(b"[" * depth + b"]" * depth, max_depth=depth)


def test_d16_brackets_inside_strings_are_no_nesting() -> None:
    value = ["[" * 100, '"[{' * 50, "\\", '\\"[[' * 40]

    assert require_canonical(canonicalize(value)) == value


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"[" * MIB, id="open-brackets"),
        pytest.param(b'{"a":' * (MIB // 5), id="open-objects"),
        pytest.param(b'"' + b'\\"' * (MIB // 2), id="unterminated-string-of-quotes"),
        pytest.param(b'"\\' * (MIB // 2), id="escapes"),
        pytest.param(b"-" + b"9" * MIB, id="integer-of-a-million-digits"),
        pytest.param(b"1" * MIB + b"e999", id="double-of-a-million-digits"),
        pytest.param(b"[" + b'"\\ud800",' * (MIB // 9), id="surrogates"),
    ],
)
def test_d16_hostile_mebibytes_are_refused_in_linear_time(data: bytes) -> None:
    with pytest.raises(JsonError):
        parse(data)


def test_d16_a_hundred_thousand_keys_are_read() -> None:
    value = {f"k{number}": number for number in range(100_000)}

    assert require_canonical(canonicalize(value)) == value


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b'{"a":[0,{"b":1,"b":2}]}', "/a/1/b"),
        (b'{"a/b":{"~":[1e999]}}', "/a~1b/~0/0"),
        (b'[[],["\\u0000"]]', "/1/0"),
        (b'[{"a":{"\\ud800":1}}]', "/0/a/\\ud800"),
        (b"NaN", ""),
        (b"[1,{}", None),
    ],
)
def test_a_refusal_says_where(data: bytes, path: str | None) -> None:
    with pytest.raises(JsonError) as refusal:
        parse(data)

    assert refusal.value.path == path


def test_of_several_problems_the_first_in_the_document_is_named() -> None:
    with pytest.raises(JsonError) as refusal:
        parse(b'{"a":"\\u0000","b":{"c":1,"c":2},"d":1e999}')

    assert (refusal.value.problem, refusal.value.path) == ("nul", "/a")


def test_a_refusal_quotes_long_names_cut_short_and_escaped() -> None:
    name = "n" * 1000 + "\n"

    with pytest.raises(JsonError) as refusal:
        parse(json.dumps({name: {"\n": "\x00"}}).encode())

    assert len(str(refusal.value)) < 200
    assert "\n" not in str(refusal.value)


def _cyclic() -> list[object]:
    cycle: list[object] = []
    cycle.append(cycle)
    return cycle


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (math.nan, "number_out_of_range"),
        ([math.inf], "number_out_of_range"),
        ("\ud800", "lone_surrogate"),
        ({"\udfff": 1}, "lone_surrogate"),
        ({1: 1}, "unsupported_type"),
        ({1, 2}, "unsupported_type"),
        (b"bytes", "unsupported_type"),
        (_cyclic(), "too_deep"),
    ],
)
def test_a_value_that_json_cannot_say_is_not_written(value: object, problem: str) -> None:
    with pytest.raises(JsonError) as refusal:
        canonicalize(value)

    assert refusal.value.problem == problem


def test_surrogate_pairs_are_one_character() -> None:
    assert parse(b'"\\ud83d\\ude00"') == "\U0001f600"
