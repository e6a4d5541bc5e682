"""Judges a whole chain of grants, from its root to the grant that is presented, changing nothing (semantics §6).

A block is as narrow as its parent in every dimension or narrower, names it by its digest, and was signed by whoever may
derive from it. Nothing is taken from one verification to the next: every chain is judged from its root (case E18).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeAlias

from authority.domain import limits
from authority.domain.grant import (
    AMOUNT_DIMENSIONS,
    EXACT_DIMENSIONS,
    FLAG_DIMENSIONS,
    SELECTOR_DIMENSIONS,
    Grant,
    OpenedGrant,
)
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, highest, malformed, over_limit
from authority.domain.selectors import covers


def exceeds(dimension: str) -> Refusal:
    """The grant does not reach as far in this dimension, a field name of Grant."""
    return Refusal(Reason.GRANT_EXCEEDED, {"dimension": dimension})


def judge_chain(
    chain: Sequence[OpenedGrant], signature_refusals: Sequence[Refusal | None], issuer: str
) -> Refusal | None:
    """The highest refusal of the chain, root first, or None. Times and withdrawals are judged apart, at each use.

    `signature_refusals` are what is said of the signature of each block, in their order: the grant key signs what names
    `issuer`, this authority, and the key that the parent binds what its holder derived.
    Refusals: MALFORMED, LIMIT_EXCEEDED, SIGNATURE_INVALID, ISSUER_UNKNOWN, KEY_REVOKED, GRANT_EXCEEDED `dimension`.
    """
    if len(signature_refusals) != len(chain):
        raise ValueError("one judgement for each signature")
    return _too_large(chain) or highest((*_block_refusals(chain, issuer), *signature_refusals, *_link_refusals(chain)))


def exceeded_dimension(parent: Grant, parent_digest: bytes, child: Grant) -> str | None:
    """The first dimension, in the order of the payload, in which the child is no proper child of this parent.

    Equal is allowed, wider is not, and nothing is inherited: what is absent in a child exceeds (case I15). A dimension
    that is absent in the parent denies, so that a child can say no more of it than nothing.
    """
    exceeded = next((dimension for dimension, holds in _HOLDS.items() if not holds(parent, child)), None)
    return exceeded or (None if child.parent_digest == parent_digest else "parent_digest")


def _too_large(chain: Sequence[OpenedGrant]) -> Refusal | None:
    if not chain:
        return malformed("grant", "must be set")
    if len(chain) > limits.GRANT_CHAIN_BLOCKS:
        return over_limit("grant_ancestors", f"{limits.DELEGATION_DEPTH}")
    if sum(len(block.statement.payload) for block in chain) > limits.GRANT_CHAIN_BYTES:
        return over_limit("grant_ancestors", f"{limits.GRANT_CHAIN_BYTES} bytes, with the grant")
    return None


def _block_refusals(chain: Sequence[OpenedGrant], issuer: str) -> Iterator[Refusal]:
    for block in chain:
        terms = block.terms
        if (terms.delegated_by is None) == (not terms.issuer):
            yield malformed("grant.issuer", "must be empty exactly when delegated_by is set")
        if not 0 < terms.expire_time - terms.not_before_time <= limits.GRANT_LIFETIME_MS:
            yield malformed("grant.expire_time", "must be after not_before_time, by at most 30 days")
        if terms.issuer and terms.issuer != issuer:
            yield Refusal(Reason.ISSUER_UNKNOWN)


def _link_refusals(chain: Sequence[OpenedGrant]) -> Iterator[Refusal]:
    root = chain[0].terms
    if root.parent_digest:
        yield exceeds("parent_digest")
    if root.delegated_by is not None:
        yield exceeds("delegated_by")
    if root.actor_chain:
        yield exceeds("actor_chain")
    for parent, child in pairwise(chain):
        if dimension := exceeded_dimension(parent.terms, parent.digest, child.terms):
            yield exceeds(dimension)


def _is_subset(parent: tuple[str, ...] | None, child: tuple[str, ...] | None) -> bool:
    return child is not None and set(child) <= set(parent or ())


def _is_covered(parent: tuple[str, ...] | None, child: tuple[str, ...] | None) -> bool:
    return child is not None and all(covers(parent or (), selector) for selector in child)


def _is_at_most(parent: int | None, child: int | None) -> bool:
    """Flags too: False is less than True."""
    return child is not None and child <= (parent or 0)


_Holds: TypeAlias = Callable[[Grant, Grant], bool]


def _in_each(dimensions: Iterable[str], narrows: Callable[[Any, Any], bool]) -> dict[str, _Holds]:
    return {name: partial(_narrows_in, name, narrows) for name in dimensions}


def _narrows_in(name: str, narrows: Callable[[Any, Any], bool], parent: Grant, child: Grant) -> bool:
    return narrows(getattr(parent, name), getattr(child, name))


_HOLDS: Final[Mapping[str, _Holds]] = {
    "delegated_by": lambda parent, child: child.delegated_by in (None, parent.holder),
    "tenant": lambda parent, child: child.tenant == parent.tenant,
    "subject": lambda parent, child: child.subject == parent.subject,
    "actor_chain": lambda parent, child: child.actor_chain == (*parent.actor_chain, parent.holder),
    **_in_each(EXACT_DIMENSIONS, _is_subset),
    **_in_each(SELECTOR_DIMENSIONS, _is_covered),
    **_in_each((*AMOUNT_DIMENSIONS, *FLAG_DIMENSIONS), _is_at_most),
    "not_before_time": lambda parent, child: child.not_before_time >= parent.not_before_time,
    "expire_time": lambda parent, child: child.expire_time <= parent.expire_time,
    "delegation_depth": lambda parent, child: child.delegation_depth < parent.delegation_depth,
    "policy_version": lambda parent, child: child.policy_version == parent.policy_version,
}
"""Whether a child may say what it says under its parent, by dimension, in the order of the payload."""
