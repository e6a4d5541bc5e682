"""A grant as a caller presents it, and the chain that it is read as (semantics §6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain import limits
from authority.domain.grant import OpenedGrant
from authority.domain.grant_use import judge_grant_time
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, highest, over_limit
from authority.domain.statement import Statement
from authority.usecases.grants.chains import GrantChains
from authority.usecases.ports import ChainFacts, Grants


@dataclass(frozen=True, slots=True)
class PresentedGrant:
    """A grant and its ancestors, root first; those that this authority keeps may be left out from the root on."""

    grant: Statement
    ancestors: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """A chain that holds now, root first, and what is stored of it."""

    chain: tuple[OpenedGrant, ...]
    facts: ChainFacts


@dataclass(frozen=True, slots=True)
class PresentedGrants:
    """Makes chains of what is presented. Reading is not believing: `chains.judge` is asked of every one."""

    chains: GrantChains
    grants: Grants

    def read(self, presented: PresentedGrant) -> tuple[OpenedGrant, ...] | Refusal:
        """The presented blocks, root first; MALFORMED, or LIMIT_EXCEEDED before any of them is read."""
        if len(presented.ancestors) > limits.DELEGATION_DEPTH:
            return over_limit("grant_ancestors", f"{limits.DELEGATION_DEPTH}")
        return self.chains.open(presented.grant, presented.ancestors)

    async def complete(self, tenant: TenantRef, blocks: Sequence[OpenedGrant]) -> tuple[OpenedGrant, ...]:
        """The blocks after the kept ancestors of the first; as they are when it has none, or none that is kept."""
        above = blocks[0].terms.parent_digest
        kept = await self.grants.chain_of(tenant, above) if above else ()
        return (*(it.opened for it in kept), *blocks)

    async def judge(self, tenant: TenantRef, blocks: Sequence[OpenedGrant], now: Instant) -> Standing | Refusal:
        """The whole chain, judged by itself and then by live state.

        Refusals: SIGNATURE_INVALID, ISSUER_UNKNOWN, KEY_REVOKED, GRANT_EXCEEDED with its `dimension`, NOT_YET_VALID,
        EXPIRED, REVOKED (a block, the subject, or a holder); NOT_FOUND for a block of this authority that it does not
        keep; MALFORMED and LIMIT_EXCEEDED for what no chain can be.
        """
        chain = await self.complete(tenant, blocks)
        # What is no chain of ours is asked nothing about.
        if refusal := self.chains.judge(chain):
            return refusal
        facts = await self.grants.facts_of(chain)
        times = (judge_grant_time(block.terms, now) for block in chain)
        return highest((facts.refusal, *times)) or _forgotten(chain, facts) or Standing(chain, facts)


def _forgotten(chain: Sequence[OpenedGrant], facts: ChainFacts) -> Refusal | None:
    """NOT_FOUND for what this authority made and does not keep.

    Its database went back to an earlier moment since, and nobody knows whether the grant was revoked meanwhile.
    """
    is_lost = any(block.terms.delegated_by is None and block.digest in facts.unmet for block in chain)
    return Refusal(Reason.NOT_FOUND, {"field": "grant"}) if is_lost else None
