"""Bundles that decide everything of a memory namespace alike, for who must know beforehand how policy will answer.

`authority provision` puts memory namespaces under them that a conformance suite or a trial is to run in. Nothing else
comes under one unless it is named: `namespaces add` passes them over when it takes the newest bundle. It knows them by
their versions, so their bytes never change: a changed one is another file.
"""

from enum import Enum
from functools import cache
from importlib import resources

from authority.policy.bundle import bundle_version


class PlainRule(Enum):
    """What is decided of a proposal that did not fail validation. One that failed is denied under each of them."""

    ALLOW = "allow"
    ONE_PERSON = "one_person"
    """One person must approve."""
    TWO_PERSONS = "two_persons"
    """Two different persons must."""
    DENY = "deny"


@cache
def plain_bundle(rule: PlainRule) -> str:
    """The bundle of this rule, exactly as it is shipped."""
    file = resources.files("authority.policy").joinpath(f"plain_{rule.value}.cedar")
    return file.read_bytes().decode()


@cache
def plain_versions() -> frozenset[bytes]:
    """The versions of all of them."""
    return frozenset(bundle_version(plain_bundle(rule)) for rule in PlainRule)
