"""All the files there are."""

from collections.abc import Callable
from typing import Final

from capability_authority_conformance.golden.canonical_json import canonical_json
from capability_authority_conformance.golden.content import content
from capability_authority_conformance.golden.digests import digests
from capability_authority_conformance.golden.dsse_json import dsse_json
from capability_authority_conformance.golden.fingerprints import fingerprints
from capability_authority_conformance.golden.form import VectorFile, render
from capability_authority_conformance.golden.grant_chains import grant_chains
from capability_authority_conformance.golden.invocations import invocations
from capability_authority_conformance.golden.key_states import key_states
from capability_authority_conformance.golden.public_keys import public_keys
from capability_authority_conformance.golden.reading import reading
from capability_authority_conformance.golden.revocation_feeds import revocation_feeds
from capability_authority_conformance.golden.signing_input import signing_input
from capability_authority_conformance.golden.statements import statements
from capability_authority_conformance.golden.times import times
from capability_authority_conformance.golden.upstream_envelopes import upstream_envelopes

__all__ = ["generated"]

_FILES: Final[tuple[Callable[[], VectorFile], ...]] = (
    canonical_json,
    content,
    digests,
    dsse_json,
    fingerprints,
    grant_chains,
    invocations,
    key_states,
    public_keys,
    reading,
    revocation_feeds,
    signing_input,
    statements,
    times,
    upstream_envelopes,
)


def generated() -> dict[str, str]:
    """The text of every file, by its name."""
    return {f"{file.name}.json": render(file) for file in (make() for make in _FILES)}
