"""Policy questions for tests: one ordinary question, of which a test changes what it is about."""

from dataclasses import replace

from authority.domain.decision import PolicyQuestion
from authority.domain.identity import Principal, PrincipalKind, possible_rights
from authority.domain.proposal import Cost, MemoryType, ProposalRevision, Provenance, Visibility
from authority.domain.references import DAY, Instant, PrincipalRef, TenantRef
from authority.domain.validation import BASELINE, ValidationOutcome

TENANT = TenantRef("cognitum-tenant", "northwind-books")
NAMESPACE = "bookkeeping/clients"
MADE = Instant(1_790_000_000_000)


def holder(kind: PrincipalKind = PrincipalKind.SERVICE) -> Principal:
    """A holder of this kind with every right it can have."""
    return Principal(TENANT, PrincipalRef("cognitum-service", "committer"), kind, possible_rights(kind))


def revision(**changes: object) -> ProposalRevision:
    """A user's durable fact, changed as said."""
    ordinary = ProposalRevision(
        tenant=TENANT,
        memory_namespace=NAMESPACE,
        proposal_id="00000000-0000-4000-8000-000000000001",
        revision=1,
        proposer=PrincipalRef("cognitum-user", "bookkeeper"),
        proposer_kind=PrincipalKind.USER,
        actor_chain=(),
        provenance=Provenance.USER_CLAIM,
        memory_type=MemoryType.DURABLE_FACT,
        content_digest=bytes(32),
        media_type="text/plain",
        source_refs=("thread:412",),
        subject_refs=(),
        evidence_digests=(),
        validator_profile=BASELINE,
        visibility=Visibility.TEAM,
        valid_from_time=None,
        valid_until_time=None,
        record_expire_time=None,
        correlation_id="",
        costs=(Cost("extraction", "small-model", 900, 60, 180), Cost("critique", "small-model", 400, 30, 90)),
        supersedes_record_id="",
        create_time=MADE,
    )
    return replace(ordinary, **changes)  # type: ignore[arg-type]  # each test names a field with its own type


def question(
    *,
    by: PrincipalKind = PrincipalKind.SERVICE,
    validation: ValidationOutcome = ValidationOutcome.PASS,
    privileged: bool = False,
    approved: bool = False,
    **changes: object,
) -> PolicyQuestion:
    """A service would commit a user's durable fact that passed; `changes` go to the revision."""
    return PolicyQuestion(holder(by), NAMESPACE, privileged, revision(**changes), validation, approved)


def living(days: int) -> Instant:
    """The expiry of a record that lives so many days."""
    return Instant(MADE + days * DAY)
