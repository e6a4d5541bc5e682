"""What is refused of the shape of a request, and how the place is named (semantics §2, §3, §10)."""

import re
from dataclasses import dataclass

import pytest
from google.protobuf import text_format
from google.protobuf.message import Message

from authority.domain.reasons import Reason
from authority.rpc.methods import METHODS
from authority.rpc.refused import Refused
from tests.unit.rpc.requests import RPCS

# RPC · what is changed in a good request, as text format merged into it, or `-field` to take it out · what is refused.
SPOILED = r"""
IssueCapability   | request_id: ""                                  | MALFORMED request_id
IssueCapability   | request_id: "r1 "                               | MALFORMED request_id
IssueCapability   | request_id: "r1\n"                              | MALFORMED request_id
IssueCapability   | request_id: "%(129)"                            | LIMIT_EXCEEDED request_id
IssueCapability   | proposal_id: ""                                 | MALFORMED proposal_id
IssueCapability   | proposal_id: "0190F3A0-0000-7000-8000-000000000001" | MALFORMED proposal_id
IssueCapability   | proposal_id: "0190f3a0-0000-7000-8000-000000000001\n" | MALFORMED proposal_id
IssueCapability   | proposal_revision: 0                            | MALFORMED proposal_revision
IssueCapability   | proposal_revision: -2147483648                  | MALFORMED proposal_revision
IssueCapability   | -holder                                         | MALFORMED holder
IssueCapability   | holder { namespace: "" }                        | MALFORMED holder.namespace
IssueCapability   | holder { id: "" }                               | MALFORMED holder.id
IssueCapability   | holder { id: "%(257)" }                         | LIMIT_EXCEEDED holder.id
IssueCapability   | holder_key_id: ""                               | MALFORMED holder_key_id
IssueCapability   | holder_key_id: "sha256:00"                      | MALFORMED holder_key_id
IssueCapability   | audience: ""                                    | MALFORMED audience
IssueCapability   | commit_idempotency_key: ""                      | MALFORMED commit_idempotency_key
IssueCapability   | commit_idempotency_key: "%(129)"                | LIMIT_EXCEEDED commit_idempotency_key
IssueCapability   | -validation_receipt                             | MALFORMED validation_receipt
IssueCapability   | -decision_receipt                               | MALFORMED decision_receipt
IssueCapability   | decision_receipt { payload_type: "" }           | MALFORMED decision_receipt.payload_type
IssueCapability   | grant { payload: "" }                           | MALFORMED grant.payload
IssueCapability   | -grant                                          | MALFORMED grant_ancestors
IssueCapability   | grant_ancestors {}                              | MALFORMED grant_ancestors[1].payload
IssueGrant        | -subject                                        | MALFORMED subject
IssueGrant        | -holder                                         | MALFORMED holder
IssueGrant        | holder_key_id: "sha256:00"                      | MALFORMED holder_key_id
IssueGrant        | -terms                                          | MALFORMED terms
IssueGrant        | terms { audiences { names: "a/*" } }            | MALFORMED terms.audiences.names[1]
IssueGrant        | terms { actions { names: "policy.promote" } }   | MALFORMED terms.actions.names[1]
IssueGrant        | terms { resources { names: "*" } }              | MALFORMED terms.resources.names[1]
IssueGrant        | terms { resources { names: "a//b" } }           | MALFORMED terms.resources.names[1]
IssueGrant        | terms { tools { names: "a/../b" } }             | MALFORMED terms.tools.names[1]
IssueGrant        | terms { models { names: "a/*" } }               | MALFORMED terms.models.names
IssueGrant        | terms { providers { names: "%(257)" } }         | LIMIT_EXCEEDED terms.providers.names[1]
IssueGrant        | terms { uses { most: -1 } }                     | MALFORMED terms.uses.most
IssueGrant        | terms { delegation_depth: 9 }                   | LIMIT_EXCEEDED terms.delegation_depth
IssueGrant        | lifetime { seconds: 0 nanos: 999000000 }        | MALFORMED lifetime
IssueGrant        | lifetime { seconds: 2592000 nanos: 1000000 }    | LIMIT_EXCEEDED lifetime
ExchangeGrant     | -grant                                          | MALFORMED grant
ExchangeGrant     | grant_ancestors { payload: "x" }                | MALFORMED grant_ancestors[1].signature
ExchangeGrant     | lifetime { seconds: 2592001 nanos: 0 }          | LIMIT_EXCEEDED lifetime
RevokeGrant       | grant_digest: ""                                | MALFORMED grant_digest
RevokeGrant       | grant_ancestors {}                              | MALFORMED grant_ancestors
GetGrant          | grant_digest: "sha256:"                         | MALFORMED grant_digest
VerifyGrant       | -grant                                          | MALFORMED grant
VerifyGrant       | grant { payload: "" }                           | MALFORMED grant.payload
VerifyGrant       | grant_ancestors {}                              | MALFORMED grant_ancestors[1].payload
VerifyGrant       | use { action: "" }                              | MALFORMED use.action
VerifyGrant       | use { action: "memory.*" }                      | MALFORMED use.action
VerifyGrant       | use { audience: "" }                            | MALFORMED use.audience
VerifyGrant       | use { resource: "docs/*" }                      | MALFORMED use.resource
VerifyGrant       | use { write_memory_namespace: "a\0b" }          | MALFORMED use.write_memory_namespace
VerifyGrant       | use { model: "%(257)" }                         | LIMIT_EXCEEDED use.model
VerifyGrant       | use { tokens: -1 }                              | MALFORMED use.tokens
IssueCapability   | lifetime { seconds: 0 nanos: 999000000 }        | MALFORMED lifetime
IssueCapability   | lifetime { seconds: -1 }                        | MALFORMED lifetime
IssueCapability   | lifetime { seconds: 86400 nanos: 1000000 }      | LIMIT_EXCEEDED lifetime
IssueCapability   | lifetime { seconds: 900 nanos: 1 }              | MALFORMED lifetime
IssueCapability   | lifetime { seconds: 900 nanos: 1000000000 }     | MALFORMED lifetime
BatchIssueCapabilities | -requests                              | MALFORMED requests
BatchCommitValidated   | -requests                              | MALFORMED requests
VerifyCapability  | -capability                                     | MALFORMED capability
VerifyCapability  | presentation { content: "" }                    | MALFORMED presentation.content
CommitValidated   | -capability                                     | MALFORMED capability
CommitValidated   | capability { payload: "" }                      | MALFORMED capability.payload
CommitValidated   | capability { payload_type: "a\0b" }             | MALFORMED capability.payload_type
CommitValidated   | capability { signature { key_id: "" } }         | MALFORMED capability.signature.key_id
CommitValidated   | capability { signature { signature: "short" } } | MALFORMED capability.signature.signature
CommitValidated   | -presentation                                   | MALFORMED presentation
CommitValidated   | presentation { media_type: "" }                 | MALFORMED presentation.media_type
CommitValidated   | presentation { media_type: "text/html" }        | MALFORMED presentation.media_type
CommitValidated   | presentation { media_type: "text/plain\n" }     | MALFORMED presentation.media_type
CommitValidated   | presentation { evidence_digests: "" }           | MALFORMED presentation.evidence_digests[2]
CommitValidated   | presentation { evidence_digests: "sha256:%(63)" } | MALFORMED presentation.evidence_digests[2]
CommitValidated   | presentation { evidence_digests: "sha256:%(65)" } | MALFORMED presentation.evidence_digests[2]
CommitValidated   | presentation { evidence_digests: "sha256:%(63)F" } | MALFORMED presentation.evidence_digests[2]
CommitValidated   | presentation { evidence_digests: "sha256:%(64)\n" } | MALFORMED presentation.evidence_digests[2]
CommitValidated   | presentation { evidence_digests: " sha256:%(64)" } | MALFORMED presentation.evidence_digests[2]
CommitValidated   | presentation { commit_idempotency_key: "" }     | MALFORMED presentation.commit_idempotency_key
CommitValidated | presentation { commit_idempotency_key: "%(129)" } | LIMIT_EXCEEDED presentation.commit_idempotency_key
CommitValidated   | upstream_envelope_json: "%(65537)"              | LIMIT_EXCEEDED upstream_envelope_json
RevokeCapability  | request_id: ""                                  | MALFORMED request_id
RevokeCapability  | request_id: "r1\n"                              | MALFORMED request_id
RevokeCapability  | request_id: "%(129)"                            | LIMIT_EXCEEDED request_id
RevokeCapability  | capability_id: ""                               | MALFORMED capability_id
RevokeCapability  | capability_id: "*"                              | MALFORMED capability_id
RevokeCapability  | capability_id: "0190F3A0-0000-7000-8000-000000000001" | MALFORMED capability_id
RevokeCapability  | capability_id: " 0190f3a0-0000-7000-8000-000000000001" | MALFORMED capability_id
RevokeCapability  | capability_id: "0190f3a0-0000-7000-8000-000000000001\0" | MALFORMED capability_id
GetCommitReceipt  | -receipt_id                                     | MALFORMED by
GetCommitReceipt  | receipt_id: ""                                  | MALFORMED receipt_id
GetCommitReceipt  | record_id: "1"                                  | MALFORMED record_id
GetCommitReceipt  | commit_idempotency_key: ""                      | MALFORMED commit_idempotency_key
CreateProposal    | request_id: ""                                  | MALFORMED request_id
CreateProposal    | proposal_id: "x"                                | MALFORMED proposal_id
CreateProposal    | memory_namespace: ""                            | MALFORMED memory_namespace
CreateProposal    | memory_namespace: "*"                           | MALFORMED memory_namespace
CreateProposal    | memory_namespace: " "                           | MALFORMED memory_namespace
CreateProposal    | memory_namespace: "%(257)"                      | LIMIT_EXCEEDED memory_namespace
CreateProposal    | memory_type: MEMORY_TYPE_UNSPECIFIED            | MALFORMED memory_type
CreateProposal    | memory_type: 77                                 | MALFORMED memory_type
CreateProposal    | content: ""                                     | MALFORMED content
CreateProposal    | media_type: "application/json; charset=utf-8"   | MALFORMED media_type
CreateProposal    | source_refs: ""                                 | MALFORMED source_refs[1]
CreateProposal    | source_refs: "a\0b"                             | MALFORMED source_refs[1]
CreateProposal    | source_refs: "a\u200bb"                         | MALFORMED source_refs[1]
CreateProposal    | subject_refs: "%(513)"                          | LIMIT_EXCEEDED subject_refs[1]
CreateProposal    | evidence_digests: "%(64)"                       | MALFORMED evidence_digests[2]
CreateProposal    | validator_profile: " "                          | MALFORMED validator_profile
CreateProposal    | visibility: 99                                  | MALFORMED visibility
CreateProposal    | visibility_scope: "*"                           | MALFORMED visibility_scope
CreateProposal    | valid_from_time { nanos: 1 }                    | MALFORMED valid_from_time
CreateProposal    | valid_from_time { nanos: -1000000 }             | MALFORMED valid_from_time
CreateProposal    | valid_from_time { seconds: -1 }                 | MALFORMED valid_from_time
CreateProposal    | valid_from_time { seconds: 2000 }               | MALFORMED valid_until_time
CreateProposal    | record_expire_time { seconds: 253402300800 }    | MALFORMED record_expire_time
CreateProposal    | record_expire_time { seconds: 9223372036854775807 } | MALFORMED record_expire_time
CreateProposal    | correlation_id: "trace 1"                       | MALFORMED correlation_id
CreateProposal    | costs { stage: "" model: "m" }                  | MALFORMED costs[1].stage
CreateProposal    | costs { stage: "critique" model: "\n" }         | MALFORMED costs[1].model
CreateProposal    | costs { stage: "%(129)" }                       | LIMIT_EXCEEDED costs[1].stage
CreateProposal    | costs { stage: "s" input_tokens: -1 }           | MALFORMED costs[1].input_tokens
CreateProposal    | costs { stage: "s" output_tokens: -9223372036854775808 } | MALFORMED costs[1].output_tokens
CreateProposal    | costs { stage: "s" usd_micros: -1 }             | MALFORMED costs[1].usd_micros
GetProposal       | proposal_id: "*"                                | MALFORMED proposal_id
GetProposal       | revision: -1                                    | MALFORMED revision
ValidateProposal  | request_id: "\u200br1"                          | MALFORMED request_id
ValidateProposal  | proposal_id: ""                                 | MALFORMED proposal_id
ValidateProposal  | revision: 0                                     | MALFORMED revision
DecideProposal    | revision: 0                                     | MALFORMED revision
DecideProposal    | proposal_digest: ""                             | MALFORMED proposal_digest
DecideProposal    | proposal_digest: "SHA256:%(64)"                 | MALFORMED proposal_digest
DecideProposal    | verdict: VERDICT_UNSPECIFIED                    | MALFORMED verdict
DecideProposal    | verdict: 6                                      | MALFORMED verdict
DecideProposal    | max_uses: -1                                    | MALFORMED max_uses
DecideProposal    | max_uses: 1001                                  | LIMIT_EXCEEDED max_uses
DecideProposal    | holder { namespace: "n" }                       | MALFORMED holder.id
DecideProposal    | verdict: VERDICT_ADOPT max_uses: 1              | MALFORMED max_uses
DecideProposal    | verdict: VERDICT_REJECT holder {}               | MALFORMED holder
DecideProposal    | note: "a\0b"                                    | MALFORMED note
DecideProposal    | note: "%(1025)"                                 | LIMIT_EXCEEDED note
DecideProposal    | expire_time { nanos: 500 }                      | MALFORMED expire_time
EvaluatePolicy    | proposal_revision: 0                            | MALFORMED proposal_revision
EvaluatePolicy    | holder { id: "a b" }                            | MALFORMED holder.id
EvaluatePolicy    | external_decisions {}                           | MALFORMED external_decisions[1].payload
EvaluatePolicy    | external_decisions { payload: "x" }             | MALFORMED external_decisions[1].signature
CreateProposal    | expire_time { nanos: 1 }                        | MALFORMED expire_time
CreateProposal    | expire_time { seconds: 253402300800 }           | MALFORMED expire_time
CreateProposal    | grant_ancestors { payload: "x" }                | MALFORMED grant_ancestors
WithdrawProposal  | request_id: ""                                  | MALFORMED request_id
WithdrawProposal  | proposal_id: ""                                 | MALFORMED proposal_id
WithdrawProposal  | proposal_id: "*"                                | MALFORMED proposal_id
PutEvidence       | request_id: ""                                  | MALFORMED request_id
PutEvidence       | content: ""                                     | MALFORMED content
PutEvidence       | media_type: ""                                  | MALFORMED media_type
PutEvidence       | media_type: "text/plain; charset=utf-8"         | MALFORMED media_type
PutEvidence       | media_type: "Text/Plain"                        | MALFORMED media_type
PutEvidence       | reference { uri: "" }                           | MALFORMED reference.uri
PutEvidence       | reference { uri: "/etc/passwd" }                | MALFORMED reference.uri
PutEvidence       | reference { uri: "s3://logs/a b" }              | MALFORMED reference.uri
PutEvidence       | reference { uri: "https://u:p@logs/7" }         | MALFORMED reference.uri
PutEvidence       | reference { uri: "s3://%(2049)" }               | LIMIT_EXCEEDED reference.uri
PutEvidence       | reference { digest: "sha256:*" }                | MALFORMED reference.digest
PutEvidence       | visibility: 99                                  | MALFORMED visibility
PutEvidence       | visibility_scope: "*"                           | MALFORMED visibility_scope
PutEvidence       | claim { payload: "" }                           | MALFORMED claim.payload
ReadEvidence      | digest: ""                                      | MALFORMED digest
ReadEvidence      | digest: "*"                                     | MALFORMED digest
ReadEvidence      | grant_ancestors { payload: "x" }                | MALFORMED grant_ancestors
ResolveKey        | key_id: ""                                      | MALFORMED key_id
ResolveKey        | key_id: "k 1"                                   | MALFORMED key_id
ResolveKey        | key_id: "k1\n"                                  | MALFORMED key_id
ResolveKey        | key_id: "*"                                     | MALFORMED key_id
ResolveKey        | key_id: "%(257)"                                | LIMIT_EXCEEDED key_id
ReserveReplay     | request_id: ""                                  | MALFORMED request_id
ReserveReplay     | request_id: "%(129)"                            | LIMIT_EXCEEDED request_id
ReserveReplay     | replay_key: ""                                  | MALFORMED replay_key
ReserveReplay     | replay_key: "%(4097)"                           | LIMIT_EXCEEDED replay_key
ReserveReplay     | envelope_digest: ""                             | MALFORMED envelope_digest
ReserveReplay     | envelope_digest: "sha256:*"                     | MALFORMED envelope_digest
ReserveReplay     | expire_time { nanos: 1 }                        | MALFORMED expire_time
ReserveReplay     | expire_time { seconds: 253402300800 }           | MALFORMED expire_time
VerifyActionEnvelope | envelope_json: ""                            | MALFORMED envelope_json
VerifyActionEnvelope | envelope_json: "%(65537)"                    | LIMIT_EXCEEDED envelope_json
VerifyActionEnvelope | key_id: ""                                   | MALFORMED key_id
VerifyActionEnvelope | key_id: "sha256:*"                           | MALFORMED key_id
GetPolicyVersion  | policy_version: ""                              | MALFORMED policy_version
GetPolicyVersion  | policy_version: "sha256:*"                      | MALFORMED policy_version
RevokeRecord      | request_id: ""                                  | MALFORMED request_id
RevokeRecord      | record_id: ""                                   | MALFORMED record_id
RevokeRecord      | record_id: "*"                                  | MALFORMED record_id
RevokeRecord      | note: "a\0b"                                    | MALFORMED note
RevokeRecord      | note: "%(1025)"                                 | LIMIT_EXCEEDED note
WriteUnvalidatedRecord | request_id: ""                             | MALFORMED request_id
WriteUnvalidatedRecord | tenant { namespace: "" }                   | MALFORMED tenant.namespace
WriteUnvalidatedRecord | tenant { id: "*" }                         | MALFORMED tenant.id
WriteUnvalidatedRecord | memory_namespace: ""                       | MALFORMED memory_namespace
WriteUnvalidatedRecord | memory_type: MEMORY_TYPE_UNSPECIFIED       | MALFORMED memory_type
WriteUnvalidatedRecord | content: ""                                | MALFORMED content
WriteUnvalidatedRecord | media_type: "text/html"                    | MALFORMED media_type
WriteUnvalidatedRecord | source_refs: ""                            | MALFORMED source_refs[1]
WriteUnvalidatedRecord | valid_from_time { seconds: 2000 }          | MALFORMED valid_until_time
WriteUnvalidatedRecord | costs { stage: "s" usd_micros: -1 }        | MALFORMED costs[1].usd_micros
CorrectRecord     | request_id: ""                                  | MALFORMED request_id
CorrectRecord     | record_id: ""                                   | MALFORMED record_id
CorrectRecord     | memory_type: 99                                 | MALFORMED memory_type
CorrectRecord     | content: ""                                     | MALFORMED content
CorrectRecord     | media_type: "text/html"                         | MALFORMED media_type
CorrectRecord     | source_refs: ""                                 | MALFORMED source_refs[1]
CorrectRecord     | subject_refs: "%(513)"                          | LIMIT_EXCEEDED subject_refs[1]
CorrectRecord     | evidence_digests: "%(64)"                       | MALFORMED evidence_digests[2]
CorrectRecord     | validator_profile: " "                          | MALFORMED validator_profile
CorrectRecord     | visibility: 99                                  | MALFORMED visibility
CorrectRecord     | visibility_scope: "crew "                       | MALFORMED visibility_scope
CorrectRecord     | valid_from_time { nanos: 1 }                    | MALFORMED valid_from_time
CorrectRecord     | valid_from_time { seconds: 2000 }               | MALFORMED valid_until_time
CorrectRecord     | record_expire_time { seconds: 253402300800 }    | MALFORMED record_expire_time
CorrectRecord     | correlation_id: "trace 1"                       | MALFORMED correlation_id
CorrectRecord     | costs { stage: "s" usd_micros: -1 }             | MALFORMED costs[1].usd_micros
ListMemoryRecords | memory_namespace: ""                            | MALFORMED memory_namespace
ListMemoryRecords | page_size: -1                                   | MALFORMED page_size
ListMemoryRecords | page_size: 201                                  | LIMIT_EXCEEDED page_size
ListMemoryRecords | page_token: "%(513)"                           | LIMIT_EXCEEDED page_token
RecallRecords     | memory_namespace: ""                            | MALFORMED memory_namespace
RecallRecords     | memory_namespace: "*"                           | MALFORMED memory_namespace
RecallRecords     | memory_namespace: " "                           | MALFORMED memory_namespace
RecallRecords     | query: ""                                       | MALFORMED query
RecallRecords     | query: "a\0b"                                   | MALFORMED query
RecallRecords     | query: "%(1025)"                                | LIMIT_EXCEEDED query
RecallRecords     | memory_types: 0                                 | MALFORMED memory_types[1]
RecallRecords     | memory_types: 99                                | MALFORMED memory_types[1]
RecallRecords     | provenances: 99                                 | MALFORMED provenances[1]
RecallRecords     | source_refs: ""                                 | MALFORMED source_refs[1]
RecallRecords     | subject_refs: "a\0b"                            | MALFORMED subject_refs[1]
RecallRecords     | created_after_time { nanos: 1 }                 | MALFORMED created_after_time
RecallRecords     | created_before_time { seconds: 1000 }           | MALFORMED created_before_time
RecallRecords     | page_size: -1                                   | MALFORMED page_size
RecallRecords     | page_size: 101                                  | LIMIT_EXCEEDED page_size
RecallRecords     | page_token: "%(513)"                            | LIMIT_EXCEEDED page_token
RecallRecords     | at_least_as_fresh_as: "%(513)"                  | LIMIT_EXCEEDED at_least_as_fresh_as
ExportRecord      | record_id: "*"                                  | MALFORMED record_id
ExportRecord      | form: FORM_UNSPECIFIED                          | MALFORMED form
ExportRecord      | form: 3                                         | MALFORMED form
RegisterCitation  | request_id: ""                                  | MALFORMED request_id
RegisterCitation  | record_id: "*"                                  | MALFORMED record_id
RegisterCitation  | citing_kind: ""                                 | MALFORMED citing_kind
RegisterCitation  | citing_kind: "%(129)"                           | LIMIT_EXCEEDED citing_kind
RegisterCitation  | citing_ref: ""                                  | MALFORMED citing_ref
RegisterCitation  | citing_ref: "a\nb"                              | MALFORMED citing_ref
RegisterCitation  | citing_ref: "%(513)"                            | LIMIT_EXCEEDED citing_ref
ListCitations     | -content                                        | MALFORMED cited
ListCitations     | record_id: "*"                                  | MALFORMED record_id
ListCitations     | content { memory_namespace: "" }                | MALFORMED content.memory_namespace
ListCitations     | content { content_digest: "sha256:00" }         | MALFORMED content.content_digest
ListCitations     | page_size: 201                                  | LIMIT_EXCEEDED page_size
ListCitations     | page_token: "%(513)"                            | LIMIT_EXCEEDED page_token
ListProposals     | state: 99                                       | MALFORMED state
ListProposals     | page_size: -1                                   | MALFORMED page_size
ListProposals     | page_size: 201                                  | LIMIT_EXCEEDED page_size
ListCommitReceipts | page_size: 201                                 | LIMIT_EXCEEDED page_size
ListCommitReceipts | page_token: "%(513)"                           | LIMIT_EXCEEDED page_token
ListAuditEvents   | filter { kind: "%(257)" }                       | LIMIT_EXCEEDED filter.kind
ListAuditEvents   | filter { actor { namespace: "" } }              | MALFORMED filter.actor.namespace
ListAuditEvents   | filter { subject: "a\0b" }                      | MALFORMED filter.subject
ListAuditEvents   | filter { subject: "%(514)" }                    | LIMIT_EXCEEDED filter.subject
ListAuditEvents   | start_time { nanos: 1 }                         | MALFORMED start_time
ListAuditEvents   | end_time { seconds: 1000 }                      | MALFORMED end_time
ListAuditEvents   | page_size: 201                                  | LIMIT_EXCEEDED page_size
ListAuditEvents   | page_token: "%(513)"                            | LIMIT_EXCEEDED page_token
WatchAuditEvents  | filter { actor { id: "*" } }                    | MALFORMED filter.actor.id
WatchAuditEvents  | filter { subject: "a\nb" }                      | MALFORMED filter.subject
WatchAuditEvents  | cursor: "%(32769)"                              | LIMIT_EXCEEDED cursor
WatchAuditEvents  | from_beginning: true                            | MALFORMED from_beginning
WatchRevocations  | cursor: -1                                      | MALFORMED cursor
WatchRevocations  | cursor: -9223372036854775808                    | MALFORMED cursor
"""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table."""

    rpc: str
    change: str
    expected: str


def _lines(table: str) -> list[Line]:
    return [Line(*(part.strip() for part in line.rsplit("|", 2))) for line in table.strip().splitlines()]


def _spoil(request: Message, change: str) -> None:
    if change.startswith("-"):
        request.ClearField(change[1:])
        return
    # %(n) stands for n letters, which would make the table unreadable.
    change = re.sub(r"%\((\d+)\)", lambda match: "f" * int(match[1]), change)
    text_format.Merge(change, request)


@pytest.mark.parametrize("line", _lines(SPOILED), ids=lambda line: f"{line.rpc}: {line.change}")
def test_a09_c15_g01_a_spoiled_field_is_refused_by_its_path(line: Line) -> None:
    # Given a good request with one thing spoiled.
    rpc = RPCS[line.rpc]
    request = rpc.copy()
    _spoil(request, line.change)

    # When it is decoded, then the reason and the path of the field are told, and nothing of the value.
    with pytest.raises(Refused) as refused:
        rpc.decode(request)
    facts = refused.value.refusal.facts
    assert f"{refused.value.refusal.reason.name} {facts['field']}" == line.expected
    assert facts["problem"]


def test_every_rpc_whose_request_has_a_shape_is_here() -> None:
    # A stream's items have the shape of commits, and are tried with their stream; GetKeySet asks for nothing.
    assert {*RPCS, "StreamCommitValidated", "GetKeySet"} == {method.rpartition("/")[2] for method in METHODS}


@pytest.mark.parametrize("name", RPCS)
def test_a_good_request_is_decoded(name: str) -> None:
    assert RPCS[name].decode(RPCS[name].copy())


DIGESTS = [f"sha256:{n:064x}" for n in range(65)]
BULKY: dict[str, object] = {
    "CommitValidated presentation.content": b"x" * (1024 * 1024 + 1),
    "CommitValidated presentation.evidence_digests": DIGESTS,
    "CommitValidated capability.payload": b"x" * (32 * 1024 + 1),
    "RecallRecords memory_types": [1] * 65,
    "RecallRecords provenances": [1] * 65,
    "RecallRecords source_refs": ["ref"] * 65,
    "RecallRecords subject_refs": ["ref"] * 65,
} | {
    f"{rpc} {field}": value
    for rpc in ("CreateProposal", "CorrectRecord")
    for field, value in {
        "content": b"x" * (1024 * 1024 + 1),
        "source_refs": ["ref"] * 65,
        "subject_refs": ["ref"] * 65,
        "evidence_digests": DIGESTS,
        "costs": 33,
    }.items()
}
"""RPC and field · what is one more than may be there."""


def _put(request: Message, path: str, value: object) -> None:
    *above, last = path.split(".")
    for name in above:
        request = getattr(request, name)
    if isinstance(value, bytes):
        setattr(request, last, value)
        return
    items = getattr(request, last)
    del items[:]
    if isinstance(value, int):
        for _ in range(value):
            items.add(stage="extraction")
    else:
        items.extend(value)


@pytest.mark.parametrize("place", BULKY)
def test_d16_one_over_a_limit_is_refused_as_such(place: str) -> None:
    name, field = place.split()
    request = RPCS[name].copy()
    _put(request, field, BULKY[place])

    with pytest.raises(Refused) as refused:
        RPCS[name].decode(request)

    assert refused.value.refusal.reason is Reason.LIMIT_EXCEEDED
    assert refused.value.refusal.facts["field"] == field


LARGEST: dict[str, object] = {
    "CommitValidated presentation.content": b"x" * (1024 * 1024),
    "CommitValidated capability.payload": b"x" * (32 * 1024),
    "RecallRecords memory_types": [1] * 64,
    "RecallRecords source_refs": ["r" * 512] * 64,
} | {
    f"{rpc} {field}": value
    for rpc in ("CreateProposal", "CorrectRecord")
    for field, value in {
        "content": b"x" * (1024 * 1024),
        "source_refs": ["r" * 512] * 64,
        "evidence_digests": DIGESTS[:64],
        "costs": 32,
    }.items()
}


@pytest.mark.parametrize("place", LARGEST)
def test_d16_exactly_the_limit_is_taken(place: str) -> None:
    name, field = place.split()
    request = RPCS[name].copy()
    _put(request, field, LARGEST[place])

    assert RPCS[name].decode(request)


def test_d10_a_repeated_evidence_digest_is_refused_and_an_order_is_kept() -> None:
    request = RPCS["CreateProposal"].copy()
    _put(request, "evidence_digests", ["sha256:" + digit * 64 for digit in "bab"])

    with pytest.raises(Refused) as refused:
        RPCS["CreateProposal"].decode(request)

    assert refused.value.refusal.facts["field"] == "evidence_digests[2]"
