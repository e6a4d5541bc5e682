"""One good value of every payload kind, with every field set, and digests and ids to make them of."""

import hashlib
import uuid

from authority.domain.capability import CommitCapability
from authority.domain.decision import COMMIT_ACTION, DecisionOutcome, DecisionReceipt
from authority.domain.evidence import EvidenceClaim
from authority.domain.grant import Grant
from authority.domain.identity import PrincipalKind
from authority.domain.invocation import Invocation
from authority.domain.plan import CommitReceipt
from authority.domain.proposal import Cost, MemoryType, ProposalRevision, Provenance, Visibility
from authority.domain.references import Instant, PrincipalRef, TenantRef, after
from authority.domain.validation import Finding, ValidationOutcome, ValidationReceipt
from authority.signing.codec.attestation import KeyAttestation

ISSUER = "authority.example"
TENANT = TenantRef("acme", "t1")
NAMESPACE = "team/notes"
HOLDER = PrincipalRef("services", "writer")
NOW = Instant(1_790_000_000_123)


def digest(number: int) -> bytes:
    """A digest; another number gives another one."""
    return hashlib.sha256(number.to_bytes(8, "big")).digest()


def made_id(number: int) -> str:
    """An id as the authority makes them; another number gives another one."""
    return str(uuid.UUID(int=number))


CAPABILITY = CommitCapability(
    capability_id=made_id(1),
    issuer=ISSUER,
    audience="memory.example",
    tenant=TENANT,
    memory_namespace=NAMESPACE,
    subject=PrincipalRef("agents", "a1"),
    holder=HOLDER,
    holder_key=digest(1),
    action=COMMIT_ACTION,
    proposal_id=made_id(2),
    proposal_revision=3,
    proposal_digest=digest(2),
    content_digest=digest(3),
    media_type="application/json",
    evidence_digests=(digest(4), digest(5)),
    validator_profile="baseline",
    validator_profile_version="1",
    validation_receipt_digest=digest(6),
    policy_version=digest(7),
    decision_receipt_digest=digest(8),
    approval_reference=made_id(3),
    commit_idempotency_key="commit-1",
    not_before_time=NOW,
    expire_time=after(NOW, 900_000),
    max_uses=1,
    correlation_id="corr-1",
    grant_digest=digest(9),
)

VALIDATION = ValidationReceipt(
    validation_id=made_id(4),
    issuer=ISSUER,
    tenant=TENANT,
    memory_namespace=NAMESPACE,
    proposal_id=made_id(2),
    proposal_revision=3,
    proposal_digest=digest(2),
    validator_profile="baseline",
    validator_profile_version="1",
    findings=(
        Finding("exact_duplicate", "1", ValidationOutcome.REVIEW, "duplicate_of:1", 700),
        Finding("canonical_json", "1", ValidationOutcome.PASS, "", 1000),
    ),
    outcome=ValidationOutcome.REVIEW,
    validate_time=NOW,
    expire_time=after(NOW, 86_400_000),
)

DECISION = DecisionReceipt(
    decision_id=made_id(5),
    issuer=ISSUER,
    tenant=TENANT,
    memory_namespace=NAMESPACE,
    holder=HOLDER,
    action=COMMIT_ACTION,
    proposal_id=made_id(2),
    proposal_revision=3,
    proposal_digest=digest(2),
    validation_receipt_digest=digest(6),
    approval_references=(made_id(3),),
    policy_version=digest(7),
    outcome=DecisionOutcome.ALLOW,
    determining_policies=("allow-approved",),
    sequence=41,
    decide_time=NOW,
    expire_time=after(NOW, 86_400_000),
    correlation_id="corr-1",
    persons_needed=1,
)

RECEIPT = CommitReceipt(
    receipt_id=made_id(6),
    issuer=ISSUER,
    record_id=made_id(7),
    capability=CAPABILITY,
    capability_digest=digest(10),
    request_fingerprint=digest(11),
    commit_time=after(NOW, 1_000),
)

CLAIM = EvidenceClaim(
    tenant=TENANT,
    signer=PrincipalRef("tools", "linter"),
    content_digest=digest(12),
    media_type="application/sarif+json",
    create_time=NOW,
)

HOLDER_PUBLIC_KEY = digest(16)
"""No key that anybody has: 32 bytes."""

GRANT = Grant(
    issuer=ISSUER,
    delegated_by=PrincipalRef("services", "orchestrator"),
    tenant=TENANT,
    subject=PrincipalRef("users", "u1"),
    actor_chain=(PrincipalRef("services", "gateway"), PrincipalRef("services", "orchestrator")),
    holder=PrincipalRef("agents", "a1"),
    holder_key=hashlib.sha256(HOLDER_PUBLIC_KEY).digest(),
    audiences=("memory.example", "other.example"),
    actions=("memory.propose", "memory.recall"),
    resources=("docs/*", "wiki/start"),
    read_memory_namespaces=("team/*", "notes"),
    write_memory_namespaces=("team/notes", "team/drafts"),
    tools=("search", "fetch/*"),
    providers=("local", "other"),
    models=("small/*", "large/1"),
    usd_micros=5_000_000,
    tokens=100_000,
    latency_ms=30_000,
    concurrency=4,
    uses=100,
    network=True,
    destructive=True,
    not_before_time=NOW,
    expire_time=after(NOW, 3_600_000),
    delegation_depth=2,
    policy_version=digest(7),
    parent_digest=digest(17),
    correlation_id="corr-1",
    nonce=bytes(range(16)),
    holder_public_key=HOLDER_PUBLIC_KEY,
)
"""Every field set, as no grant that holds has them: it has an issuer or is delegated."""

INVOCATION = Invocation(
    tenant=TENANT,
    principal=HOLDER,
    audience="memory.example",
    method="/capability_authority.v1.CapabilityService/CommitValidated",
    request_digest=digest(12),
    nonce=bytes(range(16)),
    issue_time=NOW,
)

ATTESTATION = KeyAttestation(
    issuer=ISSUER,
    tenant=TENANT,
    statement_digest=digest(13),
    signature_digest=digest(14),
    key_id=f"sha256:{digest(15).hex()}",
    attest_time=NOW,
)

PROPOSAL = ProposalRevision(
    tenant=TENANT,
    memory_namespace=NAMESPACE,
    proposal_id=made_id(2),
    revision=3,
    proposer=PrincipalRef("agents", "a1"),
    proposer_kind=PrincipalKind.AGENT,
    actor_chain=(PrincipalRef("users", "u1"), HOLDER),
    provenance=Provenance.AGENT_OUTPUT,
    memory_type=MemoryType.DURABLE_FACT,
    content_digest=digest(3),
    media_type="application/json",
    source_refs=("ticket 4711",),
    subject_refs=("user:u1",),
    evidence_digests=(digest(4), digest(5)),
    validator_profile="baseline",
    visibility=Visibility.WORKSPACE,
    valid_from_time=NOW,
    valid_until_time=after(NOW, 1_000),
    record_expire_time=after(NOW, 2_000),
    correlation_id="corr-1",
    costs=(Cost("extraction", "model-1", 10, 20, 30),),
    supersedes_record_id=made_id(8),
    create_time=NOW,
    expire_time=after(NOW, 500),
    subject=PrincipalRef("people", "mira"),
)
