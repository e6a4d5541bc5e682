"""Checking an exported record against the keys of a pinned issuer, without a server (semantics §8).

The receipt is what everything hangs on: it is signed, it repeats every term of the capability, and these name the
digests of the proposal, the validation and the decision. So an export holds together, or one of its checks says where
it does not.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, TypeVar

from google.protobuf.message import Message

from capability_authority.offline.digests import sha256, to_wire
from capability_authority.offline.errors import KeyRevoked, OfflineError
from capability_authority.offline.fingerprint import capability_fingerprint
from capability_authority.offline.key_set import KeySet
from capability_authority.offline.statements import digest_of, read_payload, statement_digest
from capability_authority.offline.verification import verify_as, verify_receipt
from capability_authority.v1.memory_service_pb2 import AuditTrail, MemoryRecord, RecordExport
from capability_authority.v1.proposal_service_pb2 import DECIDER_KIND_SYSTEM_POLICY, DecideProposalRequest
from capability_authority.v1.statements_pb2 import (
    CommitCapability,
    CommitReceipt,
    DecisionReceipt,
    ProposalRevision,
    SignedStatement,
    ValidationReceipt,
)
from capability_authority.v1.types_pb2 import DECISION_OUTCOME_ALLOW, VALIDATION_OUTCOME_FAIL

__all__ = ["Check", "CheckVerdict", "check_export"]

M = TypeVar("M", bound=Message)
Terms: TypeAlias = Iterable[tuple[str, object, object]]
"""Of two things that must agree: a name, what one says, what the other says."""


class CheckVerdict(Enum):
    """What came of a check."""

    HOLDS = "holds"
    VOUCHED = "vouched"
    """The key that signed was revoked since, and a signature that counts covers the statement's digest."""
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """One part of an export, and whether it is proved."""

    part: str
    """"content", "receipt" and "record"; in the audit form also "capability", "validation", "decision", "approval",
    "proposal" and "citations"."""
    verdict: CheckVerdict
    because: str
    """For people: what was found, or what was expected and what was presented."""


class _Broken(Exception):
    """Two things that must agree do not."""


def check_export(export: RecordExport, key_set: KeySet, *, tenant: tuple[str, str]) -> tuple[Check, ...]:
    """Every check of an export of `tenant` (namespace and id), in the order in which one rests on the other.

    It is proved when no verdict is BROKEN. Of a compact export that is what the receipt says itself: content, media
    type, evidence, where it lives, who proposed and who committed it. Type, provenance, references, visibility, times
    and costs are covered by the proposal digest, and so proved in the audit form alone.

    Times are not judged, and what nobody signs is not proved: the state of the record, the persons behind approval
    references, and who cites it. Raises nothing: whatever is wrong is a verdict.
    """
    return tuple(_Export(export, key_set, tenant).checks())


class _Export:
    def __init__(self, export: RecordExport, key_set: KeySet, tenant: tuple[str, str]) -> None:
        self._export = export
        self._record: MemoryRecord = export.record
        self._trail: AuditTrail = export.trail
        self._keys = key_set
        self._tenant = tenant

    def checks(self) -> Iterator[Check]:
        yield _checked("content", self._content)
        yield _checked("receipt", self._receipt)
        try:
            said = read_payload(self._export.receipt.payload_type, self._export.receipt.payload, CommitReceipt)
        except OfflineError:
            return  # There is nothing that the rest could be compared with.
        yield _checked("record", lambda: self._agrees(said))
        if self._export.HasField("trail"):
            yield from self._of_trail(said.capability, said.capability_digest)

    def _of_trail(self, terms: CommitCapability, capability_digest: bytes) -> Iterator[Check]:
        trail = self._trail
        yield _checked("capability", lambda: self._named(trail.capability, capability_digest, CommitCapability, None))
        yield _checked(
            "validation",
            lambda: self._named(
                trail.validation_receipt,
                terms.validation_receipt_digest,
                ValidationReceipt,
                lambda receipt: _of_validation(receipt, terms),
            ),
        )
        yield _checked(
            "decision",
            lambda: self._named(
                trail.decision_receipt,
                terms.decision_receipt_digest,
                DecisionReceipt,
                lambda receipt: _of_decision(receipt, terms),
            ),
        )
        yield _checked("approval", lambda: self._approval(terms))
        yield _checked("proposal", lambda: self._proposal(terms))
        if trail.citations:
            yield _checked("citations", self._citations)

    def _content(self) -> str:
        digest = to_wire(sha256(self._record.content))
        _agree([("content_digest", digest, self._record.content_digest)])
        return f"the bytes have the digest {digest}"

    def _receipt(self) -> "str | tuple[CheckVerdict, str]":
        export = self._export
        if not export.HasField("receipt") and not self._record.validated:
            raise _Broken("it was written without validation: there is no receipt, and nothing proves it")
        attestation = export.attestation if export.HasField("attestation") else None
        receipt = verify_receipt(export.receipt, self._keys, attestation=attestation, content=self._record.content)
        terms = receipt.capability
        fingerprint = capability_fingerprint(
            terms,
            content_digest=to_wire(terms.content_digest),
            media_type=terms.media_type,
            evidence_digests=list(map(to_wire, terms.evidence_digests)),
        )
        _agree([("request_fingerprint", receipt.request_fingerprint.hex(), fingerprint.hex())])
        key = self._keys.record(export.receipt.signature.key_id)
        if key is None or not key.verifies:
            return CheckVerdict.VOUCHED, "its key was revoked since; the current receipt key vouches for it"
        return f"signed by {self._keys.issuer} for exactly this content"

    def _agrees(self, receipt: CommitReceipt) -> str:
        record, terms = self._record, receipt.capability
        _agree(
            [
                ("validated", True, record.validated),
                ("tenant", (terms.tenant.namespace, terms.tenant.id), self._tenant),
                ("record_id", receipt.record_id, record.record_id),
                ("receipt_id", receipt.receipt_id, record.receipt_id),
                ("create_time", receipt.commit_time, record.create_time),
                ("proposer", terms.subject, record.proposer),
                ("content_digest", to_wire(terms.content_digest), record.content_digest),
                ("evidence_digests", list(map(to_wire, terms.evidence_digests)), list(record.evidence_digests)),
                *_same(terms, record, "memory_namespace", "proposal_id", "proposal_revision", "media_type"),
                *_same(terms, record, "correlation_id"),
            ]
        )
        return "it is the one that the receipt was given for"

    def _named(
        self, statement: SignedStatement, digest: bytes, kind: type[M], terms_of: "Callable[[M], Terms] | None"
    ) -> "str | tuple[CheckVerdict, str]":
        """A statement that the receipt covers by its digest, and that says what it must."""
        _agree([("digest", to_wire(digest), to_wire(digest_of(statement)))])
        message = read_payload(statement.payload_type, statement.payload, kind)
        if terms_of:
            _agree(terms_of(message))
        try:
            verify_as(statement, self._keys, kind)
        except KeyRevoked:
            return CheckVerdict.VOUCHED, "its key was revoked since; the receipt covers its digest"
        return "signed by the authority, and the one that the receipt covers"

    def _approval(self, terms: CommitCapability) -> str:
        decision = read_payload(
            self._trail.decision_receipt.payload_type, self._trail.decision_receipt.payload, DecisionReceipt
        )
        given = {it.approval_reference: it for it in self._trail.approvals}
        if len(set(decision.approval_references)) < decision.persons_needed:
            raise _Broken(f"policy wanted {decision.persons_needed} persons to approve, and the decision names fewer")
        needed = {*decision.approval_references, *filter(None, [terms.approval_reference])}
        for reference in sorted(needed):
            if reference not in given:
                raise _Broken(f"the decision rests on approval {reference}, which is not there")
            approval = given[reference]
            if approval.decided_by_kind == DECIDER_KIND_SYSTEM_POLICY:
                raise _Broken(f"the decision rests on approval {reference}, which no person gave")
            expected = (
                DecideProposalRequest.VERDICT_APPROVE,
                to_wire(terms.proposal_digest),
                to_wire(terms.validation_receipt_digest),
            )
            presented = (approval.verdict, approval.proposal_digest, approval.validation_receipt_digest)
            _agree([(f"approval {reference}", expected, presented)])
        return "they are what the decision names" if needed else "none was required"

    def _proposal(self, terms: CommitCapability) -> str:
        committed = None
        for revision in self._trail.revisions:
            said = read_payload(revision.payload_type, revision.payload, ProposalRevision)
            _agree([("proposal_id", terms.proposal_id, said.proposal_id)])
            if statement_digest(revision.payload_type, revision.payload) == terms.proposal_digest:
                committed = said
        if committed is None:
            raise _Broken(f"no revision has the digest that was committed, {to_wire(terms.proposal_digest)}")
        _agree(_of_proposal(committed, self._record, terms))
        return "its fields have the digest that validation, decision and capability bind"

    def _citations(self) -> str:
        digest = to_wire(digest_of(self._export.receipt))
        expected = (self._record.record_id, self._record.content_digest, digest)
        for it in self._trail.citations:
            presented = (it.record_id, it.content_digest, it.receipt_digest)
            _agree([(f"citation {it.citation_id}", expected, presented)])
        return "they name this content under this receipt"


def _of_validation(receipt: ValidationReceipt, terms: CommitCapability) -> Terms:
    yield from _same(terms, receipt, "proposal_id", "proposal_revision", "proposal_digest")
    yield from _same(terms, receipt, "validator_profile", "validator_profile_version")
    yield "failed", False, receipt.outcome == VALIDATION_OUTCOME_FAIL


def _of_decision(receipt: DecisionReceipt, terms: CommitCapability) -> Terms:
    yield from _same(terms, receipt, "proposal_id", "proposal_revision", "proposal_digest", "holder", "action")
    yield from _same(terms, receipt, "validation_receipt_digest", "policy_version")
    yield "allowed", True, receipt.outcome == DECISION_OUTCOME_ALLOW


def _of_proposal(revision: ProposalRevision, record: MemoryRecord, terms: CommitCapability) -> Terms:
    yield "revision", terms.proposal_revision, revision.revision
    yield "content_digest", to_wire(revision.content_digest), record.content_digest
    yield "record_expire_time", revision.record_expire_time, record.expire_time
    yield "evidence_digests", list(map(to_wire, revision.evidence_digests)), list(record.evidence_digests)
    yield from _same(revision, record, "proposer", "memory_namespace", "memory_type", "provenance", "media_type")
    yield from _same(revision, record, "source_refs", "subject_refs", "visibility", "valid_from_time")
    yield from _same(revision, record, "valid_until_time", "costs", "correlation_id", "supersedes_record_id")
    yield from _same(revision, record, "visibility_scope")


def _same(one: Message, other: Message, *fields: str) -> Terms:
    for field in fields:
        yield field, _said(one, field), _said(other, field)


def _said(message: Message, field: str) -> object:
    """The value of a field, an enum's as its lowercase word."""
    value = getattr(message, field)
    enum = message.DESCRIPTOR.fields_by_name[field].enum_type
    if enum is None or value not in enum.values_by_number:
        return value
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return enum.values_by_number[value].name.removeprefix(prefix).lower()


def _agree(terms: Terms) -> None:
    for name, expected, presented in terms:
        if expected != presented:
            raise _Broken(f"{name}: expected {_shown(expected)}, presented {_shown(presented)}")


def _shown(value: object) -> str:
    text = to_wire(value) if isinstance(value, bytes) and len(value) == len(sha256(b"")) else str(value)
    return " ".join(text.split()) or "nothing"


def _checked(part: str, check: "Callable[[], str | tuple[CheckVerdict, str]]") -> Check:
    try:
        found = check()
    except (_Broken, OfflineError, ValueError) as error:
        return Check(part, CheckVerdict.BROKEN, str(error))
    verdict, because = (CheckVerdict.HOLDS, found) if isinstance(found, str) else found
    return Check(part, verdict, because)
