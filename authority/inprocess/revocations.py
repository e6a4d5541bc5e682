"""The port `Revocations`."""

from dataclasses import dataclass, replace

from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.domain.revocation import Revoked, RevokedKind
from authority.inprocess.tables import Tables
from authority.usecases.ports import RequestMark, RevokedCapability


@dataclass(frozen=True, slots=True)
class InProcessRevocations:
    """Implements `ports.Revocations`."""

    tables: Tables

    async def revoke_capability(
        self, mark: RequestMark, capability_id: str, now: Instant
    ) -> RevokedCapability | Refusal:
        """Revokes it, or tells why not."""
        answered = self.tables.answered(mark, RevokedCapability)
        if isinstance(answered, Refusal):
            return answered
        key = (mark.tenant, capability_id)
        kept = self.tables.capabilities.get(key)
        if kept is None:
            return Refusal(Reason.NOT_FOUND)
        if receipt_id := self.tables.receipt_of_capability(*key):
            return Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": receipt_id})
        revoked = RevokedCapability(kept.revoke_time or now, replayed=kept.state == "revoked")
        if not revoked.replayed:
            self.tables.capabilities[key] = replace(kept, state="revoked", revoke_time=now)
            self.tables.withdraw(
                Revoked(tenant=mark.tenant, kind=RevokedKind.CAPABILITY, subject=capability_id, revoke_time=now)
            )
            self.tables.tell(
                mark.event(
                    "capability.revoke",
                    capability_id,
                    (kept.state, "revoked"),
                    now,
                    correlation_id=kept.opened.terms.correlation_id,
                )
            )
        return self.tables.answer(mark, revoked)
