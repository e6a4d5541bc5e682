"""What a capability is asked for with, one or many in a call."""

from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from uuid import uuid4

from capability_authority.client.credentials import Credentials, Reference
from capability_authority.client.grant_values import HeldGrant
from capability_authority.client.times import duration_message
from capability_authority.client.values import RevisionLike
from capability_authority.v1.capability_service_pb2 import IssueCapabilityRequest
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority.v1.types_pb2 import PrincipalRef

__all__ = ["IssueItem"]


@dataclass(frozen=True, slots=True)
class IssueItem:
    """One capability of many: what `CapabilityAuthority.issue` takes, and what it means there."""

    proposal: RevisionLike
    _: KW_ONLY
    validation_receipt: SignedStatement
    decision_receipt: SignedStatement
    holder: Reference | None = None
    holder_key_id: str | None = None
    audience: str | None = None
    commit_idempotency_key: str | None = None
    lifetime: timedelta | None = None
    grant: HeldGrant | None = None
    request_id: str = ""

    def request(self, caller: Credentials) -> IssueCapabilityRequest:
        """The request, with new keys where none is given: make it once for all attempts.

        Raises `ValueError` for a lifetime that no duration can be.
        """
        holder = caller.principal if self.holder is None else self.holder
        return IssueCapabilityRequest(
            request_id=self.request_id or str(uuid4()),
            proposal_id=self.proposal.proposal_id,
            proposal_revision=self.proposal.revision,
            holder=PrincipalRef(namespace=holder.namespace, id=holder.id),
            holder_key_id=caller.key_id if self.holder_key_id is None else self.holder_key_id,
            audience=caller.audience if self.audience is None else self.audience,
            commit_idempotency_key=str(uuid4()) if self.commit_idempotency_key is None else self.commit_idempotency_key,
            validation_receipt=self.validation_receipt,
            decision_receipt=self.decision_receipt,
            lifetime=duration_message(self.lifetime),
            grant=None if self.grant is None else self.grant.statement,
            grant_ancestors=() if self.grant is None else self.grant.ancestors,
        )
