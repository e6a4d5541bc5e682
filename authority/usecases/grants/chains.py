"""Reads a presented grant with its ancestors, and judges the chain from its root: each time, and all of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.grant import OpenedGrant
from authority.domain.grant_chain import judge_chain
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.usecases.ports import Statements


@dataclass(frozen=True, slots=True)
class GrantChains:
    """Reading is not believing: `judge` is asked before anything is done for the sake of a chain."""

    statements: Statements
    issuer: str

    def open(self, presented: Statement, ancestors: Sequence[Statement]) -> tuple[OpenedGrant, ...] | Refusal:
        """The chain, root first and the presented grant last; MALFORMED `grant.…` or `grant_ancestors.…`."""
        chain = []
        for statement in (*ancestors, presented):
            grant = self.statements.open_grant(statement)
            if isinstance(grant, Refusal):
                return grant if statement is presented else _among_ancestors(grant)
            chain.append(grant)
        return tuple(chain)

    def judge(self, chain: Sequence[OpenedGrant]) -> Refusal | None:
        """As `grant_chain.judge_chain`, with the signatures judged by the keys as they are now."""
        return judge_chain(chain, self.statements.judge_grant_signatures(chain), self.issuer)


def _among_ancestors(refusal: Refusal) -> Refusal:
    field = refusal.facts["field"].replace("grant", "grant_ancestors", 1)
    return replace(refusal, facts={**refusal.facts, "field": field})
