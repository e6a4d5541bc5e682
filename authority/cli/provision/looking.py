"""Looks at what is there of a set-up document, and says how to make the rest.

What the document does not name is left alone: other memory namespaces, other principals, other teams. What it names
must be there exactly so, or not at all.
"""

from collections.abc import Iterator, Mapping, Sequence

from authority.bootstrap.operator import Operator
from authority.cli.provision.document import MembershipPart, MemoryNamespacePart, PrincipalPart, SetUp, TenantPart
from authority.cli.provision.things import Make, Thing
from authority.domain.identity import Right
from authority.domain.membership import Scope
from authority.domain.record import MemoryNamespace
from authority.domain.references import PrincipalRef, TenantRef
from authority.policy.bundle import bundle_version
from authority.policy.plain import PlainRule, plain_bundle
from authority.signing.possession import require_possession
from authority.usecases.administer import ListedPrincipal, NewMemoryNamespace, NewPrincipal
from authority.usecases.register_credentials import RegisteredCredential

_NEVER_CHANGES = (
    "what a principal is never changes: provision an authority that does not know it, or give it another id"
)


async def look_for(operator: Operator, document: SetUp) -> list[Thing]:
    """Everything that the document asks for, in the order in which what is missing is to be made."""
    things = await _policies(operator, document)
    for tenant in document.tenants:
        things += await _namespaces(operator, tenant)
        things += await _principals(operator, tenant)
        things += await _aliases(operator, tenant)
        things += await _memberships(operator, tenant)
    return things


async def _policies(operator: Operator, document: SetUp) -> list[Thing]:
    loaded = {policy.version for policy in await operator.administration.list_policies()}
    used = {namespace.policy for tenant in document.tenants for namespace in tenant.memory_namespaces}
    return [_policy(operator, rule, loaded) for rule in PlainRule if rule in used]


def _policy(operator: Operator, rule: PlainRule, loaded: set[bytes]) -> Thing:
    async def make() -> None:
        await operator.load_policy(plain_bundle(rule))

    is_there = bundle_version(plain_bundle(rule)) in loaded
    return Thing(what="policy", name=rule.value, make=None if is_there else make)


async def _namespaces(operator: Operator, tenant: TenantPart) -> list[Thing]:
    there = {found.name: found for found in await operator.administration.list_namespaces(tenant.ref)}
    return [_namespace(operator, tenant.ref, part, there.get(part.name)) for part in tenant.memory_namespaces]


def _namespace(
    operator: Operator, tenant: TenantRef, part: MemoryNamespacePart, there: MemoryNamespace | None
) -> Thing:
    new = NewMemoryNamespace(
        tenant=tenant,
        name=part.name,
        policy_version=bundle_version(plain_bundle(part.policy)),
        mode=part.mode,
        privileged=part.privileged,
    )

    async def make() -> None:
        await operator.administration.add_namespace(new, operator.clock.now())

    differences = tuple(_of_namespace(new, part.policy, there)) if there else ()
    return Thing(
        tenant=str(tenant),
        what="memory namespace",
        name=part.name,
        make=None if there else make,
        differences=differences,
    )


def _of_namespace(new: NewMemoryNamespace, rule: PlainRule, there: MemoryNamespace) -> Iterator[str]:
    of_tenant, version = f"--tenant '{new.tenant}'", f"sha256:{new.policy_version.hex()}"
    if there.mode is not new.mode:
        yield (
            f"it is in mode {there.mode.value}, not {new.mode.value}:"
            f" `authority namespaces mode {new.name} {new.mode.value} {of_tenant}` changes that"
        )
    if there.policy_version != new.policy_version:
        yield (
            f"it is decided by sha256:{there.policy_version.hex()}, not by the shipped rule {rule.value}:"
            f" `authority policies activate {version} --namespace {new.name} {of_tenant}` changes that"
        )
    fixed = {
        "privileged": (_yes_or_no(there.privileged), _yes_or_no(new.privileged)),
        "its least profile": (there.least_profile, new.least_profile),
        "its visibility": (there.default_visibility.value, new.default_visibility.value),
    }
    for name, (found, wanted) in fixed.items():
        if found != wanted:
            yield f"{name} is {found}, not {wanted}, for good: give it another name"


async def _principals(operator: Operator, tenant: TenantPart) -> list[Thing]:
    there = {found.ref: found for found in await operator.administration.list_principals(tenant.ref)}
    keys = {key.credential_id: key for key in await operator.credentials.credentials(tenant.ref)}
    return [_principal(operator, tenant.ref, part, there.get(part.ref), keys) for part in tenant.principals]


def _principal(
    operator: Operator,
    tenant: TenantRef,
    part: PrincipalPart,
    there: ListedPrincipal | None,
    keys: Mapping[str, RegisteredCredential],
) -> Thing:
    new = NewPrincipal(
        tenant=tenant,
        ref=part.ref,
        kind=part.kind,
        rights=frozenset(part.rights),
        key_id=_key_id(tenant, part),
        public_key=part.raw_key,
    )

    async def make() -> None:
        # In two transactions: who finds it between them, after a crash or beside this, goes on with the second.
        if there is None:
            await operator.administration.add_principal(new, operator.clock.now())
        if part.revoked:
            await operator.administration.revoke_principal(tenant, new.ref, operator.clock.now())

    is_there = there is not None and (there.state == "revoked") is part.revoked
    return Thing(
        tenant=str(tenant),
        what="principal",
        name=str(part.ref),
        make=None if is_there else make,
        differences=tuple(_of_principal(new, part, there, keys.get(new.key_id))),
    )


def _of_principal(
    new: NewPrincipal, part: PrincipalPart, there: ListedPrincipal | None, key: RegisteredCredential | None
) -> Iterator[str]:
    if key and key.principal != new.ref:
        yield f"its key {new.key_id} is {key.principal}'s: make it another one"
    if there is None:
        return
    if there.kind is not new.kind:
        yield f"it is of kind {there.kind.value}, not {new.kind.value}; {_NEVER_CHANGES}"
    if there.rights != new.rights:
        yield f"it has the rights {_words(there.rights)}, not {_words(new.rights)}; {_NEVER_CHANGES}"
    if there.state == "revoked" and not part.revoked:
        yield f"it is revoked; {_NEVER_CHANGES}"
    if key is None:
        yield f"it is not known by the key {new.key_id}; use the keys of the set-up that made it, or give it another id"
    elif key.state == "revoked" and not part.revoked and there.state != "revoked":
        yield f"its key {new.key_id} is revoked; give it another id, with another key"


async def _aliases(operator: Operator, tenant: TenantPart) -> list[Thing]:
    called = {it.alias: it.key_id for it in await operator.key_aliases.aliases(tenant.ref) if it.revoke_time is None}
    return [
        _alias(operator, tenant.ref, alias, _key_id(tenant.ref, part), called.get(alias))
        for part in tenant.principals
        for alias in part.key_aliases
    ]


def _alias(operator: Operator, tenant: TenantRef, alias: str, key_id: str, there: str | None) -> Thing:
    async def make() -> None:
        await operator.key_aliases.add(tenant, alias, key_id, operator.clock.now())

    remedy = f"`authority principals alias revoke {alias} --tenant '{tenant}'` takes the name back"
    differs = there not in {None, key_id}
    return Thing(
        tenant=str(tenant),
        what="key alias",
        name=alias,
        make=None if there else make,
        differences=(f"it is the name of {there}, not of {key_id}: {remedy}",) if differs else (),
    )


async def _memberships(operator: Operator, tenant: TenantPart) -> list[Thing]:
    there = [(found.scope, found.principal) for found in await operator.memberships.list_memberships(tenant.ref)]
    return [
        thing
        for part in tenant.memberships
        for thing in _membership(
            operator, tenant, part, [principal for scope, principal in there if scope == part.whole]
        )
    ]


def _membership(
    operator: Operator, tenant: TenantPart, part: MembershipPart, there: Sequence[PrincipalRef]
) -> Iterator[Thing]:
    scope = part.whole
    members = [principal.ref for principal in map(tenant.principal, part.members) if principal]
    for member in members:
        yield Thing(
            tenant=str(tenant.ref),
            what="membership",
            name=f"{member} in {scope}",
            make=None if member in there else _joining(operator, tenant.ref, member, scope),
        )
    for other in there:
        if other not in members:
            remedy = f"`authority memberships remove '{other}' {scope} --tenant '{tenant.ref}'` ends that"
            yield Thing(
                tenant=str(tenant.ref),
                what="membership",
                name=f"{other} in {scope}",
                differences=(f"it is not in the document: {remedy}",),
            )


def _joining(operator: Operator, tenant: TenantRef, member: PrincipalRef, scope: Scope) -> Make:
    async def make() -> None:
        await operator.memberships.add_membership(tenant, member, scope, operator.clock.now())

    return make


def _key_id(tenant: TenantRef, part: PrincipalPart) -> str:
    return require_possession(tenant, part.ref, part.raw_key, part.raw_proof)


def _words(rights: frozenset[Right]) -> str:
    return ", ".join(right.value for right in Right if right in rights) or "none"


def _yes_or_no(value: object) -> str:
    return "yes" if value else "no"
