"""`grant_chains.json`: whole chains of grants, root first (semantics §6)."""

from typing import Final

from capability_authority_conformance.golden import (
    grant_links,
    grant_narrowing,
    grant_shapes,
    grant_signatures,
    grant_uses,
)
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.key_sets import key_record
from capability_authority_conformance.golden.published_keys import published
from capability_authority_conformance.golden.samples import ISSUER

__all__ = ["grant_chains"]

_FLAGS: Final = (
    Flag("Narrower", "BASIC", "A child that says less than its parent.", "Nothing can be handed on."),
    Flag("Equal", "EDGE_CASE", "A child that says exactly what its parent says.", "Good children are refused."),
    Flag(
        "Wider",
        "ESCALATION",
        "A child that says more than its parent in one dimension (E17).",
        "Whoever holds a grant gives itself more.",
    ),
    Flag(
        "Absent",
        "ESCALATION",
        "What is absent denies at the root and is refused in a child; nothing is inherited (I15).",
        "A dimension that is left out becomes unlimited.",
    ),
    Flag("EmptyList", "ESCALATION", "An empty list denies all.", "An empty list means unrestricted."),
    Flag(
        "Selectors",
        "ESCALATION",
        "Selectors match whole segments: `t/*` reaches neither `t` nor `t1`; dots and case match nothing.",
        "A grant for one team reaches another's memory.",
    ),
    Flag("Depth", "ESCALATION", "Each generation has less depth than the one before; 8 at most.", "Chains never end."),
    Flag("Expiry", "ESCALATION", "A child expires no later than its parent.", "A grant outlives what it stands on."),
    Flag(
        "Identity",
        "ESCALATION",
        "Tenant, subject and policy version stay; the actor chain appends the parent's holder.",
        "Rights of one are used for another, and nobody sees who acted.",
    ),
    Flag(
        "Links",
        "FORGERY",
        "Blocks that are reordered, left out, or put under another parent (E18, E21).",
        "A chain is put together from parts of others.",
    ),
    Flag("Signature", "FORGERY", "A block that whoever may make it did not sign (E18, E21).", "Anyone makes grants."),
    Flag("Root", "FORGERY", "A chain that does not begin with a root of the pinned issuer.", "Anyone begins a chain."),
    Flag("Malformed", "AMBIGUITY", "What no grant can say, whoever signed it.", "A reader guesses what it means."),
    Flag(
        "Time", "OUT_OF_RANGE", "Every block must be current (E12).", "An ancestor that ended goes on in its children."
    ),
    Flag("Use", "ESCALATION", "Every block must allow the use.", "A grant is used for what it does not say."),
)
_KEYS: Final = ("grant", "capability", "receipt", "holder", "orchestrator", "agent", "tool", "stranger")


def grant_chains() -> VectorFile:
    """The file."""
    topics: tuple[tuple[str, list[Test]], ...] = (
        ("Children in each dimension", grant_narrowing.dimensions()),
        ("Selectors", grant_narrowing.selectors()),
        ("Who is who, and for how long", grant_links.terms()),
        ("How blocks hang together", grant_links.links()),
        ("Who signed", grant_signatures.signatures()),
        ("What no grant can say", grant_shapes.misshapen()),
        ("What a grant is used for, and when", grant_uses.uses()),
    )
    records = [key_record("grant"), key_record("capability"), key_record("receipt"), key_record("holder")]
    shared = {"issuer": ISSUER, "keys": [published(name) for name in _KEYS], "key_set": records}
    return VectorFile(
        "grant_chains",
        "Chains of grants, to be verified under the key set of their group at a given time, and for a use if any.",
        _FLAGS,
        [Group(about, tests, shared) for about, tests in topics],
    )
