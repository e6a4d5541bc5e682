"""Selectors match whole segments, exactly or everything below a prefix, and no trick widens them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.domain.selectors import covers, select

SEGMENTS = st.sampled_from(["t", "t1", "T", "a", ".", "..", "", "*", "a*", "**", "%2e"])
NAMES = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("selector", "name"),
    [("t", "t"), ("t/*", "t/a"), ("t/*", "t/a/b"), ("t/a/*", "t/a/b"), ("t/.hidden/*", "t/.hidden/a")],
)
def test_a_selector_selects_whole_segments(selector: str, name: str) -> None:
    assert select((selector,), name)


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ("t", "t1"),
        ("t/*", "t1"),
        ("t/*", "t1/a"),
        ("t/*", "t"),
        ("t/*", "t/"),
        ("t", "T"),
        ("t/*", "T/a"),
        ("t/a", "t/a/b"),
        ("t/*", "t/."),
        ("t/*", "t/.."),
        ("t/*", "t/../u"),
        ("t/*", "t/a/../../u"),
        ("t/*", "t//u"),
        ("t/*", "/t/a"),
        ("t/*", "t/*"),
        ("t/*", "t/a/*"),
        ("t/*", "t/*/a"),
        ("t/*", "t/a\n"),
        ("t/*", "t/ a"),
        ("t/*", "t\\a"),
        ("*", "t"),
        ("/*", "/t"),
        ("/*", "t"),
        ("t*", "t1"),
        ("t/*/*", "t/a/b"),
        ("*/a", "t/a"),
        ("t/a*", "t/ab"),
        ("t/../*", "t/../a"),
        ("t/./a", "t/./a"),
        ("t//*", "t//a"),
        ("", ""),
        ("t/*", ""),
        ("t?", "t1"),
        (".*", "ta"),
    ],
)
def test_no_trick_selects(selector: str, name: str) -> None:
    assert not select((selector,), name)


def test_an_empty_list_selects_nothing() -> None:
    assert not select((), "t")
    assert not covers((), "t")


@pytest.mark.parametrize(
    ("wider", "narrower", "is_covered"),
    [
        ("t", "t", True),
        ("t/*", "t/*", True),
        ("t/*", "t/a/*", True),
        ("t/*", "t/a", True),
        ("t/a", "t/*", False),
        ("t/a/*", "t/*", False),
        ("t", "t/*", False),
        ("t/*", "t", False),
        ("t/*", "t1/*", False),
        ("t/*", "t/../*", False),
        ("t/../*", "t/../*", False),
        ("*", "*", False),
    ],
)
def test_what_covers_a_selector(wider: str, narrower: str, *, is_covered: bool) -> None:
    assert covers((wider,), narrower) == is_covered


@given(NAMES, NAMES, NAMES)
def test_what_a_covered_selector_selects_its_cover_selects(wider: str, narrower: str, name: str) -> None:
    if covers((wider,), narrower) and select((narrower,), name):
        assert select((wider,), name)


@given(NAMES, NAMES)
def test_what_is_selected_is_the_selector_itself_or_below_its_prefix(selector: str, name: str) -> None:
    if select((selector,), name):
        parts, wanted = name.split("/"), selector.removesuffix("/*").split("/")
        assert parts[: len(wanted)] == wanted
        assert (len(parts) > len(wanted)) == selector.endswith("/*")
        assert not {"", ".", ".."} & set(parts)
