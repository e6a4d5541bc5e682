"""Committers over dicts that are wrong on purpose, each in one way.

Some are blind: they judge a copy of the tables in which something that was withdrawn still stands, and write into the
tables themselves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from authority.domain.decision import Approval, ApprovalVerdict
from authority.domain.plan import CommitOutcome, CommitPlan, Committed, Conflicting, StoredReceipt
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.inprocess.committer import InProcessCommitter
from authority.inprocess.judgement import live_refusals
from authority.inprocess.tables import Tables
from authority.usecases.ports import Clock

Blind = Callable[[Tables, CommitPlan], Tables]
"""The tables as such a committer sees them."""


@dataclass(frozen=True, slots=True)
class Blinded:
    """Commits by what it sees."""

    tables: Tables
    clock: Clock
    sight: Blind

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        """As `ports.Committer`."""
        return await InProcessCommitter(self.sight(self.tables, plan), self.clock).commit(plan, deadline)

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        """As `ports.Committer`."""
        return [await self.commit(plan, deadline) for plan in plans]


def to_revoked_principals(tables: Tables, plan: CommitPlan) -> Tables:
    del plan
    return replace(tables, principals={key: replace(it, is_active=True) for key, it in tables.principals.items()})


def to_revoked_holder_keys(tables: Tables, plan: CommitPlan) -> Tables:
    del plan
    return replace(tables, keys={key: replace(it, is_active=True) for key, it in tables.keys.items()})


def to_revoked_issuer_keys(tables: Tables, plan: CommitPlan) -> Tables:
    del plan
    return replace(tables, issuer_keys={})


def to_revoked_grants(tables: Tables, plan: CommitPlan) -> Tables:
    del plan
    return replace(tables, grants={key: replace(it, revoke_time=None) for key, it in tables.grants.items()})


def to_revoked_ancestors(tables: Tables, plan: CommitPlan) -> Tables:
    last = plan.capability.terms.grant_digest
    above = {key: replace(it, revoke_time=None) for key, it in tables.grants.items() if key[1] != last}
    return replace(tables, grants=tables.grants | above)


def to_tombstones(tables: Tables, plan: CommitPlan) -> Tables:
    del plan
    return replace(tables, tombstones={})


def to_the_active_policy(tables: Tables, plan: CommitPlan) -> Tables:
    version = plan.capability.terms.policy_version
    return replace(
        tables, namespaces={key: replace(it, policy_version=version) for key, it in tables.namespaces.items()}
    )


def to_decisions_against(tables: Tables, plan: CommitPlan) -> Tables:
    del plan
    return without_decisions_against(tables)


def to_the_end_of_approvals(tables: Tables, plan: CommitPlan) -> Tables:
    def lasting(approval: Approval) -> Approval:
        return replace(approval, expire_time=Instant(2**60))

    del plan
    return replace(tables, approvals=[lasting(it) for it in tables.approvals])


def without_decisions_against(tables: Tables) -> Tables:
    return replace(tables, approvals=[it for it in tables.approvals if it.verdict is ApprovalVerdict.APPROVE])


class Overlooks(InProcessCommitter):
    """Commits though the stored state says no for one reason."""

    overlooked: Reason

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        outcome = await super().commit(plan, deadline)
        if not isinstance(outcome, Refusal) or outcome.reason is not self.overlooked or not plan.receipt:
            return outcome
        live = live_refusals(self.tables, plan, self.clock.now())
        others = [it for it in (plan.refusal, *live) if it and it.reason is not self.overlooked]
        return others[0] if others else self._write(plan)


class CommitsTwicePerProposal(Overlooks):
    """Knows of one commit for each key, not for each proposal."""

    overlooked = Reason.ALREADY_COMMITTED


class CommitsSupersededRevisions(Overlooks):
    """Looks at the revision that is bound and not at its head."""

    overlooked = Reason.NOT_VALIDATED


class CommitsOnExpiredReceipts(Overlooks):
    """Looks at the end of the capability and not of what it rests on."""

    overlooked = Reason.EXPIRED


class BurnsOnFailure(InProcessCommitter):
    """A refused commit uses the capability up."""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        outcome = await super().commit(plan, deadline)
        key = (plan.claim.tenant, plan.capability.terms.capability_id)
        if isinstance(outcome, Refusal) and self.tables.capabilities[key].state == "issued":
            self.tables.capabilities[key] = replace(self.tables.capabilities[key], state="expired")
        return outcome


class ReplaysAnyFingerprint(InProcessCommitter):
    """Answers whoever knows the key with what it was settled for."""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        outcome = await super().commit(plan, deadline)
        return Committed(outcome.receipt, replayed=True) if isinstance(outcome, Conflicting) else outcome


class RefusesBeforeReplay(InProcessCommitter):
    """Judges a retry anew, though its first attempt succeeded."""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        return plan.refusal or await super().commit(plan, deadline)


class SignsReplaysAnew(InProcessCommitter):
    """A replay says the same, in other bytes."""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        outcome = await super().commit(plan, deadline)
        if not isinstance(outcome, Committed) or not outcome.replayed or not plan.receipt:
            return outcome
        return Committed(replace(outcome.receipt, statement=plan.receipt), replayed=True)


class LosesTheEvent(InProcessCommitter):
    """The outbox is told in another transaction, which fails for a proposal's second revision and later ones."""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        outcome = await super().commit(plan, deadline)
        if isinstance(outcome, Committed) and not outcome.replayed and plan.capability.terms.proposal_revision > 1:
            self.tables.events.pop()
        return outcome


class TellsTwice(InProcessCommitter):
    """Every answer of success writes an event, a replay's too."""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        outcome = await super().commit(plan, deadline)
        if isinstance(outcome, Committed) and outcome.replayed:
            self.tables.events.append(self.tables.events[-1])
        return outcome


class LeavesTheCapability(InProcessCommitter):
    """The record is written, and the capability is not consumed."""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        key = (plan.claim.tenant, plan.capability.terms.capability_id)
        before = self.tables.capabilities.get(key)
        outcome = await super().commit(plan, deadline)
        if before:
            self.tables.capabilities[key] = before
        return outcome


@dataclass
class RemembersInProcess:
    """Knows what was settled as long as its process lives; a retry after a crash is judged anew."""

    tables: Tables
    clock: Clock
    settled: dict[object, StoredReceipt] = field(default_factory=dict)

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        forgetful = replace(self.tables, receipts=dict(self.tables.receipts))
        if plan.claim not in self.settled:
            forgetful.receipts.clear()
        outcome = await InProcessCommitter(forgetful, self.clock).commit(plan, deadline)
        self.tables.receipts.update(forgetful.receipts)
        if isinstance(outcome, Committed):
            self.settled[plan.claim] = outcome.receipt
        return outcome

    async def commit_together(self, plans: Sequence[CommitPlan], deadline: float) -> list[CommitOutcome | Exception]:
        """As `ports.Committer`."""
        return [await self.commit(plan, deadline) for plan in plans]


class CommitsRevokedCapabilities(InProcessCommitter):
    """Looks at everything that a capability rests on, and not at the capability."""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        key = (plan.claim.tenant, plan.capability.terms.capability_id)
        revoked = self.tables.capabilities[key]
        if revoked.state != "revoked":
            return await super().commit(plan, deadline)
        self.tables.capabilities[key] = replace(revoked, state="issued")
        outcome = await super().commit(plan, deadline)
        if self.tables.capabilities[key].state == "issued":
            self.tables.capabilities[key] = revoked
        return outcome


class RefusesRevokedBeforeReplay(InProcessCommitter):
    """Whoever holds a revoked capability is refused, though its claim was settled by another one."""

    async def commit(self, plan: CommitPlan, deadline: float) -> CommitOutcome:
        kept = self.tables.capabilities[plan.claim.tenant, plan.capability.terms.capability_id]
        return Refusal(Reason.REVOKED) if kept.state == "revoked" else await super().commit(plan, deadline)
