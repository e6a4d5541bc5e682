"""A store: the adapters of every port over one set of tables, and a way for tests to reach behind them."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from authority.domain.references import Instant, TenantRef
from authority.domain.statement import IssuerKey
from authority.inprocess.activations import InProcessActivations
from authority.inprocess.administration import InProcessAdministration
from authority.inprocess.aggregates import InProcessAggregates
from authority.inprocess.audit import InProcessAuditLog
from authority.inprocess.capabilities import InProcessCapabilities
from authority.inprocess.citations import InProcessCitations
from authority.inprocess.committer import InProcessCommitter
from authority.inprocess.credentials import InProcessCredentialRegister
from authority.inprocess.decisions import InProcessDecisions
from authority.inprocess.evidence import InProcessEvidence
from authority.inprocess.external_authorities import InProcessExternalAuthorities
from authority.inprocess.grants import InProcessGrants
from authority.inprocess.histories import InProcessHistories
from authority.inprocess.key_aliases import InProcessKeyAliases
from authority.inprocess.likenesses import InProcessLikenesses
from authority.inprocess.memberships import InProcessMemberships
from authority.inprocess.outbox import InProcessOutbox
from authority.inprocess.policy_versions import InProcessPolicyVersions
from authority.inprocess.principal_links import InProcessPrincipalLinks
from authority.inprocess.proposal_withdrawals import InProcessProposalWithdrawals
from authority.inprocess.proposals import InProcessProposals
from authority.inprocess.recall import InProcessRecall
from authority.inprocess.receipts import InProcessReceipts
from authority.inprocess.record_revocations import InProcessRecordRevocations
from authority.inprocess.records import InProcessRecords
from authority.inprocess.refusal_counts import InProcessRefusalCounts
from authority.inprocess.registry import InProcessIssuerKeys, InProcessRegistry
from authority.inprocess.replay_reservations import InProcessReplayReservations
from authority.inprocess.review_queue import InProcessReviewQueue
from authority.inprocess.reviews import InProcessApprovals, InProcessValidations
from authority.inprocess.revocation_feed import InProcessRevocationFeed
from authority.inprocess.revocations import InProcessRevocations
from authority.inprocess.standings import InProcessStandings
from authority.inprocess.stream_nonces import InProcessStreamNonces
from authority.inprocess.tables import Tables
from authority.inprocess.unvalidated_writes import InProcessUnvalidatedReports, InProcessUnvalidatedWrites
from authority.postgres.activations import PostgresActivations
from authority.postgres.administration import PostgresAdministration
from authority.postgres.aggregates import PostgresAggregateAdministration, PostgresAggregates
from authority.postgres.audit import PostgresAuditLog
from authority.postgres.capabilities import IssuingSettings, PostgresCapabilities
from authority.postgres.citations import PostgresCitations
from authority.postgres.committer import CommitterSettings, PostgresCommitter
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.credentials import PostgresCredentialRegister
from authority.postgres.decisions import PostgresDecisions
from authority.postgres.evidence import PostgresEvidence, PostgresEvidenceReviews
from authority.postgres.external_authorities import PostgresExternalAuthorities
from authority.postgres.grants import PostgresGrants
from authority.postgres.histories import PostgresHistories
from authority.postgres.key_aliases import PostgresKeyAliases, PostgresKeyNames
from authority.postgres.likenesses import PostgresLikenesses
from authority.postgres.memberships import PostgresMembershipAdministration, PostgresMemberships
from authority.postgres.outbox import PostgresOutbox
from authority.postgres.policy_versions import PostgresPolicyVersions
from authority.postgres.principal_links import PostgresPrincipalLinks
from authority.postgres.proposal_withdrawals import PostgresProposalWithdrawals
from authority.postgres.proposals import PostgresProposals
from authority.postgres.recall import PostgresRecall
from authority.postgres.receipts import PostgresReceipts
from authority.postgres.record_revocations import PostgresRecordRevocations
from authority.postgres.records import PostgresRecords
from authority.postgres.refusal_counts import PostgresRefusalCounts
from authority.postgres.registry import PostgresIssuerKeys, PostgresRegistry
from authority.postgres.replay_reservations import PostgresReplayReservations
from authority.postgres.review_queue import PostgresReviewQueue
from authority.postgres.reviews import PostgresApprovals, PostgresValidations
from authority.postgres.revocation_feed import PostgresRevocationFeed
from authority.postgres.revocations import PostgresRevocations
from authority.postgres.standings import PostgresStandings
from authority.postgres.stream_nonces import PostgresStreamNonces
from authority.postgres.unvalidated_writes import PostgresUnvalidatedReports, PostgresUnvalidatedWrites
from authority.usecases.administer import Administration
from authority.usecases.administer_aggregates import AggregateAdministration
from authority.usecases.administer_memberships import MembershipAdministration
from authority.usecases.external_authorities import ExternalAuthorities
from authority.usecases.key_aliases import KeyAliases
from authority.usecases.link_principals import PrincipalLinks
from authority.usecases.ports import (
    Activations,
    Aggregates,
    Approvals,
    AuditLog,
    Capabilities,
    Citations,
    Clock,
    Committer,
    Decisions,
    EvidenceReviews,
    EvidenceStore,
    Grants,
    Histories,
    KeyNames,
    Likenesses,
    Memberships,
    Outbox,
    PolicyVersions,
    Proposals,
    ProposalWithdrawals,
    Recall,
    Receipts,
    RecordRevocations,
    Records,
    RefusalCounts,
    Registry,
    ReplayReservations,
    ReviewQueue,
    RevocationFeed,
    Revocations,
    Standings,
    Statements,
    StreamNonces,
    UnvalidatedReports,
    UnvalidatedWrites,
    Validations,
)
from authority.usecases.register_credentials import CredentialRegister

SOURCE = "authority.test"
"""Names the authority under test, as issuer and in its events."""
ANY_CLOCK_MS = 10**12
"""Thirty years: tests set the clock as they like, the database's own runs on."""


class Behind(Protocol):
    """Changes that no port offers."""

    async def bury(self, tenant: TenantRef, memory_namespace: str, content_digest: bytes) -> None:
        """Writes a tombstone under the next sequence, whether or not any record says this."""
        ...


class IssuerKeys(Protocol):
    """Where a process learns the issuer keys from."""

    async def load(self) -> tuple[IssuerKey, ...]:
        """Every key."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """One adapter for each port."""

    administration: Administration
    principal_links: PrincipalLinks
    credentials: CredentialRegister
    key_names: KeyNames
    key_aliases: KeyAliases
    replays: ReplayReservations
    standings: Standings
    registry: Registry
    stream_nonces: StreamNonces
    issuer_keys: IssuerKeys
    proposals: Proposals
    validations: Validations
    likenesses: Likenesses
    approvals: Approvals
    withdrawals: ProposalWithdrawals
    activations: Activations
    review_queue: ReviewQueue
    decisions: Decisions
    policy_versions: PolicyVersions
    external_authorities: ExternalAuthorities
    unvalidated: UnvalidatedWrites
    unvalidated_reports: UnvalidatedReports
    capabilities: Capabilities
    grants: Grants
    revocations: Revocations
    refusals: RefusalCounts
    record_revocations: RecordRevocations
    audit_log: AuditLog
    revocation_feed: RevocationFeed
    committer: Committer
    receipts: Receipts
    records: Records
    outbox: Outbox
    recall: Recall
    citations: Citations
    histories: Histories
    evidence: EvidenceStore
    evidence_reviews: EvidenceReviews
    aggregates: Aggregates
    aggregate_administration: AggregateAdministration
    memberships: Memberships
    membership_administration: MembershipAdministration
    behind: Behind


OpenStore = Callable[[Clock, Statements], Store]
"""Makes the adapters of one authority."""


@dataclass(frozen=True, slots=True)
class _BehindTables:
    tables: Tables

    async def bury(self, tenant: TenantRef, memory_namespace: str, content_digest: bytes) -> None:
        self.tables.bury(tenant, memory_namespace, content_digest, Instant(0))


@dataclass(frozen=True, slots=True)
class _BehindPostgres:
    database: Database

    async def bury(self, tenant: TenantRef, memory_namespace: str, content_digest: bytes) -> None:
        async with self.database.transaction(tenant) as connection:
            await connection.execute(
                """
                insert into authority.tombstone (tenant, memory_namespace, content_digest, sequence, create_time)
                values ($1, $2, $3, nextval('authority.decision_sequence'), now())
                """,
                str(tenant),
                memory_namespace,
                content_digest,
            )


@asynccontextmanager
async def connected(url: str, *, most: int = 4) -> AsyncIterator[Mapping[Power, Database]]:
    """A pool for each power on a migrated database. `url` is a superuser's: it may take on every power."""
    async with AsyncExitStack() as stack:
        opened = {power: Database(await connect_pool(PoolSettings(url, power, most))) for power in Power}
        for database in opened.values():
            stack.push_async_callback(database.close)
        yield opened


def inprocess_store(clock: Clock, statements: Statements) -> Store:
    """Dicts of its own."""
    return store_over(Tables(), clock, statements)


def store_over(tables: Tables, clock: Clock, statements: Statements) -> Store:
    """Dicts that outlive it. Statements are kept as they were opened, so nothing is read again."""
    del statements
    return Store(
        administration=InProcessAdministration(tables),
        principal_links=InProcessPrincipalLinks(tables),
        credentials=InProcessCredentialRegister(tables),
        key_names=InProcessKeyAliases(tables),
        key_aliases=InProcessKeyAliases(tables),
        replays=InProcessReplayReservations(tables),
        standings=InProcessStandings(tables),
        registry=InProcessRegistry(tables),
        stream_nonces=InProcessStreamNonces(tables),
        issuer_keys=InProcessIssuerKeys(tables),
        proposals=InProcessProposals(tables),
        validations=InProcessValidations(tables),
        likenesses=InProcessLikenesses(tables),
        approvals=InProcessApprovals(tables),
        withdrawals=InProcessProposalWithdrawals(tables),
        activations=InProcessActivations(tables, SOURCE),
        review_queue=InProcessReviewQueue(tables),
        decisions=InProcessDecisions(tables, clock),
        policy_versions=InProcessPolicyVersions(tables),
        external_authorities=InProcessExternalAuthorities(tables),
        unvalidated=InProcessUnvalidatedWrites(tables, SOURCE),
        unvalidated_reports=InProcessUnvalidatedReports(tables),
        capabilities=InProcessCapabilities(tables, clock),
        grants=InProcessGrants(tables),
        revocations=InProcessRevocations(tables),
        refusals=InProcessRefusalCounts(tables),
        record_revocations=InProcessRecordRevocations(tables, SOURCE),
        audit_log=InProcessAuditLog(tables),
        revocation_feed=InProcessRevocationFeed(tables),
        committer=InProcessCommitter(tables, clock),
        receipts=InProcessReceipts(tables),
        records=InProcessRecords(tables),
        outbox=InProcessOutbox(tables, clock),
        recall=InProcessRecall(tables),
        citations=InProcessCitations(tables),
        histories=InProcessHistories(tables),
        evidence=InProcessEvidence(tables),
        evidence_reviews=InProcessEvidence(tables),
        aggregates=InProcessAggregates(tables),
        aggregate_administration=InProcessAggregates(tables),
        memberships=InProcessMemberships(tables),
        membership_administration=InProcessMemberships(tables),
        behind=_BehindTables(tables),
    )


def postgres_store(databases: Mapping[Power, Database], clock: Clock, statements: Statements) -> Store:
    """Real adapters, each with the power that the service gives it."""
    settings = CommitterSettings(SOURCE, clock_bound_ms=ANY_CLOCK_MS)
    proposing, issuing, reading = (databases[power] for power in (Power.PROPOSE, Power.ISSUE, Power.READ))
    return Store(
        administration=PostgresAdministration(databases[Power.ADMIN]),
        principal_links=PostgresPrincipalLinks(databases[Power.ADMIN]),
        credentials=PostgresCredentialRegister(databases[Power.ADMIN]),
        key_names=PostgresKeyNames(reading),
        key_aliases=PostgresKeyAliases(databases[Power.ADMIN]),
        replays=PostgresReplayReservations(issuing, ANY_CLOCK_MS),
        standings=PostgresStandings(reading, statements),
        registry=PostgresRegistry(reading),
        stream_nonces=PostgresStreamNonces(issuing),
        issuer_keys=PostgresIssuerKeys(reading),
        proposals=PostgresProposals(proposing),
        validations=PostgresValidations(proposing, statements),
        likenesses=PostgresLikenesses(proposing),
        approvals=PostgresApprovals(proposing),
        withdrawals=PostgresProposalWithdrawals(proposing),
        activations=PostgresActivations(proposing, issuing, SOURCE),
        review_queue=PostgresReviewQueue(reading, statements),
        decisions=PostgresDecisions(issuing, statements, clock),
        policy_versions=PostgresPolicyVersions(reading),
        external_authorities=PostgresExternalAuthorities(databases[Power.ADMIN]),
        unvalidated=PostgresUnvalidatedWrites(proposing, SOURCE),
        unvalidated_reports=PostgresUnvalidatedReports(databases[Power.ADMIN]),
        capabilities=PostgresCapabilities(issuing, statements, clock, IssuingSettings(clock_bound_ms=ANY_CLOCK_MS)),
        grants=PostgresGrants(issuing, statements),
        revocations=PostgresRevocations(issuing),
        refusals=PostgresRefusalCounts(issuing),
        record_revocations=PostgresRecordRevocations(issuing, SOURCE),
        audit_log=PostgresAuditLog(reading),
        revocation_feed=PostgresRevocationFeed(reading),
        committer=PostgresCommitter(databases[Power.COMMIT], clock, settings),
        receipts=PostgresReceipts(reading),
        records=PostgresRecords(reading),
        outbox=PostgresOutbox(databases[Power.RELAY]),
        recall=PostgresRecall(reading),
        citations=PostgresCitations(proposing, reading),
        histories=PostgresHistories(reading),
        evidence=PostgresEvidence(proposing, reading),
        evidence_reviews=PostgresEvidenceReviews(databases[Power.ADMIN]),
        aggregates=PostgresAggregates(reading),
        aggregate_administration=PostgresAggregateAdministration(databases[Power.ADMIN]),
        memberships=PostgresMemberships(reading),
        membership_administration=PostgresMembershipAdministration(databases[Power.ADMIN]),
        behind=_BehindPostgres(databases[Power.ADMIN]),
    )
