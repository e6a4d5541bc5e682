"""Mutations that are answered once."""

from dataclasses import dataclass, field

from authority.domain.references import PrincipalRef, TenantRef


@dataclass(frozen=True, slots=True)
class RequestMark:
    """A mutation's request id and what it was used for; reused for another request it is IDEMPOTENCY_CONFLICT."""

    tenant: TenantRef
    principal: PrincipalRef
    request_id: str
    digest: bytes
    trace_id: str = field(default="", compare=False)
    """Of the call, for what is told of the change: 32 hex digits, or empty. A retry may have another."""
