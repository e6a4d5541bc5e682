"""Golden vectors as pytest parameters: `conformance/vectors/*.json`, which the README there explains."""

import json
from functools import cache
from typing import Any, NamedTuple

import pytest

from capability_authority.offline import (
    DigestError,
    JsonError,
    KeyRefused,
    OfflineError,
    UnreadableStatement,
)
from tests.vectors.vector_files import REPOSITORY

GOLDEN = REPOSITORY / "conformance" / "vectors"

_CLASS_WORDS = {DigestError: "malformed", KeyRefused: "key_refused"}


class Vector(NamedTuple):
    """A test with the group whose members it shares."""

    group: dict[str, Any]
    test: dict[str, Any]


@cache
def golden(name: str) -> Any:  # whatever the file holds
    """A file of golden vectors."""
    return json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))


def vectors(name: str) -> list[Vector]:
    """Every vector of a file."""
    return [Vector(group, test) for group in golden(name)["groups"] for test in group["tests"]]


def every(name: str) -> pytest.MarkDecorator:
    """Runs a test for each vector of a file."""
    return pytest.mark.parametrize("vector", vectors(name), ids=lambda vector: vector.test["id"])


def word(error: OfflineError) -> str:
    """The reason word of a refusal: the error's own, or the name of its class."""
    if isinstance(error, JsonError | UnreadableStatement):
        return error.problem
    spelled = type(error).__name__
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in spelled).lstrip("_")
    return _CLASS_WORDS.get(type(error), words)
