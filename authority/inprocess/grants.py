"""The port `Grants`, and the counters that uses are spent from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from authority.domain.grant import OpenedGrant, principals_of
from authority.domain.grant_use import Needs, Spent, judge_left
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, highest
from authority.domain.revocation import Revoked, RevokedKind
from authority.domain.statement import KeyState
from authority.inprocess.tables import GrantUse, Tables
from authority.usecases.ports import (
    ChainFacts,
    KeptGrant,
    MadeGrant,
    RequestMark,
    RevokedGrant,
    Spend,
    keeping_event,
    revoking_event,
)


@dataclass(frozen=True, slots=True)
class InProcessGrants:
    """Implements `ports.Grants`."""

    tables: Tables

    async def chain_of(self, tenant: TenantRef, digest: bytes) -> tuple[KeptGrant, ...]:
        """The kept grant with its ancestors."""
        return kept_chain(self.tables, tenant, digest)

    async def facts_of(self, chain: Sequence[OpenedGrant]) -> ChainFacts:
        """What is kept of the chain."""
        terms, tables = chain[-1].terms, self.tables
        unmet = frozenset(block.digest for block in chain if (terms.tenant, block.digest) not in tables.grants)
        return ChainFacts(unmet, _withdrawn(tables, chain), tables.active_principal(terms.tenant, terms.subject))

    async def policy_version(self, tenant: TenantRef, wanted: bytes) -> bytes | None:
        """The wanted one when it is loaded, or the only one of the tenant."""
        if wanted:
            return wanted if wanted in self.tables.policies else None
        active = {kept.policy_version for (of, _), kept in self.tables.namespaces.items() if of == tenant}
        return active.pop() if len(active) == 1 else None

    async def keep(self, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> None:
        """Keeps what is not kept yet."""
        self._keep(mark, chain, now)

    async def made_by(self, mark: RequestMark) -> MadeGrant | Refusal | None:
        """What the request id was answered with."""
        answered = self.tables.answered(mark, MadeGrant)
        return replace(answered, replayed=True) if isinstance(answered, MadeGrant) else answered

    async def add(self, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> MadeGrant | Refusal:
        """Keeps the new grant, or answers with what the id stands for."""
        earlier = await self.made_by(mark)
        if earlier is not None:
            return earlier
        self._keep(mark, chain, now)
        return self.tables.answer(mark, MadeGrant(chain[-1], replayed=False))

    async def revoke(self, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> RevokedGrant | Refusal:
        """Revokes it, or tells when it was."""
        answered = self.tables.answered(mark, RevokedGrant)
        if isinstance(answered, Refusal):
            return answered
        self._keep(mark, chain, now)
        key = (mark.tenant, chain[-1].digest)
        kept = self.tables.grants[key]
        if kept.revoke_time is not None:
            return self.tables.answer(mark, RevokedGrant(kept.revoke_time, replayed=True))
        self.tables.grants[key] = replace(kept, revoke_time=now)
        self.tables.withdraw(
            Revoked(tenant=mark.tenant, kind=RevokedKind.GRANT, subject=chain[-1].name, revoke_time=now)
        )
        self.tables.tell(revoking_event(mark, chain[-1], now))
        return self.tables.answer(mark, RevokedGrant(now, replayed=False))

    async def spent(self, tenant: TenantRef, digests: Sequence[bytes], now: Instant) -> tuple[Spent, ...]:
        """The sums of the uses of each."""
        return tuple(spent(self.tables, tenant, digest, now) for digest in digests)

    async def spend(
        self,
        tenant: TenantRef,
        action: str,  # noqa: ARG002 - nobody asks here what was spent on what
        spend: Spend,
        now: Instant,
    ) -> Refusal | None:
        """Spends it, or tells why not."""
        refusal = judge_spend(self.tables, tenant, spend, now)
        if refusal is None:
            keep_spend(self.tables, tenant, spend)
        return refusal

    def _keep(self, mark: RequestMark, chain: Sequence[OpenedGrant], now: Instant) -> None:
        for block in chain:
            if self.tables.grants.setdefault((mark.tenant, block.digest), made := KeptGrant(block, None)) is made:
                self.tables.tell(keeping_event(mark, block, now))


def kept_chain(tables: Tables, tenant: TenantRef, digest: bytes) -> tuple[KeptGrant, ...]:
    """The kept grant with its ancestors, root first."""
    kept = tables.grants.get((tenant, digest))
    return (*kept_chain(tables, tenant, kept.opened.terms.parent_digest), kept) if kept else ()


def spent(tables: Tables, tenant: TenantRef, digest: bytes, now: Instant) -> Spent:
    """What was spent of the grant, and how many of its capabilities can be committed still."""
    uses = [use for use in tables.grant_uses if (use.tenant, use.grant_digest) == (tenant, digest)]
    capabilities = [tables.capabilities[tenant, use.capability_id] for use in uses if use.capability_id]
    return Spent(
        uses=len(uses),
        tokens=sum(use.tokens for use in uses),
        usd_micros=sum(use.usd_micros for use in uses),
        live=sum(kept.state == "issued" and kept.opened.terms.expire_time > now for kept in capabilities),
    )


def grant_refusals(tables: Tables, tenant: TenantRef, digest: bytes, now: Instant) -> Iterator[Refusal | None]:
    """What stands against the chain of a kept grant now, the highest first."""
    chain = [kept.opened for kept in kept_chain(tables, tenant, digest)]
    if any(_is_revoked_issuer_key(tables, block.statement.key_id) for block in chain):
        yield Refusal(Reason.KEY_REVOKED, {"field": "grant"})
    if any(block.terms.expire_time <= now for block in chain):
        yield Refusal(Reason.EXPIRED, {"field": "grant"})
    yield _withdrawn(tables, chain)


def judge_spend(
    tables: Tables, tenant: TenantRef, spend: Spend, now: Instant, *, concurrency: int = 0
) -> Refusal | None:
    """What stands against the chain, or BUDGET_EXHAUSTED by the first block, root first, that has too little left."""
    if against := highest(grant_refusals(tables, tenant, spend.grant_digest, now)):
        return against
    needs = Needs(tokens=spend.tokens, usd_micros=spend.usd_micros, concurrency=concurrency)
    for kept in kept_chain(tables, tenant, spend.grant_digest):
        sums = spent(tables, tenant, kept.opened.digest, now)
        if refusal := judge_left(kept.opened.terms, sums, needs):
            return refusal
    return None


def keep_spend(tables: Tables, tenant: TenantRef, spend: Spend, capability_id: str | None = None) -> None:
    """Writes it into the ledger, once for each grant of the chain."""
    for kept in kept_chain(tables, tenant, spend.grant_digest):
        use = GrantUse(tenant, kept.opened.digest, capability_id, spend.tokens, spend.usd_micros)
        tables.grant_uses.append(use)


def _withdrawn(tables: Tables, chain: Sequence[OpenedGrant]) -> Refusal | None:
    tenant = chain[-1].terms.tenant
    holder_keys = (tables.keys.get((tenant, f"sha256:{block.terms.holder_key.hex()}")) for block in chain)
    if any(key is not None and not key.is_active for key in holder_keys):
        return Refusal(Reason.KEY_REVOKED, {"field": "grant"})
    kept = (tables.grants.get((tenant, block.digest)) for block in chain)
    is_revoked = any(it is not None and it.revoke_time is not None for it in kept)
    if is_revoked or not all(tables.active_principal(tenant, it) for it in principals_of(chain[-1].terms)):
        return Refusal(Reason.REVOKED, {"field": "grant"})
    return None


def _is_revoked_issuer_key(tables: Tables, key_id: str) -> bool:
    key = tables.issuer_keys.get(key_id)
    return key is not None and key.state is KeyState.REVOKED
