"""One whole exchange with the authority that is served from this folder: proposed, judged, decided, committed, proved.

`authority serve` writes this file into its data folder. Read it, change it, run it again: each run commits one memory.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from capability_authority import CapabilityAuthority

CREDENTIALS = Path(__file__).parent / "credentials"


async def main() -> None:
    """A person claims something, the tenant's service commits it, and the person reads it back."""
    content = {
        "claim": "Invoices to the bakery on Quay Street are payable within 14 days.",
        "heard_at": datetime.now(UTC).isoformat(),
    }
    user = CapabilityAuthority.connect(credentials=CREDENTIALS / "harbour-books-user.json")
    service = CapabilityAuthority.connect(credentials=CREDENTIALS / "harbour-books-service.json")
    async with user, service:
        # Whoever proposes writes nothing yet; where it came from is stamped by the authority.
        proposal = await user.propose(
            memory_namespace="clients/rules",
            memory_type="durable_fact",
            content=content,
            source_refs=["thread:inbox/2231#message-4"],
            visibility="team",
            visibility_scope="bookkeeping",
        )
        print(f"proposed   {proposal.proposal_id}, provenance {proposal.provenance}")

        validation = await user.validate(proposal)
        print(f"validated  {validation.outcome}")

        decision = await service.evaluate_policy(proposal)
        print(f"decided    {decision.outcome} by {', '.join(decision.determining_policies)}")

        # The right to commit exactly this content, exactly once.
        capability = await service.issue(
            proposal, validation_receipt=validation.receipt, decision_receipt=decision.receipt
        )
        print(f"issued     {capability.capability_id}, until {capability.expire_time:%H:%M:%S} UTC")

        committed = await service.commit(capability, content=content)
        print(f"committed  record {committed.record_id}, receipt {committed.receipt_id}")

        # A retry changes nothing and gets the same receipt, byte for byte.
        again = await service.commit(capability, content=content)
        same = again.receipt.statement == committed.receipt.statement
        print(f"retried    replayed: {again.replayed}, same receipt: {same}")

        record = await user.get_record(committed.record_id)
        print(f"read back  {record.content.decode()}")


if __name__ == "__main__":
    asyncio.run(main())
