"""Writes memory without validation, where an operator lets a memory namespace take it (semantics §7).

For callers from before the authority: `legacy` takes what they write and marks it, `observe` also records what
enforcement would have said of it, `enforce` takes nothing. Identity, tenant, proof, rights and tombstones are never
relaxed, and no grant allows such a write: `memory.commit-validated` is for exactly what was validated.

The awaits, and what may happen at each: before `writes.write` nothing is changed, whoever goes away; inside, the write
goes on in a task of its own and is found again by its request id.
"""

from dataclasses import dataclass

from authority.domain.identity import Caller, Right, require
from authority.domain.proposal import (
    MemoryType,
    ProposalRevision,
    ProposalState,
    Provenance,
    StoredProposal,
    Visibility,
)
from authority.domain.reasons import Reason
from authority.domain.record import MemoryNamespace, MemoryRecord, Mode
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal, malformed
from authority.domain.unvalidated import Observation
from authority.usecases.admit import Admit
from authority.usecases.foresee import Foresee
from authority.usecases.ports import (
    Clock,
    Identifiers,
    Memberships,
    MemoryNamespaces,
    NewUnvalidated,
    RequestMark,
    Statements,
    UnvalidatedWrites,
    WrittenUnvalidated,
)
from authority.usecases.said_memory import SaidMemory, judge_scope
from authority.usecases.stamp import Origin, Stamp

_TRIES = 3


@dataclass(frozen=True, slots=True)
class UnvalidatedRequest:
    """What a writer says. Provenance cannot be said; `tenant` is whom the writer believes to write for."""

    mark: RequestMark
    tenant: TenantRef | None
    memory_namespace: str
    memory_type: MemoryType
    said: SaidMemory
    traceparent: str


@dataclass(frozen=True, slots=True)
class WriteUnvalidated:
    """Answers with the record, marked, or refuses as the memory namespace's mode has it."""

    admit: Admit
    statements: Statements
    namespaces: MemoryNamespaces
    memberships: Memberships
    stamp: Stamp
    foresee: Foresee
    writes: UnvalidatedWrites
    clock: Clock
    identifiers: Identifiers

    async def __call__(self, caller: Caller, request: UnvalidatedRequest) -> WrittenUnvalidated | Refusal:
        """The record as it was written first; a retry gets the same, whatever the mode is by then.

        Refusals: MALFORMED, HOLDER_MISMATCH (another tenant), NOT_ALLOWED (without the right to commit, which agents
        and models cannot have), IDEMPOTENCY_CONFLICT, POLICY_DENIED (privileged), REVOKED, NOT_VALIDATED (enforced),
        NOT_FOUND, CONTENTION.
        """
        if problem := await self.statements.content_problem(request.said.content, request.said.media_type):
            return malformed("content", problem)
        if refusal := await self.admit(caller) or _judge_caller(caller, request):
            return refusal
        answer: WrittenUnvalidated | Refusal = Refusal(Reason.CONTENTION)
        for _ in range(_TRIES):
            answer = await self._write(caller, request)
            if not isinstance(answer, Refusal) or answer.reason is not Reason.CONTENTION:
                return answer
        return answer

    async def _write(self, caller: Caller, request: UnvalidatedRequest) -> WrittenUnvalidated | Refusal:
        # What is read here chooses what to prepare: the store judges by what it reads itself.
        namespace = await self.namespaces.namespace(caller.tenant, request.memory_namespace)
        provenance = await self.stamp(caller, Origin(request.memory_type, request.said.source_refs, ()))
        if isinstance(provenance, Refusal):
            return await self.writes.made_by(request.mark) or provenance
        new = self._record(caller, request, namespace, provenance)
        if namespace is not None and (
            refusal := await judge_scope(self.memberships, caller, new.visibility, new.visibility_scope)
        ):
            return await self.writes.made_by(request.mark) or refusal
        foresight = None
        if namespace is not None and namespace.mode is Mode.OBSERVE and not namespace.privileged:
            foresight = await self.foresee(caller.principal, self._would_be(caller, namespace, new), new.create_time)

        def observe(live: MemoryNamespace, bundle: str) -> Observation | Refusal:
            return foresight(live, bundle) if foresight else Refusal(Reason.CONTENTION)

        unwritten = NewUnvalidated(new, self.identifiers.new(), request.traceparent)
        return await self.writes.write(request.mark, unwritten, observe)

    def _record(
        self, caller: Caller, request: UnvalidatedRequest, namespace: MemoryNamespace | None, provenance: Provenance
    ) -> MemoryRecord:
        said, default = request.said, namespace.default_visibility if namespace else Visibility.PRIVATE
        return MemoryRecord(
            record_id=self.identifiers.new(),
            tenant=caller.tenant,
            memory_namespace=request.memory_namespace,
            memory_type=request.memory_type,
            provenance=provenance,
            content=said.content,
            content_digest=self.statements.content_digest(said.content),
            media_type=said.media_type,
            proposer=caller.ref,
            proposal_id="",
            proposal_revision=0,
            receipt_id="",
            source_refs=said.source_refs,
            subject_refs=said.subject_refs,
            evidence_digests=(),
            visibility=said.visibility or default,
            visibility_scope=said.visibility_scope,
            valid_from_time=said.valid_from_time,
            valid_until_time=said.valid_until_time,
            expire_time=said.record_expire_time,
            create_time=self.clock.now(),
            costs=said.costs,
            correlation_id=said.correlation_id,
            supersedes_record_id="",
        )

    def _would_be(self, caller: Caller, namespace: MemoryNamespace, record: MemoryRecord) -> StoredProposal:
        """The revision that would have to be proposed to have it under enforcement."""
        revision = ProposalRevision(
            tenant=record.tenant,
            memory_namespace=record.memory_namespace,
            proposal_id=self.identifiers.new(),
            revision=1,
            proposer=record.proposer,
            proposer_kind=caller.principal.kind,
            actor_chain=(),
            provenance=record.provenance,
            memory_type=record.memory_type,
            content_digest=record.content_digest,
            media_type=record.media_type,
            source_refs=record.source_refs,
            subject_refs=record.subject_refs,
            evidence_digests=(),
            validator_profile=namespace.least_profile,
            visibility=record.visibility,
            visibility_scope=record.visibility_scope,
            valid_from_time=record.valid_from_time,
            valid_until_time=record.valid_until_time,
            record_expire_time=record.expire_time,
            correlation_id=record.correlation_id,
            costs=record.costs,
            supersedes_record_id="",
            create_time=record.create_time,
        )
        digest = self.statements.proposal_digest(revision)
        return StoredProposal(revision, record.content, digest, ProposalState.PROPOSED)


def _judge_caller(caller: Caller, request: UnvalidatedRequest) -> Refusal | None:
    if request.tenant not in (None, caller.tenant):
        return Refusal(Reason.HOLDER_MISMATCH)
    return require(caller, Right.COMMIT)
