"""The main job on one proposal of the demo: everything from proposing to reading the memory back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from google.protobuf.message import Message

from authority.domain.identity import RIGHTS_BY_KIND, PrincipalKind, Right
from authority.domain.proposal import Cost, Visibility
from authority.domain.references import Instant
from authority.embedded.demo import DemoProposal, Stage, Twist
from capability_authority.client import AuthorityError, CapabilityAuthority, IssuedCapability, Proposal
from capability_authority.client.content import content_bytes
from capability_authority.v1 import types_pb2

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NOTE: Final = "Read, and found to be right."


class StoppedHere(Exception):
    """The proposal was refused at a stage."""

    def __init__(self, at: Stage, reason: str, term: str = "") -> None:
        super().__init__(at, reason, term)
        self.at = at
        self.reason = reason
        self.term = term


@dataclass(slots=True, kw_only=True)
class CameOut:
    """How a proposal came out."""

    committed: bool = False
    at: Stage | None = None
    """The stage that refused."""
    reason: str = ""
    term: str = ""
    provenance: str = ""
    """As stamped; empty when the proposal was not even taken."""
    approved: bool = False
    """Whether policy asked for an approval."""
    replayed: bool = False
    """Whether the retry was answered with the first receipt, byte for byte."""
    receipt_verified: bool = False
    """Whether the receipt verified offline, for exactly the content."""
    defects: list[str] = field(default_factory=list)
    """What went wrong beside all this."""


@dataclass(frozen=True, slots=True)
class Firm:
    """The connections of one tenant's principals, by name."""

    members: Mapping[str, CapabilityAuthority]
    stranger: CapabilityAuthority
    """The committing service of another tenant."""
    team: str = ""
    """The team that all of them are in."""

    @property
    def service(self) -> CapabilityAuthority:
        """Who holds capabilities and commits."""
        return self.members["service"]

    def reader(self, proposer: str) -> CapabilityAuthority:
        """Who reads a record back: the proposer when it may read, for it sees all of its own."""
        can_read = Right.READ in RIGHTS_BY_KIND[PrincipalKind(proposer)]
        return self.members[proposer if can_read else "admin"]


async def run_exchange(line: DemoProposal, firm: Firm, now: Instant) -> CameOut:
    """Runs the main job on one proposal. Raises AuthorityError only for what is no refusal, as a lost connection."""
    exchange = _Exchange(line, firm, now)
    try:
        await exchange.run()
    except StoppedHere as stopped:
        out = exchange.out
        out.at, out.reason, out.term = stopped.at, stopped.reason, stopped.term
    except AuthorityError as error:
        if not error.reason:
            raise
        exchange.out.defects.append(str(error))
    return exchange.out


class _Exchange:
    """One proposal on its way."""

    def __init__(self, line: DemoProposal, firm: Firm, now: Instant) -> None:
        self._line = line
        self._firm = firm
        self._now = now
        self._content, self._media_type = _content(line)
        self.out = CameOut()

    async def run(self) -> None:
        """Goes as far as the authority lets it. Raises StoppedHere."""
        proposal = await self._propose()
        capability = await self._issue(proposal)
        await self._commit(capability)

    async def _propose(self) -> Proposal:
        line = self._line
        try:
            proposal = await self._firm.members[line.proposer].propose(
                memory_namespace=line.memory_namespace,
                memory_type=line.memory_type.value,
                content=self._content,
                media_type=self._media_type,
                source_refs=line.source_refs,
                subject_refs=line.subject_refs,
                evidence_digests=line.evidence_digests,
                visibility=line.visibility.value,
                visibility_scope=self._firm.team if line.visibility is Visibility.TEAM else "",
                valid_from_time=_moment(line.valid_from_time(self._now)),
                valid_until_time=_moment(line.valid_until_time(self._now)),
                record_expire_time=_moment(line.record_expire_time(self._now)),
                correlation_id=line.name,
                costs=[_cost(cost) for cost in line.costs],
            )
        except AuthorityError as error:
            raise _stopped(Stage.PROPOSE, error) from error
        self.out.provenance = proposal.provenance
        return proposal

    async def _issue(self, proposal: Proposal) -> IssuedCapability:
        validation = await self._firm.members[self._line.proposer].validate(proposal)
        if validation.outcome == "fail":
            failed = next(finding for finding in validation.findings if finding.outcome == "fail")
            raise StoppedHere(Stage.VALIDATE, failed.validator)
        decision = await self._firm.service.evaluate_policy(proposal)
        if decision.outcome == "require_approval":
            self.out.approved = True
            if self._line.twist is not Twist.UNAPPROVED:
                await self._firm.members["admin"].decide(proposal, "approve", note=_NOTE)
                decision = await self._firm.service.evaluate_policy(proposal)
        if decision.outcome == "deny":
            raise StoppedHere(Stage.POLICY, "POLICY_DENIED")
        try:
            return await self._firm.service.issue(
                proposal,
                validation_receipt=validation.receipt,
                decision_receipt=decision.receipt,
                commit_idempotency_key=f"demo:{self._line.name}",
            )
        except AuthorityError as error:
            raise _stopped(Stage.ISSUE, error) from error

    async def _commit(self, capability: IssuedCapability) -> None:
        try:
            if self._line.twist is None:
                await self._commit_and_prove(capability)
            else:
                await self._commit_wrongly(capability, self._line.twist)
        except AuthorityError as error:
            verdict = await self._firm.service.verify(capability)
            if verdict.receipt_id or not verdict.granted:
                self.out.defects.append("the refused commit used the capability up")
            raise _stopped(Stage.COMMIT, error) from error

    async def _commit_wrongly(self, capability: IssuedCapability, twist: Twist) -> None:
        service, content = self._firm.service, self._content
        match twist:
            case Twist.CHANGED_CONTENT:
                await service.commit(capability, content=_changed(self._line, content))
            case Twist.REORDERED_EVIDENCE:
                evidence = tuple(reversed(self._line.evidence_digests))
                await service.commit(capability, content=content, evidence_digests=evidence)
            case Twist.OTHER_KEY:
                await service.commit(capability, content=content, commit_idempotency_key=f"other:{self._line.name}")
            case Twist.WRONG_TENANT:
                await self._firm.stranger.commit(capability, content=content)
            case _:
                self.out.defects.append(f"{twist.value} should have been refused before the commit")
                return
        self.out.committed = True

    async def _commit_and_prove(self, capability: IssuedCapability) -> None:
        service, out = self._firm.service, self.out
        committed = await service.commit(capability, content=self._content)
        out.committed = True
        again = await service.commit(capability, content=self._content)
        out.replayed = again.replayed and _same_bytes(again.receipt.statement, committed.receipt.statement)
        says = await service.verify_receipt(committed.receipt.statement, content=self._content)
        out.receipt_verified = says.record_id == committed.record_id
        record = await self._firm.reader(self._line.proposer).get_record(committed.record_id)
        if record.content != self._content or record.receipt_id != committed.receipt_id:
            out.defects.append("the record that was read back is another one")
        if record.provenance != out.provenance:
            out.defects.append(f"the record has the provenance {record.provenance}")
        if committed.replayed:
            out.defects.append("the first commit was said to be a retry")


def _same_bytes(one: Message, other: Message) -> bool:
    return one.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True)


def _stopped(at: Stage, error: AuthorityError) -> StoppedHere | AuthorityError:
    """A refusal ends the exchange where it was told; what is no refusal is no outcome either."""
    return StoppedHere(at, error.reason, error.metadata.get("term", "")) if error.reason else error


def _content(line: DemoProposal) -> tuple[bytes, str]:
    """The bytes to propose. A string is taken as it is, whatever its media type."""
    content = content_bytes(line.content)[0] if isinstance(line.content, dict) else line.content.encode()
    return content.ljust(line.pad_to or 0, b"x"), line.media_type


def _changed(line: DemoProposal, content: bytes) -> bytes:
    """Other content of the same media type, and as well formed."""
    if isinstance(line.content, dict):
        return content_bytes({**line.content, "changed": "after validation"})[0]
    return content + b" (changed after validation)"


def _moment(instant: Instant | None) -> datetime | None:
    return None if instant is None else _EPOCH + timedelta(milliseconds=instant)


def _cost(cost: Cost) -> types_pb2.Cost:
    return types_pb2.Cost(
        stage=cost.stage,
        model=cost.model,
        input_tokens=cost.input_tokens,
        output_tokens=cost.output_tokens,
        usd_micros=cost.usd_micros,
    )
