"""Stores over dicts that validate, issue or revoke wrongly on purpose, each in one way."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from authority.domain.identity import Principal, RegisteredKey
from authority.domain.likeness import NO_TRAITS, Traits
from authority.domain.proposal import ProposalState
from authority.domain.reasons import Reason
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.validation import SignedValidation
from authority.inprocess.capabilities import InProcessCapabilities
from authority.inprocess.registry import InProcessRegistry
from authority.inprocess.reviews import InProcessValidations
from authority.inprocess.revocations import InProcessRevocations
from authority.inprocess.tables import Tables
from authority.usecases.ports import (
    CapabilityFate,
    IssuedCapability,
    Offer,
    RecordedValidation,
    RequestMark,
    RevokedCapability,
)
from tests.model.wrong_committers import without_decisions_against


class RevivesTurnedDown(InProcessValidations):
    """Validating again lifts what a person turned down."""

    async def keep(
        self, mark: RequestMark, signed: SignedValidation, state: ProposalState, traits: Traits = NO_TRAITS
    ) -> RecordedValidation | Refusal:
        return await InProcessValidations(without_decisions_against(self.tables)).keep(mark, signed, state, traits)


class IssuesAnew(InProcessCapabilities):
    """Every request under a key gets a capability of its own."""

    def _standing(self, *_: object) -> None:
        return None


class IssuesToEachOfABatch(InProcessCapabilities):
    """Looks up what each item's key stands for before any of them is issued."""

    async def issue(self, offers: Sequence[Offer], deadline: float) -> list[IssuedCapability | Refusal | Exception]:
        before = dict(self.tables.capabilities)
        answers: list[IssuedCapability | Refusal | Exception] = []
        for offer in offers:
            seen = replace(self.tables, capabilities=dict(before))
            answers += await InProcessCapabilities(seen, self.clock).issue([offer], deadline)
            self.tables.capabilities.update(seen.capabilities)
        return answers


class HandsOutInItsOwnOrder(InProcessCapabilities):
    """What was new comes first."""

    async def issue(self, offers: Sequence[Offer], deadline: float) -> list[IssuedCapability | Refusal | Exception]:
        answers = await super().issue(offers, deadline)
        return sorted(answers, key=lambda answer: not isinstance(answer, IssuedCapability) or answer.replayed)


class SpendsNothing(InProcessCapabilities):
    """Grants without end."""

    def _keep(self, offer: Offer) -> IssuedCapability | Refusal:
        before = len(self.tables.grant_uses)
        kept = super()._keep(offer)
        del self.tables.grant_uses[before:]
        return kept


class SpendsOfTheLastAlone(InProcessCapabilities):
    """Children together may spend more than their parent."""

    def _keep(self, offer: Offer) -> IssuedCapability | Refusal:
        before = len(self.tables.grant_uses)
        kept = super()._keep(offer)
        if offer.spend:
            of_last = [it for it in self.tables.grant_uses[before:] if it.grant_digest == offer.spend.grant_digest]
            self.tables.grant_uses[before:] = of_last
        return kept


@dataclass
class RemembersCallers:
    """Reads a key once and never again."""

    tables: Tables
    read: dict[object, RegisteredKey | None] = field(default_factory=dict)

    async def active_key(self, tenant: TenantRef, principal: PrincipalRef, key_id: str) -> RegisteredKey | None:
        found = await self.owner(tenant, key_id)
        return found if found and found.principal.ref == principal else None

    async def owner(self, tenant: TenantRef, credential_id: str) -> RegisteredKey | None:
        """As `ports.Registry`."""
        asked = (tenant, credential_id)
        if asked not in self.read:
            self.read[asked] = await InProcessRegistry(self.tables).owner(*asked)
        return self.read[asked]

    async def principal(self, tenant: TenantRef, principal: PrincipalRef) -> Principal | None:
        """As `ports.Registry`."""
        return await InProcessRegistry(self.tables).principal(tenant, principal)


class RetriesUndoRevocations(InProcessCapabilities):
    """Takes every request for a new one once its capability is revoked."""

    def _keep(self, offer: Offer) -> IssuedCapability | Refusal:
        return super()._keep(replace(offer, mark=replace(offer.mark, request_id="never used")))


class IssuesNothingAfterARevocation(InProcessCapabilities):
    """A key whose capability was revoked is of no use any more."""

    def _keep(self, offer: Offer) -> IssuedCapability | Refusal:
        same = replace(offer.claim, fingerprint=b"")
        kept = [it for it in self.tables.capabilities.values() if replace(it.claim, fingerprint=b"") == same]
        return Refusal(Reason.REVOKED) if any(it.state == "revoked" for it in kept) else super()._keep(offer)


class HidesRevocations(InProcessCapabilities):
    """Whoever looks is told that a revoked capability is good."""

    async def fate_of(self, tenant: TenantRef, capability_id: str) -> CapabilityFate | None:
        fate = await super().fate_of(tenant, capability_id)
        return fate and replace(fate, is_revoked=False)


class ForgetsWhoHolds(InProcessCapabilities):
    """Lets anybody of the tenant revoke."""

    async def fate_of(self, tenant: TenantRef, capability_id: str) -> CapabilityFate | None:
        fate = await super().fate_of(tenant, capability_id)
        return fate and replace(fate, holder=PrincipalRef("test", "agent"))


class TellsTheLastTime(InProcessRevocations):
    """Every revocation is one of its own."""

    async def revoke_capability(
        self, mark: RequestMark, capability_id: str, now: Instant
    ) -> RevokedCapability | Refusal:
        answer = await super().revoke_capability(mark, capability_id, now)
        return answer if isinstance(answer, Refusal) else replace(answer, revoke_time=now)


class RevokesTheKey(InProcessRevocations):
    """With a capability go all others of its key."""

    async def revoke_capability(
        self, mark: RequestMark, capability_id: str, now: Instant
    ) -> RevokedCapability | Refusal:
        answer = await super().revoke_capability(mark, capability_id, now)
        revoked = self.tables.capabilities[mark.tenant, capability_id]
        for key, kept in self.tables.capabilities.items():
            if kept.claim == revoked.claim and kept.state == "issued" and revoked.state == "revoked":
                self.tables.capabilities[key] = replace(kept, state="revoked", revoke_time=now)
        return answer


class RevokesWhatWasCommitted(InProcessRevocations):
    """Says that it withdrew what can no longer be withdrawn."""

    async def revoke_capability(
        self, mark: RequestMark, capability_id: str, now: Instant
    ) -> RevokedCapability | Refusal:
        answer = await super().revoke_capability(mark, capability_id, now)
        too_late = isinstance(answer, Refusal) and answer.reason is Reason.ALREADY_COMMITTED
        return RevokedCapability(now, replayed=False) if too_late else answer


class RevokesWithoutAMark(InProcessRevocations):
    """Takes a request id for another capability, too."""

    async def revoke_capability(
        self, mark: RequestMark, capability_id: str, now: Instant
    ) -> RevokedCapability | Refusal:
        return await super().revoke_capability(replace(mark, request_id=capability_id), capability_id, now)
