"""What policy is asked, and its decisions."""

from collections.abc import Callable
from typing import Protocol

from authority.domain.decision import DecisionFacts, PolicyAnswer, PolicyQuestion, SignedDecision
from authority.domain.policy_version import PolicyVersion
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.usecases.ports.requests import RequestMark

Decide = Callable[[DecisionFacts, int], SignedDecision | Refusal]
"""Judges the facts and signs the decision under the drawn sequence; does no I/O, for a transaction waits for it."""


class Decisions(Protocol):
    """Keeps what policy decided."""

    async def decide(
        self, mark: RequestMark, proposal_id: str, revision: int, holder: PrincipalRef, decide: Decide
    ) -> SignedDecision | Refusal:
        """Draws a sequence, reads the facts, has them decided and keeps the answer, in one transaction.

        Refusals: IDEMPOTENCY_CONFLICT, NOT_FOUND, and whatever `decide` refuses.
        """
        ...


class PolicyVersions(Protocol):
    """Reads the loaded bundles."""

    async def of_tenant(self, tenant: TenantRef, version: bytes) -> PolicyVersion | None:
        """The bundle when it decides in a memory namespace of the tenant, or decided there once; else None."""
        ...


class PolicyEngine(Protocol):
    """Evaluates a policy bundle. Pure: the receipt of the decision is ours."""

    def evaluate(self, bundle: str, question: PolicyQuestion) -> PolicyAnswer:
        """Deny beats require_approval beats allow; unmatched, and any evaluation error, is deny."""
        ...
