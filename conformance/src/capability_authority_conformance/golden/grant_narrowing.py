"""Dimensions of grants, narrower, equal, wider, absent and empty, for `grant_chains.json`."""

from collections.abc import Iterator
from typing import Final

from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority_conformance.golden.form import Test
from capability_authority_conformance.golden.grant_samples import child, renewed, root, saying, without
from capability_authority_conformance.golden.grant_tests import accepted, exceeded, refused
from capability_authority_conformance.golden.samples import AUDIENCE

__all__ = ["dimensions", "selectors"]

_CASES: Final[tuple[tuple[str, object, object, object], ...]] = (
    ("audiences", [AUDIENCE], [AUDIENCE, "mail.example"], []),
    ("actions", ["memory.recall"], ["memory.recall", "evidence.read"], []),
    ("resources", ["docs/a"], ["docs/*", "mail/*"], []),
    ("read_memory_namespaces", ["team/a/*"], ["team/*", "teams/*"], []),
    ("write_memory_namespaces", ["team/build"], ["team/*"], []),
    ("tools", ["files/read"], ["search", "shell"], []),
    ("providers", ["local"], ["local", "cloud"], []),
    ("models", ["small/1"], ["small/*", "large/1"], []),
    ("usd_micros", 999, 1_001, 0),
    ("tokens", 1_999, 2_001, 0),
    ("latency_ms", 2_999, 3_001, 0),
    ("concurrency", 3, 5, 0),
    ("uses", 4, 6, 0),
)
"""Dimension, something narrower than the root's, something wider, and nothing."""
_FLAGS: Final = ("network", "destructive")
_ALL: Final = (*(name for name, *_ in _CASES), *_FLAGS)


def dimensions() -> list[Test]:
    """Every dimension."""
    return [
        *_wholes(),
        *(test for row in _CASES for test in _of_one(*row)),
        *(test for name in _FLAGS for test in _of_flag(name)),
    ]


def _wholes() -> Iterator[Test]:
    parent, denying = root(), root(*(saying(name, nothing) for name, _, _, nothing in _CASES))
    yield accepted("root", "a root alone", "Equal", parent)
    yield accepted("equal", "a child that says all of it again", "Equal", parent, child(parent))
    yield accepted("equal-twice", "and its child", "Equal", parent, child(parent), child(child(parent)))
    made = child(parent, renewed, key="grant")
    yield accepted("exchanged", "a child that the authority made", "Equal", parent, made)
    yield accepted("nothing", "every dimension is empty, and said again", "EmptyList", denying, child(denying))
    silent = child(parent, without(*_ALL))
    yield exceeded("silent", "a child that says nothing: the first is named", "Absent", "audiences", parent, silent)


def _of_one(name: str, narrower: object, wider: object, nothing: object) -> Iterator[Test]:
    word, parent = name.replace("_", "-"), root()
    yield accepted(f"{word}-narrower", "less", "Narrower", parent, child(parent, saying(name, narrower)))
    yield accepted(f"{word}-nothing", "nothing", "EmptyList", parent, child(parent, saying(name, nothing)))
    yield exceeded(f"{word}-wider", "more", "Wider", name, parent, child(parent, saying(name, wider)))
    yield exceeded(f"{word}-absent", "left out", "Absent", name, parent, child(parent, without(name)))
    grown = child(child(parent, saying(name, narrower)), saying(name, wider))
    yield exceeded(
        f"{word}-wider-again",
        "less, and then more than the root",
        "Wider",
        name,
        parent,
        child(parent, saying(name, narrower)),
        grown,
    )
    none = root(saying(name, nothing))
    yield exceeded(
        f"{word}-from-nothing", "more than nothing", "EmptyList", name, none, child(none, saying(name, narrower))
    )
    silent = root(without(name))
    yield exceeded(
        f"{word}-from-absent", "more than was said", "Absent", name, silent, child(silent, saying(name, narrower))
    )
    yield accepted(
        f"{word}-absent-denied", "what was not said, denied", "Absent", silent, child(silent, saying(name, nothing))
    )
    yield exceeded(f"{word}-absent-still", "not said again", "Absent", name, silent, child(silent))


def _of_flag(name: str) -> Iterator[Test]:
    parent, denying, silent = root(), root(saying(name, value=False)), root(without(name))
    yield accepted(
        f"{name}-denied", "allowed, then denied", "Narrower", parent, child(parent, saying(name, value=False))
    )
    yield exceeded(
        f"{name}-allowed", "denied, then allowed", "Wider", name, denying, child(denying, saying(name, value=True))
    )
    yield exceeded(f"{name}-absent", "left out", "Absent", name, parent, child(parent, without(name)))
    yield exceeded(
        f"{name}-from-absent",
        "allowed where nothing was said",
        "Absent",
        name,
        silent,
        child(silent, saying(name, value=True)),
    )
    yield accepted(
        f"{name}-absent-denied",
        "denied where nothing was said",
        "Absent",
        silent,
        child(silent, saying(name, value=False)),
    )


_COVERED: Final = (
    ("exact", "docs/*", "docs/a"),
    ("deep", "docs/*", "docs/a/b"),
    ("prefix", "docs/*", "docs/*"),
    ("longer-prefix", "docs/*", "docs/a/*"),
    ("same-name", "notes/a", "notes/a"),
)
_NOT_COVERED: Final = (
    ("prefix-itself", "docs/*", "docs"),
    ("longer-segment", "docs/*", "docs1/a"),
    ("shorter-segment", "docs/*", "doc/a"),
    ("case", "docs/*", "Docs/a"),
    ("case-below", "notes/a", "notes/A"),
    ("above", "docs/a", "docs/*"),
    ("below-a-name", "docs/a", "docs/a/b"),
    ("all-below-a-name", "docs/a", "docs/a/*"),
    ("beside", "docs/a/*", "docs/b"),
    ("in-the-middle", "docs/*", "old/docs/a"),
)
_NONE: Final = (
    ("parent-segment", "docs/../mail"),
    ("dot-segment", "docs/./a"),
    ("empty-segment", "docs//a"),
    ("slash-before", "/docs/a"),
    ("slash-behind", "docs/a/"),
    ("star", "*"),
    ("slash-star", "/*"),
    ("star-in-a-segment", "docs/a*"),
    ("star-in-the-middle", "docs/*/a"),
    ("two-stars", "docs/**"),
    ("question-mark", "docs/?"),
    ("percent", "docs%2fa"),
    ("space", "docs/a "),
    ("line-feed", "docs/a\n"),
    ("nul", "docs/a\0"),
    ("beyond-ascii", "docs/\u00e9"),
    ("empty", ""),
    ("long", "a" * 257),
)


def selectors() -> list[Test]:
    """What a selector reaches, and what is none."""
    return [
        *(
            accepted(f"selector-{name}", f"{wider} reaches {narrower}", "Selectors", *_pair(wider, narrower))
            for name, wider, narrower in _COVERED
        ),
        *(
            exceeded(
                f"selector-{name}",
                f"{wider} does not reach {narrower}",
                "Selectors",
                "resources",
                *_pair(wider, narrower),
            )
            for name, wider, narrower in _NOT_COVERED
        ),
        *(
            refused(
                f"no-selector-{name}",
                "it is none",
                "Selectors",
                "grant_malformed",
                root(saying("resources", [text])),
                field="resources",
            )
            for name, text in _NONE
        ),
    ]


def _pair(wider: str, narrower: str) -> tuple[SignedStatement, SignedStatement]:
    parent = root(saying("resources", [wider]))
    return parent, child(parent, saying("resources", [narrower]))
