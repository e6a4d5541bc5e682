"""The golden vectors of upstream envelopes as proofs of commits, over the client's reader and the authority's rule."""

from authority.domain.action_envelope import judge_envelope
from authority.domain.capability import OpenedCapability
from authority.domain.references import Instant
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from authority.signing.action_envelopes import SignedEnvelopeReader
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.statements import StatementReader
from capability_authority.offline import capability_fingerprint, parse_statement, to_wire
from capability_authority.offline.upstream import ActionEnvelopeRefused, read_signed_envelope_json
from capability_authority.v1.statements_pb2 import CommitCapability
from tests.vectors.vector_runs import GOLDEN, Vector, every

READER = StatementReader(KeyRing(KeyFolder(GOLDEN / "no-private-keys")))
"""Reads statements; the keys of issuers are not asked."""


def capability(digits: str) -> tuple[OpenedCapability, bytes]:
    """The terms, and the fingerprint of committing exactly what they bind."""
    signed = parse_statement(bytes.fromhex(digits))
    statement = Statement(signed.payload_type, signed.payload, signed.signature.key_id, signed.signature.signature)
    opened = READER.open_capability(statement)
    assert isinstance(opened, OpenedCapability)
    message = CommitCapability.FromString(signed.payload)
    fingerprint = capability_fingerprint(
        message,
        content_digest=to_wire(message.content_digest),
        media_type=message.media_type,
        evidence_digests=[to_wire(digest) for digest in message.evidence_digests],
    )
    return opened, fingerprint


def judge(vector: Vector) -> str | None:
    """As the authority does, whose registry knows one key under the names of the group."""
    group, test = vector
    opened, fingerprint = capability(group["capability"])
    reader = SignedEnvelopeReader()
    envelope = reader.read(bytes.fromhex(test["presented"]))
    if isinstance(envelope, Refusal):
        return envelope.facts["proof"]
    refusal = judge_envelope(envelope.says, opened.terms, fingerprint, Instant(test["now_ms"]))
    if refusal is not None:
        return refusal.facts["proof"]
    if envelope.key_name not in group["key_names"]:
        return "key_id"
    return None if reader.is_signed_by(envelope, bytes.fromhex(group["key"]["public_key"])) else "signature"


@every("upstream_envelopes")
def test_envelopes_prove_exactly_one_commit(vector: Vector) -> None:
    assert judge(vector) == vector.test["reason"]


@every("upstream_envelopes")
def test_every_issue_of_an_envelope_is_told(vector: Vector) -> None:
    found = read_signed_envelope_json(bytes.fromhex(vector.test["presented"]))

    issues = found.issues if isinstance(found, ActionEnvelopeRefused) else None
    told = None if issues is None else [{"path": issue.path, "code": issue.code.value} for issue in issues]

    assert told == vector.test["issues"]
