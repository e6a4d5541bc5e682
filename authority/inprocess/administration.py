"""The port `Administration`."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.identity import Principal
from authority.domain.record import MemoryNamespace, Mode
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.revocation import AUTHORITY_ITSELF, Revoked, RevokedKind
from authority.domain.statement import IssuerKey, KeyState
from authority.inprocess.credentials import insert_credential
from authority.inprocess.registry import InProcessIssuerKeys
from authority.inprocess.tables import KeptKey, KeptPrincipal, Tables
from authority.usecases.administer import (
    AlreadyThere,
    CommitCounts,
    ListedPolicy,
    ListedPrincipal,
    ListedRefusals,
    LoadedPolicy,
    NewMemoryNamespace,
    NewPrincipal,
    NotThere,
    operator_event,
)


@dataclass(frozen=True, slots=True)
class InProcessAdministration:
    """Implements `administer.Administration`."""

    tables: Tables

    async def add_principal(self, new: NewPrincipal, now: Instant) -> None:
        """Registers the principal with its first key."""
        if (new.tenant, new.ref) in self.tables.principals:
            raise AlreadyThere(f"principal {new.ref} is registered in {new.tenant}")
        if (new.tenant, new.key_id) in self.tables.keys:
            raise AlreadyThere(f"key {new.key_id} belongs to a principal of {new.tenant} already")
        if new.credential is not None:
            insert_credential(self.tables, new.tenant, new.ref, new.credential)
        else:
            self.tables.keys[new.tenant, new.key_id] = KeptKey(new.ref, new.public_key, is_active=True, create_time=now)
        principal = Principal(new.tenant, new.ref, new.kind, new.rights)
        self.tables.principals[new.tenant, new.ref] = KeptPrincipal(principal, is_active=True)
        self._tell(new.tenant, "principal.add", str(new.ref), ("", "active"), now)

    async def list_principals(self, tenant: TenantRef) -> Sequence[ListedPrincipal]:
        """Every principal of the tenant."""
        found = [self._listed(kept) for (of_tenant, _), kept in self.tables.principals.items() if of_tenant == tenant]
        return sorted(found, key=lambda listed: str(listed.ref))

    async def revoke_principal(self, tenant: TenantRef, ref: PrincipalRef, now: Instant) -> None:
        """Withdraws the principal."""
        if self.tables.active_principal(tenant, ref) is None:
            raise NotThere(f"no active principal {ref} in {tenant}")
        kept = self.tables.principals[tenant, ref]
        self.tables.principals[tenant, ref] = replace(kept, is_active=False)
        self.tables.withdraw(_withdrawn(tenant, RevokedKind.PRINCIPAL, str(ref), now))
        self._tell(tenant, "principal.revoke", str(ref), ("active", "revoked"), now)

    async def revoke_principal_key(self, tenant: TenantRef, key_id: str, now: Instant) -> None:
        """Withdraws one key of a principal."""
        tables = self.tables
        keys = tables.keys if (tenant, key_id) in tables.keys else tables.token_identities
        kept = keys.get((tenant, key_id))
        if kept is None or not kept.is_active:
            raise NotThere(f"no active key {key_id} in {tenant}")
        keys[tenant, key_id] = replace(kept, is_active=False)
        self.tables.withdraw(_withdrawn(tenant, RevokedKind.PRINCIPAL_KEY, key_id, now))
        self._tell(tenant, "principal_key.revoke", key_id, ("active", "revoked"), now)

    async def add_namespace(self, new: NewMemoryNamespace, now: Instant) -> None:
        """Makes the memory namespace."""
        if (new.tenant, new.name) in self.tables.namespaces:
            raise AlreadyThere(f"memory namespace {new.name} exists in {new.tenant}")
        self._require_policy(new.policy_version)
        self.tables.namespaces[new.tenant, new.name] = MemoryNamespace(
            new.tenant,
            new.name,
            new.mode,
            new.privileged,
            new.least_profile,
            new.default_visibility,
            new.policy_version,
        )
        self._tell(new.tenant, "memory_namespace.add", new.name, ("", new.mode.value), now)

    async def list_namespaces(self, tenant: TenantRef) -> Sequence[MemoryNamespace]:
        """Every memory namespace of the tenant."""
        return [
            kept for (of_tenant, _), kept in sorted(self.tables.namespaces.items(), key=_name) if of_tenant == tenant
        ]

    async def set_mode(self, tenant: TenantRef, name: str, mode: Mode, now: Instant) -> None:
        """Sets how unvalidated writes are treated."""
        before = self._namespace(tenant, name)
        self.tables.namespaces[tenant, name] = replace(before, mode=mode)
        self._tell(tenant, "memory_namespace.mode", name, (before.mode.value, mode.value), now)

    async def load_policy(self, version: bytes, bundle: str, now: Instant) -> None:
        """Keeps the bundle under its digest."""
        if version in self.tables.policies:
            return
        self.tables.policies[version] = (ListedPolicy(version, len(bundle.encode()), now), bundle)
        self._tell(AUTHORITY_ITSELF, "policy.load", f"sha256:{version.hex()}", ("", "loaded"), now)

    async def list_policies(self) -> Sequence[ListedPolicy]:
        """Every loaded bundle."""
        found = (listed for listed, _ in self.tables.policies.values())
        return sorted(found, key=lambda listed: (listed.load_time, listed.version))

    async def policy(self, version: bytes) -> LoadedPolicy:
        """One loaded bundle."""
        self._require_policy(version)
        return LoadedPolicy(*self.tables.policies[version])

    async def activate_policy(self, tenant: TenantRef, name: str, version: bytes, now: Instant) -> None:
        """Puts the memory namespace under the bundle."""
        namespace = self._namespace(tenant, name)
        self._require_policy(version)
        self.tables.namespaces[tenant, name] = replace(namespace, policy_version=version)
        states = (f"sha256:{namespace.policy_version.hex()}", f"sha256:{version.hex()}")
        self._tell(tenant, "policy.activate", name, states, now)

    async def count_commits(self, tenant: TenantRef) -> CommitCounts:
        """The four counts of the tenant."""
        tables = self.tables
        consumed = (kept.state == "consumed" and of == tenant for (of, _), kept in tables.capabilities.items())
        return CommitCounts(
            consumed_capabilities=sum(consumed),
            receipts=sum(of == tenant for of, _ in tables.receipts),
            records=sum(of == tenant and kept.record.validated for (of, _), kept in tables.records.items()),
            events=sum((it.tenant, it.kind) == (tenant, "memory.committed.v1") for it in tables.events),
        )

    async def list_refusals(self, tenant: TenantRef, since: Instant) -> Sequence[ListedRefusals]:
        """What was counted since that minute."""
        minutes = defaultdict(list)
        for counted in self.tables.refusals:
            if counted.tenant == tenant and counted.minute >= since:
                minutes[counted.principal, counted.reason].append(counted)
        found = [
            ListedRefusals(
                principal=principal,
                reason=reason,
                count=sum(self.tables.refusals[counted] for counted in counts),
                first_minute=min(counted.minute for counted in counts),
                last_minute=max(counted.minute for counted in counts),
            )
            for (principal, reason), counts in minutes.items()
        ]
        return sorted(found, key=lambda it: (-it.last_minute, -it.count, str(it.principal or ""), it.reason))

    async def add_issuer_key(self, key: IssuerKey, now: Instant) -> Sequence[str]:
        """Adds the key and retires the one whose place it takes."""
        place = (key.purpose, key.tenant, key.memory_namespace)
        retired = [
            other
            for other in self.tables.issuer_keys.values()
            if other.state is KeyState.ACTIVE and (other.purpose, other.tenant, other.memory_namespace) == place
        ]
        for other in retired:
            self.tables.issuer_keys[other.key_id] = replace(other, state=KeyState.RETIRING)
            self._tell(AUTHORITY_ITSELF, "issuer_key.retire", other.key_id, ("active", "retiring"), now)
        self.tables.issuer_keys[key.key_id] = replace(key, state=KeyState.ACTIVE, create_time=now)
        self._tell(AUTHORITY_ITSELF, "issuer_key.add", key.key_id, ("", "active"), now)
        return [other.key_id for other in retired]

    async def list_issuer_keys(self) -> Sequence[IssuerKey]:
        """Every key of the authority."""
        return await InProcessIssuerKeys(self.tables).load()

    async def revoke_issuer_key(self, key_id: str, compromised_since: Instant | None, now: Instant) -> None:
        """Withdraws the key in every tenant at once."""
        key = self.tables.issuer_keys.get(key_id)
        if key is None or key.state is KeyState.REVOKED:
            raise NotThere(f"no issuer key {key_id} that is not revoked already")
        self.tables.issuer_keys[key_id] = replace(key, state=KeyState.REVOKED, compromised_since=compromised_since)
        self.tables.withdraw(_withdrawn(AUTHORITY_ITSELF, RevokedKind.ISSUER_KEY, key_id, now))
        self._tell(AUTHORITY_ITSELF, "issuer_key.revoke", key_id, (key.state.value, "revoked"), now)

    def _tell(self, tenant: TenantRef, kind: str, subject: str, states: tuple[str, str], now: Instant) -> None:
        self.tables.tell(operator_event(tenant, kind, subject, states, now))

    def _namespace(self, tenant: TenantRef, name: str) -> MemoryNamespace:
        namespace = self.tables.namespaces.get((tenant, name))
        if namespace is None:
            raise NotThere(f"no memory namespace {name} in {tenant}")
        return namespace

    def _require_policy(self, version: bytes) -> None:
        if version not in self.tables.policies:
            raise NotThere(f"policy version sha256:{version.hex()} is not loaded")

    def _listed(self, kept: KeptPrincipal) -> ListedPrincipal:
        principal = kept.principal
        active = (
            key_id
            for (of_tenant, key_id), key in self.tables.keys.items()
            if (of_tenant, key.owner) == (principal.tenant, principal.ref) and key.is_active
        )
        state = "active" if kept.is_active else "revoked"
        return ListedPrincipal(principal.tenant, principal.ref, principal.kind, principal.rights, state, tuple(active))


def _withdrawn(tenant: TenantRef, kind: RevokedKind, subject: str, now: Instant) -> Revoked:
    return Revoked(tenant=tenant, kind=kind, subject=subject, revoke_time=now)


def _name(entry: tuple[tuple[TenantRef, str], MemoryNamespace]) -> str:
    return entry[0][1]
