"""What cannot be made of a document that is well formed: judged whole, before anything of it is made."""

from collections.abc import Iterable, Iterator

from authority.cli.provision.document import MembershipPart, PrincipalPart, SetUp, TenantPart
from authority.domain.identity import possible_rights
from authority.signing.possession import PossessionUnproved, require_possession


def problems_of(document: SetUp) -> list[str]:
    """Every problem as a sentence after the path of its field; empty when all of it can be made."""
    return [
        *_twice("tenants", (str(tenant.ref) for tenant in document.tenants)),
        *(problem for n, tenant in enumerate(document.tenants) for problem in _of_tenant(f"tenants[{n}]", tenant)),
    ]


def _of_tenant(place: str, tenant: TenantPart) -> Iterator[str]:
    yield from _twice(f"{place}.memoryNamespaces", (namespace.name for namespace in tenant.memory_namespaces))
    principals = f"{place}.principals"
    yield from _twice(principals, (principal.name for principal in tenant.principals))
    yield from _twice(principals, (str(principal.ref) for principal in tenant.principals))
    yield from _twice(principals, (principal.public_key for principal in tenant.principals))
    yield from _twice(f"{principals}.keyAliases", (name for it in tenant.principals for name in it.key_aliases))
    for number, principal in enumerate(tenant.principals):
        yield from _of_principal(f"{principals}[{number}]", tenant, principal)
    memberships = f"{place}.memberships"
    yield from _twice(memberships, (f"{membership.scope}:{membership.id}" for membership in tenant.memberships))
    for number, membership in enumerate(tenant.memberships):
        yield from _of_membership(f"{memberships}[{number}]", tenant, membership)


def _of_principal(place: str, tenant: TenantPart, principal: PrincipalPart) -> Iterator[str]:
    for number, right in enumerate(principal.rights):
        if right not in possible_rights(principal.kind):
            yield f"{place}.rights[{number}]: a principal of kind {principal.kind.value} can never {right.value}"
    if principal.revoked and principal.key_aliases:
        yield f"{place}.keyAliases: it is revoked, and its key is called nothing"
    try:
        require_possession(tenant.ref, principal.ref, principal.raw_key, principal.raw_proof)
    except PossessionUnproved as error:
        yield f"{place}: {error}"


def _of_membership(place: str, tenant: TenantPart, membership: MembershipPart) -> Iterator[str]:
    yield from _twice(f"{place}.members", membership.members)
    for number, name in enumerate(membership.members):
        member = tenant.principal(name)
        if member is None:
            yield f"{place}.members[{number}]: no principal of this tenant has the name {name}"
        elif member.revoked:
            yield f"{place}.members[{number}]: {name} is revoked, and is a member of nothing"


def _twice(place: str, names: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for number, name in enumerate(names):
        if name in seen:
            yield f"{place}[{number}]: {name} stands here twice"
        seen.add(name)
