"""Which principals are one person: verified, revocable records, never equal names (semantics §7)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from authority.domain.references import Instant, PrincipalRef, TenantRef


class LinkMethod(Enum):
    """How an operator found out that two principals are one person."""

    IN_PERSON = "in_person"
    """The person showed that both are theirs."""
    DIRECTORY = "directory"
    """A directory that the operator trusts says so."""
    DOCUMENT = "document"
    """A signed document says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrincipalLink:
    """Two principals of a tenant that are one person, `first` before `second` in the order of their texts' bytes.

    `evidence` says where the verification can be looked up: a ticket, a directory entry. A link counts from
    `verify_time` on until it is revoked; then it never counts again, and the pair may be verified anew.
    """

    tenant: TenantRef
    first: PrincipalRef
    second: PrincipalRef
    method: LinkMethod
    evidence: str
    verified_by: PrincipalRef
    verify_time: Instant
    revoke_time: Instant | None = None

    @property
    def counts(self) -> bool:
        """Whether it was not revoked."""
        return self.revoke_time is None


def in_order(one: PrincipalRef, other: PrincipalRef) -> tuple[PrincipalRef, PrincipalRef]:
    """The two as a link names them. Their texts are ASCII, so that Python and the database order them alike."""
    return (one, other) if str(one) < str(other) else (other, one)


def same_person(principal: PrincipalRef, links: Iterable[PrincipalLink]) -> frozenset[PrincipalRef]:
    """The principal and every one that links of its tenant lead to, however many are between (case I16).

    The pure twin of the SQL function `authority.same_person`. Links that were revoked lead nowhere.
    """
    neighbours: defaultdict[PrincipalRef, set[PrincipalRef]] = defaultdict(set)
    for link in links:
        if link.counts:
            neighbours[link.first].add(link.second)
            neighbours[link.second].add(link.first)
    person, ahead = {principal}, [principal]
    while ahead:
        for linked in neighbours[ahead.pop()] - person:
            person.add(linked)
            ahead.append(linked)
    return frozenset(person)
