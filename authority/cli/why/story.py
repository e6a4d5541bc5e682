"""What an exported record tells: what it says, from what, who and what allowed it, what it cost, what rests on it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from authority.cli.output import Json, printable
from authority.domain.decision import AUTO_APPROVED
from authority.signing.inspection import Described, says
from capability_authority.client import RecordExport

Rows: TypeAlias = list[tuple[str, str]]
Says: TypeAlias = Mapping[str, Described]
Message: TypeAlias = Any
"""A message of the contract: its class is the client's, and this room does not see it."""

_SHOWN_CHARACTERS: Final = 600
"""Of the content: `authority call GetMemoryRecord` has all of it."""
_SHOWN_ITEMS: Final = 6
"""Of a list, so that the story stays on one screen; --json has all of them."""
_MICROS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Chapter:
    """One question and its answer."""

    title: str
    rows: Rows


@dataclass(frozen=True, slots=True)
class Story:
    """The export with what its statements say. Nothing here is judged: the checks of the export do that."""

    export: RecordExport

    @property
    def chapters(self) -> list[Chapter]:
        """Every question that has an answer, in the order in which they are asked."""
        found = [
            Chapter("SAYS", _content(self.export)),
            Chapter("FROM", list(self._origin())),
            Chapter("ALLOWED", list(self._permission())),
            Chapter("COST", self._costs()),
            Chapter("CITED BY", list(self._citations())),
            Chapter("NOW", list(self._fate())),
        ]
        return [chapter for chapter in found if chapter.rows]

    def document(self) -> dict[str, Json]:
        """All of it for a program."""
        message = self.export.message
        return {
            "record_id": message.record.record_id,
            "state": self.export.state,
            "proved": not self.export.broken,
            "validated": message.record.validated,
            "checks": [
                {"part": check.part, "verdict": check.verdict.value, "because": check.because}
                for check in self.export.checks
            ],
            "content": _text(message.record.content),
            "proposal": dict(self._revision()),
            "receipt": dict(_said(message.receipt)),
            "capability": dict(_said(message.trail.capability)),
            "validation": dict(_said(message.trail.validation_receipt)),
            "decision": dict(_said(message.trail.decision_receipt)),
            "upstream_proof": _upstream_proof(message.trail),
            "approvals": [
                {
                    "approval_reference": it.approval_reference,
                    "verdict": _verdict(it.verdict),
                    "decided_by": _name(it.decided_by) if it.HasField("decided_by") else None,
                    "decided_by_kind": _decider_kind(it),
                    "policies": list(it.determining_policies),
                    "note": it.note,
                    "decide_time": _time(it.decide_time),
                    "expire_time": _time(it.expire_time),
                }
                for it in message.trail.approvals
            ],
            "citations": [
                {
                    "citation_id": it.citation_id,
                    "citing_kind": it.citing_kind,
                    "citing_ref": it.citing_ref,
                    "cited_by": _name(it.cited_by),
                    "create_time": _time(it.create_time),
                }
                for it in message.trail.citations
            ],
            "revoke_time": _optional(message.trail, "revoke_time"),
            "revoke_note": message.trail.revoke_note,
            "superseded_by_record_id": message.trail.superseded_by_record_id,
            "supersede_time": _optional(message.trail, "supersede_time"),
        }

    def _origin(self) -> Iterator[tuple[str, str]]:
        record, revision = self.export.message.record, self._revision()
        kind = f", {_article(str(revision['proposer_kind']))}" if "proposer_kind" in revision else ""
        yield "proposer", f"{_name(record.proposer)}{kind}; its word counts as {self.export.record.provenance}"
        if "subject" in revision:
            yield "through", ", ".join(map(_reference, _list(revision, "actor_chain")))
            yield "in name of", f"{_reference(revision['subject'])}, the subject of a grant"
        if "create_time" in revision:
            yield "observed", str(revision["create_time"])
        if record.proposal_id:
            yield "proposal", f"{record.proposal_id}, revision {record.proposal_revision}"
        yield from _several("source", record.source_refs)
        yield from _several("about", record.subject_refs)
        yield from _several("evidence", record.evidence_digests)
        if record.supersedes_record_id:
            yield "corrects", record.supersedes_record_id

    def _permission(self) -> Iterator[tuple[str, str]]:
        record, trail = self.export.message.record, self.export.message.trail
        if not record.validated:
            yield "by nobody", f"written without validation, as the mode allowed, {_time(record.create_time)}"
        validation, decision = _said(trail.validation_receipt), _said(trail.decision_receipt)
        capability, receipt = _said(trail.capability), _said(self.export.message.receipt)
        if validation:
            profile = f"{validation.get('validator_profile')} {validation.get('validator_profile_version')}"
            yield "validated", f"{validation.get('outcome')} by {profile}, {validation.get('validate_time')}"
            yield from _several("findings", _findings(validation))
        if decision:
            policies = ", ".join(map(str, _list(decision, "determining_policies"))) or "no policy"
            yield "decided", f"{decision.get('outcome')} by {policies}, {decision.get('decide_time')}"
            yield "policy", str(decision.get("policy_version"))
            yield from self._quorum(decision)
        yield from _several("reviewed", map(_approval, trail.approvals))
        if capability:
            yield "capability", f"{capability.get('capability_id')}, until {capability.get('expire_time')}"
            if capability.get("grant_digest"):
                yield "by grant", str(capability["grant_digest"])
            yield "holder", _reference(capability.get("holder"))
        if receipt:
            yield "committed", f"{receipt.get('commit_time')}, receipt {receipt.get('receipt_id')}"
        if trail.HasField("upstream_proof"):
            yield "proven by", f"an upstream envelope, {trail.upstream_proof.envelope_digest}"

    def _quorum(self, decision: Says) -> Iterator[tuple[str, str]]:
        """How many persons policy wanted, and whose approvals the decision rests on."""
        if needed := decision.get("persons_needed"):
            by = {it.approval_reference: _name(it.decided_by) for it in self.export.message.trail.approvals}
            named = (by.get(str(it), str(it)) for it in _list(decision, "approval_references"))
            yield "persons", f"{needed} wanted; it rests on {', '.join(named)}"

    def _costs(self) -> Rows:
        costs = self.export.message.record.costs
        rows = [(it.stage, f"{_dollars(it.usd_micros)}, {_tokens(it)} of {it.model or 'no model'}") for it in costs]
        if len(costs) > 1:
            tokens = sum(it.input_tokens + it.output_tokens for it in costs)
            rows.append(("in all", f"{_dollars(sum(it.usd_micros for it in costs))}, {tokens:,} tokens"))
        return rows or [("nothing", "no cost was told")]

    def _citations(self) -> Iterator[tuple[str, str]]:
        trail = self.export.message.trail
        yield from _several(
            "",
            [
                f"{it.citing_kind} {it.citing_ref}, told by {_name(it.cited_by)}, {_time(it.create_time)}"
                for it in trail.citations
            ],
        )
        if trail.has_more_citations:
            yield "", "… and more: `authority call ListCitations`"
        elif not trail.citations:
            yield "", "nobody yet"

    def _fate(self) -> Iterator[tuple[str, str]]:
        record, trail = self.export.message.record, self.export.message.trail
        if trail.HasField("revoke_time"):
            yield "revoked", f"{_time(trail.revoke_time)}{_noted(trail.revoke_note)}"
        if trail.superseded_by_record_id:
            yield "replaced", f"by {trail.superseded_by_record_id}, {_optional(trail, 'supersede_time')}"
        if record.HasField("expire_time"):
            yield "expires", _time(record.expire_time)
        if record.HasField("valid_from_time") or record.HasField("valid_until_time"):
            since, until = _optional(record, "valid_from_time"), _optional(record, "valid_until_time")
            yield "valid", f"from {since or 'ever'} to {until or 'ever'}"
        yield "visible", _shown_to(self.export.record.visibility, record.visibility_scope)

    def _revision(self) -> Says:
        """What the committed revision says: it comes first."""
        for revision in self.export.message.trail.revisions:
            return says(revision.payload_type, revision.payload)
        return {}


def _upstream_proof(trail: Message) -> Json:
    """The envelope that proved the holder, as it was presented; None where an Invocation or a certificate did."""
    if not trail.HasField("upstream_proof"):
        return None
    proof = trail.upstream_proof
    return {"envelope_json": proof.envelope_json, "envelope_digest": proof.envelope_digest, "key_id": proof.key_id}


def _said(statement: Message) -> Says:
    return says(statement.payload_type, statement.payload)


def _content(export: RecordExport) -> Rows:
    content = export.message.record.content
    text = _text(content)
    digest = ("digest", export.record.content_digest)
    if text is None:
        return [("", f"{len(content):,} bytes of {export.record.media_type}"), digest]
    shown = text[:_SHOWN_CHARACTERS]
    rows = [("", printable(line)) for line in shown.splitlines() or [""]]
    if len(shown) < len(text):
        rows.append(("", f"… {len(content):,} bytes in all"))
    return [*rows, digest]


def _text(content: bytes) -> str | None:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _several(label: str, values: Iterable[object]) -> Iterator[tuple[str, str]]:
    found = [printable(str(value)) for value in values]
    for number, value in enumerate(found[:_SHOWN_ITEMS]):
        yield label if number == 0 else "", value
    if len(found) > _SHOWN_ITEMS:
        yield "", f"… and {len(found) - _SHOWN_ITEMS} more (--json)"


def _findings(validation: Says) -> Iterator[str]:
    """Those that did not pass, each by its reason; and how many did."""
    found = [it for it in _list(validation, "findings") if isinstance(it, dict)]
    passed = [str(it.get("validator")) for it in found if it.get("outcome") == "pass"]
    for it in found:
        if it.get("outcome") != "pass":
            yield f"{it.get('validator')}: {it.get('outcome')}, {it.get('reason')}"
    if passed:
        yield f"passed {', '.join(passed)}"


def _approval(approval: Message) -> str:
    when = _time(approval.decide_time)
    if not approval.HasField("decided_by"):
        return f"allowed without a person by {', '.join(approval.determining_policies)} ({AUTO_APPROVED}), {when}"
    who = _name(approval.decided_by)
    return f"{_verdict(approval.verdict)} by {who}, {when}{_noted(approval.note)}"


def _decider_kind(approval: Message) -> str:
    """As what was decided: by a person as a user or admin, or by policy alone."""
    return {1: "user", 2: "admin", 3: AUTO_APPROVED}.get(approval.decided_by_kind, "")


def _verdict(number: int) -> str:
    """What the person did."""
    did = {1: "approved", 2: "rejected", 3: "asked for changes", 4: "taken back", 5: "adopted"}
    return did.get(number, f"verdict {number}")


def _noted(note: str) -> str:
    return f": {' '.join(note.split())}" if note.strip() else ""


def _list(said: Says, name: str) -> list[Described]:
    value = said.get(name, [])
    return value if isinstance(value, list) else []


def _shown_to(visibility: str, scope: str) -> str:
    if visibility in ("channel", "team"):
        return f"to members of {visibility} {scope}"
    return "to the workspace" if visibility == "workspace" else "to its proposer alone"


def _reference(value: "Described | None") -> str:
    return f"{value.get('namespace')}|{value.get('id')}" if isinstance(value, dict) else ""


def _name(ref: Message) -> str:
    return f"{ref.namespace}|{ref.id}"


def _optional(message: Message, field: str) -> str | None:
    return _time(getattr(message, field)) if message.HasField(field) else None


def _time(timestamp: Message) -> str:
    instant: datetime = timestamp.ToDatetime(tzinfo=UTC)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _tokens(cost: Message) -> str:
    return f"{cost.input_tokens:,} + {cost.output_tokens:,} tokens"


def _dollars(micros: int) -> str:
    return f"${micros / _MICROS:,.6f}"


def _article(word: str) -> str:
    return f"{'an' if word[:1] in 'aeio' else 'a'} {word}"
