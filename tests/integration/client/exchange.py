"""The steps of one exchange, for tests that are about one of them."""

from typing import Any, Final

from capability_authority import CapabilityAuthority, RetryPolicy
from capability_authority.client import Content, IssuedCapability

CONTENT: Final[dict[str, Any]] = {"fact": "The nightly build takes forty minutes.", "minutes": 40.0}
CONTENT_BYTES: Final = b'{"fact":"The nightly build takes forty minutes.","minutes":40}'
IMPATIENT: Final = RetryPolicy(first_delay=0.0)


async def issued(
    client: CapabilityAuthority,
    content: Content = CONTENT,
    **terms: Any,  # terms of `issue`
) -> IssuedCapability:
    """A capability for the content, ready to be committed."""
    proposal = await client.propose(memory_namespace="engineering/reviews", memory_type="critique", content=content)
    validation = await client.validate(proposal)
    decision = await client.evaluate_policy(proposal)
    return await client.issue(
        proposal, validation_receipt=validation.receipt, decision_receipt=decision.receipt, **terms
    )
