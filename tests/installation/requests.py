"""Requests as clients send them, to be changed by a test before they are sent."""

import hashlib
from typing import Any
from uuid import uuid4

from capability_authority.client import Credentials
from capability_authority.offline import to_wire
from capability_authority.v1.capability_service_pb2 import CommitValidatedRequest, IssueCapabilityRequest, Presentation
from capability_authority.v1.proposal_service_pb2 import CreateProposalRequest
from capability_authority.v1.types_pb2 import MEMORY_TYPE_DURABLE_FACT, PrincipalRef
from tests.installation.installation import AUDIENCE, NAMESPACE
from tests.installation.team import Ground, Ready


def proposal_of(**changed: Any) -> CreateProposalRequest:
    """A good proposal but for what is changed."""
    good: dict[str, Any] = {
        "request_id": str(uuid4()),
        "memory_namespace": NAMESPACE,
        "memory_type": MEMORY_TYPE_DURABLE_FACT,
        "content": b"A good fact.",
        "media_type": "text/plain",
    }
    return CreateProposalRequest(**good | changed)


def issue_of(ground: Ground, to: Credentials, **changed: Any) -> IssueCapabilityRequest:
    """A good request for a capability but for what is changed."""
    good: dict[str, Any] = {
        "request_id": str(uuid4()),
        "proposal_id": ground.proposal.proposal_id,
        "proposal_revision": ground.proposal.revision,
        "holder": PrincipalRef(namespace=to.principal.namespace, id=to.principal.id),
        "holder_key_id": to.key_id,
        "audience": AUDIENCE,
        "commit_idempotency_key": str(uuid4()),
        "validation_receipt": ground.validation.receipt,
        "decision_receipt": ground.decision.receipt,
    }
    return IssueCapabilityRequest(**good | changed)


def commit_of(ready: Ready, **changed: Any) -> CommitValidatedRequest:
    """A good commit but for what is changed in its presentation."""
    terms = ready.capability.terms
    good: dict[str, Any] = {
        "content": ready.content,
        "media_type": terms.media_type,
        "evidence_digests": [to_wire(digest) for digest in terms.evidence_digests],
        "commit_idempotency_key": ready.key,
    }
    return CommitValidatedRequest(capability=ready.capability.statement, presentation=Presentation(**good | changed))


def digests(count: int) -> list[str]:
    """So many different digests in their wire form."""
    return [to_wire(hashlib.sha256(number.to_bytes(4, "big")).digest()) for number in range(count)]
