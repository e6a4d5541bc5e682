"""Domain values in which every field says something."""

from authority.domain.citation import Citation
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import (
    Cost,
    MemoryType,
    ProposalRevision,
    ProposalState,
    Provenance,
    StoredProposal,
    Visibility,
)
from authority.domain.record import MemoryRecord
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.statement import Statement

TENANT = TenantRef("acme", "t1")
PROPOSER = PrincipalRef("acme", "agent-7")
COST = Cost("extraction", "m1", 10, 20, 30)
STATEMENT = Statement("application/vnd.capability-authority.commit-receipt.v1+protobuf", b"\0payload", "sha256:k", b"s")

REVISION = ProposalRevision(
    tenant=TENANT,
    memory_namespace="notes",
    proposal_id="p-1",
    revision=3,
    proposer=PROPOSER,
    proposer_kind=PrincipalKind.AGENT,
    actor_chain=(PROPOSER,),
    provenance=Provenance.AGENT_OUTPUT,
    memory_type=MemoryType.PROCEDURE,
    content_digest=b"\x01" * 32,
    media_type="text/plain",
    source_refs=("chat/7", "chat/8"),
    subject_refs=("user:ann",),
    evidence_digests=(b"\x02" * 32, b"\x03" * 32),
    validator_profile="baseline",
    visibility=Visibility.TEAM,
    valid_from_time=Instant(1_000),
    valid_until_time=Instant(2_001),
    record_expire_time=Instant(3_002),
    correlation_id="trace-1",
    costs=(COST,),
    supersedes_record_id="r-9",
    create_time=Instant(4_003),
    visibility_scope="crew",
    expire_time=Instant(5_004),
    subject=PROPOSER,
)

PROPOSAL = StoredProposal(REVISION, b"content", b"\x04" * 32, ProposalState.APPROVED)

RECORD = MemoryRecord(
    record_id="r-1",
    tenant=TENANT,
    memory_namespace="notes",
    memory_type=MemoryType.CRITIQUE,
    provenance=Provenance.USER_CLAIM,
    content=b"content",
    content_digest=b"\x05" * 32,
    media_type="text/plain",
    proposer=PROPOSER,
    proposal_id="p-1",
    proposal_revision=3,
    receipt_id="c-1",
    source_refs=("chat/7",),
    subject_refs=("user:ann",),
    evidence_digests=(b"\x06" * 32,),
    visibility=Visibility.CHANNEL,
    valid_from_time=Instant(1_000),
    valid_until_time=Instant(2_001),
    expire_time=Instant(3_002),
    create_time=Instant(4_003),
    costs=(COST,),
    correlation_id="trace-1",
    supersedes_record_id="r-0",
    visibility_scope="port",
)

CITATION = Citation(
    citation_id="q-1",
    tenant=TENANT,
    record_id="r-1",
    memory_namespace="notes",
    content_digest=b"\x05" * 32,
    receipt_digest=b"\x07" * 32,
    cited_by=PROPOSER,
    citing_kind="answer",
    citing_ref="answer 1",
    create_time=Instant(5_004),
)
