"""Judges for another verifier what a signed envelope's ids stand for, from stored state alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.domain.action_envelope import ActionEnvelope
from authority.domain.action_judgement import (
    ABSENT_CAPABILITY,
    ABSENT_POLICY,
    UNDER_GRANTS,
    UNKNOWN_ACTION,
    judge_capability,
    judge_decision,
    judge_grant,
    judge_policy_version,
    named_digest,
)
from authority.domain.decision import COMMIT_ACTION
from authority.domain.grant import OpenedGrant
from authority.domain.grant_use import Needs, judge_left
from authority.domain.identity import Caller, require_service
from authority.domain.key_alias import NamedKey
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.domain.shape import is_uuid
from authority.domain.statement import KeyPurpose
from authority.usecases.admit import Admit
from authority.usecases.grants.presented import PresentedGrants
from authority.usecases.ports import ActionEnvelopes, Clock, KeyNames, PolicyVersions, Standings, Statements


@dataclass(frozen=True, slots=True)
class EnvelopeQuestion:
    """The envelope without its signature, as JSON, and what its signer's key is called there."""

    envelope_json: bytes
    key_name: str


@dataclass(frozen=True, slots=True)
class EnvelopeVerdict:
    """What stands against the envelope on either side; None allows it."""

    policy: Refusal | None
    capability: Refusal | None
    receipt_id: str = ""
    """Of the commit of what the capability was issued for."""


@dataclass(frozen=True, slots=True)
class VerifyActionEnvelope:
    """The verdict is data; only a call that cannot be judged is refused. It reads, and nothing else.

    What is withdrawn a moment later was not seen: a commit is judged again when it is made.
    """

    admit: Admit
    envelopes: ActionEnvelopes
    names: KeyNames
    statements: Statements
    standings: Standings
    policies: PolicyVersions
    presented: PresentedGrants
    clock: Clock

    async def __call__(self, caller: Caller, question: EnvelopeQuestion) -> EnvelopeVerdict | Refusal:
        """What stands against it. An envelope for another tenant is answered as one that names nothing (case G02).

        Refusals: MALFORMED `envelope_json` for what upstream's schema forbids; NOT_ALLOWED unless a service asks.
        """
        envelope = self.envelopes.read_unsigned(question.envelope_json)
        if isinstance(envelope, Refusal):
            return envelope
        if refusal := await self.admit(caller) or require_service(caller):
            return refusal
        if envelope.action != COMMIT_ACTION and envelope.action not in UNDER_GRANTS:
            return EnvelopeVerdict(UNKNOWN_ACTION, UNKNOWN_ACTION)
        if envelope.tenant != caller.tenant:
            return EnvelopeVerdict(ABSENT_POLICY, ABSENT_CAPABILITY)
        signer, now = await self.names.key_called(caller.tenant, question.key_name), self.clock.now()
        if envelope.action == COMMIT_ACTION:
            return await self._judge_commit(envelope, signer, now)
        return EnvelopeVerdict(await self._judge_policy(envelope), await self._judge_under_grant(envelope, signer, now))

    async def _judge_commit(self, envelope: ActionEnvelope, signer: NamedKey | None, now: Instant) -> EnvelopeVerdict:
        tenant = envelope.tenant
        policy = await self._judge_decision(envelope, signer, now)
        if not is_uuid(envelope.capability_id):
            return EnvelopeVerdict(policy, ABSENT_CAPABILITY)
        standing = await self.standings.capability(tenant, envelope.capability_id, now)
        if standing is None:
            return EnvelopeVerdict(policy, ABSENT_CAPABILITY)
        signature = self.statements.judge_signature(
            standing.capability.statement,
            KeyPurpose.CAPABILITY,
            tenant,
            standing.capability.terms.memory_namespace,
        )
        capability = judge_capability(envelope, standing, signature, signer, now)
        # What it came to is told to whoever may have the rest of the answer, too.
        is_holders = capability is None or capability.reason is not Reason.HOLDER_MISMATCH
        return EnvelopeVerdict(policy, capability, standing.receipt_id if is_holders else "")

    async def _judge_decision(self, envelope: ActionEnvelope, signer: NamedKey | None, now: Instant) -> Refusal | None:
        digest = named_digest(envelope.policy_receipt_id)
        standing = await self.standings.decision(envelope.tenant, digest, now) if digest else None
        if standing is None:
            return ABSENT_POLICY
        decision = standing.decision
        signature = self.statements.judge_signature(
            decision.statement, KeyPurpose.DECISION, envelope.tenant, decision.receipt.memory_namespace
        )
        return judge_decision(envelope, standing, signature, signer)

    async def _judge_policy(self, envelope: ActionEnvelope) -> Refusal | None:
        version = named_digest(envelope.policy_receipt_id)
        policy = await self.policies.of_tenant(envelope.tenant, version) if version else None
        return judge_policy_version(envelope, policy) if policy else ABSENT_POLICY

    async def _judge_under_grant(
        self, envelope: ActionEnvelope, signer: NamedKey | None, now: Instant
    ) -> Refusal | None:
        digest = named_digest(envelope.capability_id)
        kept = await self.presented.grants.chain_of(envelope.tenant, digest) if digest else ()
        if not kept:
            return ABSENT_CAPABILITY
        standing = await self.presented.judge(envelope.tenant, [it.opened for it in kept], now)
        if isinstance(standing, Refusal):
            return standing
        if standing.facts.subject is None:
            return Refusal(Reason.REVOKED, {"field": "capabilityId"})
        refusal = judge_grant(envelope, standing.chain, standing.facts.subject, signer, now)
        return refusal or await self._judge_left(standing.chain, now)

    async def _judge_left(self, chain: Sequence[OpenedGrant], now: Instant) -> Refusal | None:
        """BUDGET_EXHAUSTED when a block has no use left at this moment."""
        tenant = chain[-1].terms.tenant
        spent = await self.presented.grants.spent(tenant, [block.digest for block in chain], now)
        short = (judge_left(block.terms, sums, Needs()) for block, sums in zip(chain, spent, strict=True))
        return next(filter(None, short), None)
