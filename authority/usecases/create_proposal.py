"""Takes a proposal of learned memory and stamps where it came from (semantics §7)."""

from dataclasses import dataclass, replace

from authority.domain.grant import GrantAction
from authority.domain.grant_use import GrantUse
from authority.domain.identity import Caller, Right, require
from authority.domain.proposal import (
    MemoryType,
    ProposalRevision,
    ProposalState,
    Provenance,
    StoredProposal,
    expiry_of,
)
from authority.domain.reasons import Reason
from authority.domain.record import MemoryNamespace
from authority.domain.references import Instant
from authority.domain.refusal import Refusal, malformed
from authority.domain.verify import Here
from authority.usecases.admit import Admit
from authority.usecases.grants.act_under import ActUnderGrant, Delegation
from authority.usecases.grants.presented import PresentedGrant
from authority.usecases.ports import Clock, Identifiers, Memberships, Proposals, RequestMark, Statements, Validators
from authority.usecases.said_memory import SaidMemory, judge_scope
from authority.usecases.stamp import Origin, Stamp
from authority.usecases.validate_proposal import not_installed

_TRIES = 3


@dataclass(frozen=True, slots=True)
class ProposalRequest:
    """What a proposer says. An empty `proposal_id` begins a new proposal; provenance cannot be said."""

    mark: RequestMark
    proposal_id: str
    memory_namespace: str
    memory_type: MemoryType
    said: SaidMemory
    evidence_digests: tuple[bytes, ...]
    validator_profile: str
    supersedes_record_id: str = ""
    """Of the visible record of the memory namespace that it corrects. A next revision corrects what the first did."""
    expire_time: Instant | None = None
    """When the revision is to expire; 30 days from now when it is not said."""
    grant: PresentedGrant | None = None
    """In place of the caller's own right to propose."""


@dataclass(frozen=True, slots=True)
class CreateProposal:
    """Keeps an immutable revision. A newer revision supersedes an uncommitted older one."""

    admit: Admit
    statements: Statements
    proposals: Proposals
    memberships: Memberships
    validators: Validators
    stamp: Stamp
    act: ActUnderGrant
    clock: Clock
    identifiers: Identifiers
    here: Here

    async def __call__(self, caller: Caller, request: ProposalRequest) -> StoredProposal | Refusal:
        """The kept revision; a retry is answered with what the first attempt kept.

        Under a grant also what `ActUnderGrant` and the use of the grant are refused for. One use of it and what the
        revision has cost are spent in the transaction that keeps the revision, along the whole chain, or it is
        BUDGET_EXHAUSTED with the `dimension`: so a retry spends nothing again, and what is refused nothing at all.

        Refusals: MALFORMED, NOT_ALLOWED (also for a channel or team of others), NOT_FOUND (memory namespace, a proposal
        that is not the caller's, or a cited record that it cannot see), NOT_VALIDATED for a proposal that was withdrawn
        and for a least profile that is not installed, IDEMPOTENCY_CONFLICT, ALREADY_COMMITTED, CONTENTION.
        """
        if request.grant is None:
            return await self.judge(caller, request.said) or await self.keep(caller, request)
        if refusal := await self._judge_content(request.said) or await self.admit(caller):
            return refusal
        delegation = await self._by_grant(caller, request, request.grant)
        return delegation if isinstance(delegation, Refusal) else await self.keep(caller, request, delegation)

    async def judge(self, caller: Caller, said: SaidMemory) -> Refusal | None:
        """What stands above everything that has to be looked up: MALFORMED content, and NOT_ALLOWED."""
        refusal = await self._judge_content(said) or await self.admit(caller)
        return refusal or require(caller, Right.PROPOSE)

    async def _judge_content(self, said: SaidMemory) -> Refusal | None:
        problem = await self.statements.content_problem(said.content, said.media_type)
        return malformed("content", problem) if problem else None

    async def _by_grant(
        self, caller: Caller, request: ProposalRequest, presented: PresentedGrant
    ) -> Delegation | Refusal:
        """What the caller proposes by: the live right of the grant's subject, where the chain allows as much."""
        delegation = await self.act(caller, presented, request.mark)
        if isinstance(delegation, Refusal):
            return delegation
        spend = delegation.cost_of(request.said.costs)
        use = GrantUse(
            action=GrantAction.MEMORY_PROPOSE.value,
            audience=self.here.audience,
            write_memory_namespace=request.memory_namespace,
            usd_micros=spend.usd_micros,
            tokens=spend.tokens,
        )
        if refusal := delegation.judge(use, self.clock.now()):
            return refusal
        may = delegation.subject.may(Right.PROPOSE)
        return delegation if may else Refusal(Reason.NOT_ALLOWED, {"right": Right.PROPOSE.value})

    async def keep(
        self, caller: Caller, request: ProposalRequest, delegation: Delegation | None = None
    ) -> StoredProposal | Refusal:
        """The kept revision of a request that was judged."""
        namespace = await self.proposals.namespace(caller.tenant, request.memory_namespace)
        if namespace is None:
            return Refusal(Reason.NOT_FOUND, {"field": "memory_namespace"})
        visibility = request.said.visibility or namespace.default_visibility
        refusal = self._judge_profile(request.validator_profile, namespace.least_profile) or await judge_scope(
            self.memberships, caller, visibility, request.said.visibility_scope
        )
        if refusal:
            # A retry of what was kept is answered with it, whoever left and whatever is asked for since.
            return await self.proposals.made_by(request.mark) or refusal
        return await self._keep(caller, request, namespace, delegation)

    def _judge_profile(self, chosen: str, least: str) -> Refusal | None:
        """The memory namespace, not the proposer, sets the least profile (semantics §4)."""
        least_profile, chosen_profile = self.validators.profile(least), self.validators.profile(chosen or least)
        if least_profile is None:
            return not_installed(least)
        if chosen_profile is None:
            return malformed("validator_profile", "no such profile")
        if not chosen_profile.includes(least_profile):
            return malformed("validator_profile", f"lacks validators of {least}, which this memory namespace asks for")
        return None

    async def _keep(
        self, caller: Caller, request: ProposalRequest, namespace: MemoryNamespace, delegation: Delegation | None
    ) -> StoredProposal | Refusal:
        now, actors = self.clock.now(), delegation.actor_chain if delegation else ()
        said = request.said
        expire_time = expiry_of(now, request.expire_time, said.valid_until_time, said.record_expire_time)
        if isinstance(expire_time, Refusal):
            # As above, however late it comes.
            return await self.proposals.made_by(request.mark) or expire_time
        origin = Origin(request.memory_type, said.source_refs, request.evidence_digests, actors)
        provenance = await self.stamp(caller, origin)
        if isinstance(provenance, Refusal):
            # As above: what was cited may be gone since.
            return await self.proposals.made_by(request.mark) or provenance
        first = replace(
            self._revision(caller, request, namespace),
            actor_chain=actors,
            provenance=provenance,
            create_time=now,
            expire_time=expire_time,
            subject=delegation.subject.ref if delegation else None,
        )
        spend = delegation.cost_of(request.said.costs) if delegation else None
        for _ in range(_TRIES):
            revision = await self._follow(caller, request, first) if request.proposal_id else first
            if isinstance(revision, Refusal):
                return revision
            digest = self.statements.proposal_digest(revision)
            proposal = StoredProposal(revision, said.content, digest, ProposalState.PROPOSED)
            kept = await self.proposals.create(request.mark, proposal, spend)
            if not isinstance(kept, Refusal) or kept.reason is not Reason.CONTENTION:
                return kept
        return Refusal(Reason.CONTENTION)

    async def _follow(
        self, caller: Caller, request: ProposalRequest, first: ProposalRevision
    ) -> ProposalRevision | Refusal:
        current = await self.proposals.get(caller.tenant, request.proposal_id, 0)
        if current is None or current.revision.proposer != caller.ref:
            return Refusal(Reason.NOT_FOUND, {"field": "proposal_id"})
        if current.revision.memory_namespace != request.memory_namespace:
            return malformed("memory_namespace", "a revision stays in its proposal's memory namespace")
        return replace(
            first,
            proposal_id=request.proposal_id,
            revision=current.revision.revision + 1,
            supersedes_record_id=current.revision.supersedes_record_id,
        )

    def _revision(self, caller: Caller, request: ProposalRequest, namespace: MemoryNamespace) -> ProposalRevision:
        said = request.said
        return ProposalRevision(
            tenant=caller.tenant,
            memory_namespace=request.memory_namespace,
            proposal_id=self.identifiers.new(),
            revision=1,
            proposer=caller.ref,
            proposer_kind=caller.principal.kind,
            actor_chain=(),
            provenance=Provenance.UNKNOWN,
            memory_type=request.memory_type,
            content_digest=self.statements.content_digest(said.content),
            media_type=said.media_type,
            source_refs=said.source_refs,
            subject_refs=said.subject_refs,
            evidence_digests=request.evidence_digests,
            validator_profile=request.validator_profile or namespace.least_profile,
            visibility=said.visibility or namespace.default_visibility,
            valid_from_time=said.valid_from_time,
            valid_until_time=said.valid_until_time,
            record_expire_time=said.record_expire_time,
            correlation_id=said.correlation_id,
            costs=said.costs,
            supersedes_record_id=request.supersedes_record_id,
            create_time=self.clock.now(),
            visibility_scope=said.visibility_scope,
        )
