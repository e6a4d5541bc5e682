"""A capability that can be committed, for commands that show what becomes of it."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from authority.cli.connecting import credentials_file
from capability_authority.client import CapabilityAuthority, IssuedCapability, Proposal, RetryPolicy

MEMORY_NAMESPACE = "clients/rules"
TENANT = "harbour-books"
"""The firm whose memory is written, in one of its memory namespaces."""

_CONTENT = {"lesson": "The bakery on Quay Street pays within 14 days."}
_EVIDENCE = (f"sha256:{'1f' * 32}", f"sha256:{'2e' * 32}")


@dataclass(frozen=True, slots=True)
class Ready:
    """A capability, what it is for, and its holder."""

    holder: CapabilityAuthority
    proposal: Proposal
    capability: IssuedCapability

    @property
    def content(self) -> bytes:
        """The bytes that are bound."""
        return self.proposal.content


@contextlib.asynccontextmanager
async def ready(data: Path, retries: RetryPolicy) -> AsyncIterator[Ready]:
    """What the firm's person proposes, validated, allowed and issued to its service. Raises AuthorityError."""
    user = CapabilityAuthority.connect(credentials=credentials_file(data, TENANT, "user"))
    service = CapabilityAuthority.connect(credentials=credentials_file(data, TENANT, "service"), retries=retries)
    async with user, service:
        proposal = await user.propose(
            memory_namespace=MEMORY_NAMESPACE,
            memory_type="durable_fact",
            content=_CONTENT,
            source_refs=["thread:inbox/2231#message-4"],
            evidence_digests=_EVIDENCE,
        )
        validation = await user.validate(proposal)
        decision = await service.evaluate_policy(proposal)
        capability = await service.issue(
            proposal, validation_receipt=validation.receipt, decision_receipt=decision.receipt
        )
        yield Ready(service, proposal, capability)
