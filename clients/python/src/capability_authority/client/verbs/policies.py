"""The verbs of PolicyService."""

from collections.abc import Iterable
from datetime import UTC
from typing import Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.credentials import Reference
from capability_authority.client.values import PolicyBundle, PolicyDecision, RevisionLike
from capability_authority.client.words import word_of
from capability_authority.v1 import policy_service_pb2 as pb
from capability_authority.v1 import types_pb2
from capability_authority.v1.statements_pb2 import SignedStatement

__all__ = ["PolicyVerbs"]


class PolicyVerbs(Connection):
    """Decisions of the active policy. No verb writes policy: bundles are the operator's files."""

    async def evaluate_policy(
        self,
        proposal: RevisionLike,
        *,
        holder: Reference | None = None,
        external_decisions: Iterable[SignedStatement] = (),
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> PolicyDecision:
        """Have policy decide whether `holder` (the caller when None) may commit the revision.

        `external_decisions` are decision receipts of external authorities that the operator configured, about exactly
        this commit; each of them can only narrow the answer.

        After an approval, evaluate again: "require_approval" never suffices to issue. Raises `AuthorityError`:
        `NotAllowed` without the right `issue`, `NotValidated` when there is no validation receipt, `PolicyDenied` when
        an external decision is required and missing, and whatever an external decision does not count for.
        """
        request = pb.EvaluatePolicyRequest(
            request_id=request_id,
            proposal_id=proposal.proposal_id,
            proposal_revision=proposal.revision,
            holder=None if holder is None else types_pb2.PrincipalRef(namespace=holder.namespace, id=holder.id),
            external_decisions=external_decisions,
        )
        response = await self._send(request, pb.EvaluatePolicyResponse, **options)
        return PolicyDecision(
            receipt=response.decision_receipt,
            outcome=word_of(types_pb2.DecisionOutcome, response.outcome),
            determining_policies=tuple(response.determining_policies),
            policy_version=response.policy_version,
        )

    async def get_policy(self, policy_version: str, **options: Unpack[CallOptions]) -> PolicyBundle:
        """Read the bundle that a decision was made by, and where it decides now.

        `policy_version` is the digest that decisions name. Raises `AuthorityError`: `NotAllowed` for callers that
        neither ask policy nor judge proposals, `NotFound` for a bundle that never decided in the caller's tenant.
        """
        request = pb.GetPolicyVersionRequest(policy_version=policy_version)
        response = await self._send(request, pb.GetPolicyVersionResponse, **options)
        return PolicyBundle(
            policy_version=response.policy_version,
            bundle=response.bundle,
            load_time=response.load_time.ToDatetime(tzinfo=UTC),
            active_memory_namespaces=tuple(response.active_memory_namespaces),
        )
