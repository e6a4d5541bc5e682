"""Capabilities that say something else, validly signed: what only a thief of the authority's own key could make."""

from collections.abc import Callable

from authority.domain.statement import KeyPurpose
from capability_authority.offline import PrivateKey, sign
from capability_authority.v1.statements_pb2 import CommitCapability, SignedStatement
from tests.installation.installation import Installation
from tests.installation.team import Ready

Change = Callable[[CommitCapability], None]
"""Changes terms in place."""


def altered(ready: Ready, change: Change, key: PrivateKey) -> SignedStatement:
    """The capability with changed terms, signed by this key."""
    terms = CommitCapability()
    terms.CopyFrom(ready.capability.terms)
    change(terms)
    return sign(terms, key)


def altered_by_thief(installation: Installation, ready: Ready, change: Change) -> SignedStatement:
    """The capability with changed terms, signed by the authority's real capability key."""
    return altered(ready, change, installation.private_key(KeyPurpose.CAPABILITY))
