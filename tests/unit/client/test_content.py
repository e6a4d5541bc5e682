"""Content as Python has it becomes exact bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.client.content import content_bytes
from capability_authority.offline import JsonError, is_canonical

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc/ü", max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abcö", max_size=5), JSON_VALUES) | st.lists(JSON_VALUES))
def test_dicts_and_lists_become_canonical_json_of_the_same_value(value: dict[str, object] | list[object]) -> None:
    try:
        data, media_type = content_bytes(value)
    except JsonError as error:
        assert error.problem == "nul"  # noqa: PT017  # the one thing that these values can have wrong
        return

    assert media_type == "application/json"
    assert is_canonical(data)
    assert json.loads(data) == value


def test_text_and_bytes_are_sent_as_they_are() -> None:
    assert content_bytes("Grüße") == ("Grüße".encode(), "text/plain")
    assert content_bytes("# T", "text/markdown") == (b"# T", "text/markdown")
    assert content_bytes(b'{"a": 1}', "application/json") == (b'{"a": 1}', "application/json")


@pytest.mark.parametrize(
    ("content", "media_type", "problem"),
    [
        ({"a": 1}, "text/plain", "a dict is sent as application/json"),
        ([1], "text/plain", "a list is sent as application/json"),
        ('{"a":1}', "application/json", "not as a str"),
        (b"x", None, "bytes need a media_type"),
        (b"x", "", "bytes need a media_type"),
        ("\ud800", None, "lone surrogate"),
    ],
)
def test_what_is_ambiguous_is_refused(content: dict[str, int] | str | bytes, media_type: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        content_bytes(content, media_type)


@pytest.mark.parametrize("content", [None, 7, 1.5, ("a",), bytearray(b"x")])
def test_other_types_are_refused(content: object) -> None:
    with pytest.raises(TypeError, match="dict, list, str or bytes"):
        content_bytes(content)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [{"a": 2**53}, {"a": float("nan")}, {"a": {1}}, ["\x00"]])
def test_d04_json_that_the_authority_would_not_take_is_refused_before_it_is_sent(value: dict[str, object]) -> None:
    with pytest.raises(JsonError):
        content_bytes(value)
