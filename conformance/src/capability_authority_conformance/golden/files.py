"""All the files there are."""

from collections.abc import Callable
from typing import Final

from capability_authority_conformance.golden.canonical_json import canonical_json
from capability_authority_conformance.golden.content import content
from capability_authority_conformance.golden.digests import digests
from capability_authority_conformance.golden.dsse_json import dsse_json
from capability_authority_conformance.golden.fingerprints import fingerprints
from capability_authority_conformance.golden.form import VectorFile, render
from capability_authority_conformance.golden.reading import reading
from capability_authority_conformance.golden.signing_input import signing_input
from capability_authority_conformance.golden.statements import statements

__all__ = ["generated"]

_FILES: Final[tuple[Callable[[], VectorFile], ...]] = (
    canonical_json,
    content,
    digests,
    dsse_json,
    fingerprints,
    reading,
    signing_input,
    statements,
)


def generated() -> dict[str, str]:
    """The text of every file, by its name."""
    return {f"{file.name}.json": render(file) for file in (make() for make in _FILES)}
