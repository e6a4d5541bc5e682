"""A capability that can be committed, for commands that show what becomes of it."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from authority.cli.connecting import credentials_file
from capability_authority.client import CapabilityAuthority, IssuedCapability, Proposal

FIRMS: Final = MappingProxyType({"harbour-books": "clients/rules", "lantern-software": "engineering/facts"})
"""Firms of the demo by name, each with the memory namespace that is written."""

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
async def ready(data: Path, firm: str = "harbour-books") -> AsyncIterator[Ready]:
    """What the firm's person proposes, validated, allowed and issued to its service. Raises AuthorityError."""
    user = CapabilityAuthority.connect(credentials=credentials_file(data, firm, "user"))
    service = CapabilityAuthority.connect(credentials=credentials_file(data, firm, "service"))
    async with user, service:
        proposal = await user.propose(
            memory_namespace=FIRMS[firm],
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
