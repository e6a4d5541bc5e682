"""Policy bundles: operator files of Cedar policies, versioned by the digest of their bytes (semantics §7)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from cedarpy import PolicySet

from authority.policy.rules import broken_rules, context_attributes, unparsable
from authority.policy.source import policy_texts, unsafe


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that can be asked. Cedar numbers policies; answers name them by their `@id`."""

    policies: PolicySet
    ids: Mapping[str, str]
    """Cedar's number of each policy and its `@id`."""
    asking: Mapping[str, int]
    """Cedar's numbers of the policies that ask for an approval instead of denying, and of how many persons."""
    speaks_of: frozenset[str]
    """The attributes of the context that its policies look at: nothing else need be told."""


def bundle_version(text: str) -> bytes:
    """The policy version: SHA-256 of the exact UTF-8 bytes, line ends included.

    Raises UnicodeEncodeError for lone surrogates, which a checked bundle does not have.
    """
    return hashlib.sha256(text.encode()).digest()


def default_bundle() -> str:
    """The bundle of a new installation, exactly as it is shipped."""
    return resources.files("authority.policy").joinpath("default.cedar").read_bytes().decode()


def check_bundle(text: str) -> list[str]:
    """Every problem of the bundle as a sentence with its line, for the operator who loads it; empty when it is good."""
    read = read_bundle(text)
    return [] if isinstance(read, Bundle) else list(read)


def read_bundle(text: str) -> Bundle | tuple[str, ...]:
    """The bundle, or its problems. Any text can be given: what could harm the parser does not reach it."""
    texts = policy_texts(text)
    if problems := tuple(unsafe(text, texts)):
        return problems
    try:
        policies = PolicySet.from_str(text)
        nodes = policies.to_pst()
    except ValueError as error:
        return tuple(unparsable(texts)) or (f"the bundle cannot be read: {error}",)
    if problems := tuple(broken_rules(text, nodes, texts)):
        return problems
    return Bundle(
        policies,
        {number: policy.annotations["id"] for number, policy in nodes.static_policies.items()},
        {
            number: int(policy.annotations.get("quorum", "1"))
            for number, policy in nodes.static_policies.items()
            if "outcome" in policy.annotations
        },
        context_attributes(nodes.static_policies),
    )
