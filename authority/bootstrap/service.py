"""Wires the service: PostgreSQL, Redis, keys and policy behind the use cases, the use cases behind gRPC."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import structlog

from authority.bootstrap.connections import pool_sizes
from authority.bootstrap.hasteners import Hasteners, open_hasteners
from authority.bootstrap.identities import open_authentication
from authority.bootstrap.repeating import repeating
from authority.bootstrap.server_tls import server_credentials
from authority.bootstrap.sight import Gauges, seen
from authority.bootstrap.system import SystemClock, TimeOrderedIds
from authority.bootstrap.validators import installed_validators
from authority.config import Settings
from authority.domain.statement import IssuerKey
from authority.domain.verify import Here
from authority.policy.engine import CedarPolicyEngine
from authority.postgres.activations import PostgresActivations
from authority.postgres.aggregates import PostgresAggregates
from authority.postgres.audit import PostgresAuditLog
from authority.postgres.capabilities import IssuingSettings, PostgresCapabilities
from authority.postgres.citations import PostgresCitations
from authority.postgres.committer import CommitterSettings, PostgresCommitter
from authority.postgres.connections import Database, PoolSettings, Power, connect_pool
from authority.postgres.decisions import PostgresDecisions
from authority.postgres.evidence import PostgresEvidence
from authority.postgres.gathering import GatheringSettings
from authority.postgres.generation import GenerationWatch
from authority.postgres.grants import PostgresGrants
from authority.postgres.histories import PostgresHistories
from authority.postgres.likenesses import PostgresLikenesses
from authority.postgres.memberships import PostgresMemberships
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
from authority.postgres.relay_wake import RelayWake
from authority.postgres.review_queue import PostgresReviewQueue
from authority.postgres.reviews import PostgresApprovals, PostgresValidations
from authority.postgres.revocation_feed import PostgresRevocationFeed
from authority.postgres.revocations import PostgresRevocations
from authority.postgres.room import migrations_missing
from authority.postgres.stream_nonces import PostgresStreamNonces
from authority.postgres.unvalidated_writes import PostgresUnvalidatedWrites
from authority.rpc.interceptors.counting import Counting
from authority.rpc.interceptors.observing import Observing
from authority.rpc.observed_use_cases import observed
from authority.rpc.server import REDIS, RpcServer, ServerOptions
from authority.rpc.tallied_use_cases import tallied
from authority.rpc.use_cases import UseCases
from authority.signing.cursors import SealedCursors
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.page_tokens import SealedPageTokens
from authority.signing.revision_tokens import SealedRevisionTokens
from authority.signing.signer import KeyedSigner
from authority.signing.statements import StatementReader
from authority.telemetry import metrics, spans
from authority.usecases.admit import Admit, AdmitStream
from authority.usecases.authenticate import Authenticate
from authority.usecases.cite import ListCitations, RegisterCitation
from authority.usecases.commit import Commit
from authority.usecases.commit_batch import CommitBatch
from authority.usecases.commit_stream import OpenCommitStream
from authority.usecases.correct_record import CorrectRecord
from authority.usecases.create_proposal import CreateProposal
from authority.usecases.decide_proposal import DecideProposal
from authority.usecases.decide_proposals import DecideProposals
from authority.usecases.evaluate_policy import EvaluatePolicy
from authority.usecases.export_record import ExportRecord
from authority.usecases.foresee import Foresee
from authority.usecases.gather_material import GatherMaterial
from authority.usecases.grants.act_under import ActUnderGrant
from authority.usecases.grants.chains import GrantChains
from authority.usecases.grants.look_after import GetGrant, RevokeGrant
from authority.usecases.grants.make import Bearers, ExchangeGrant, IssueGrant
from authority.usecases.grants.presented import PresentedGrants
from authority.usecases.grants.read_under import ReadUnderGrant
from authority.usecases.grants.verify import VerifyGrant
from authority.usecases.issue import Issue
from authority.usecases.issue_batch import IssueBatch
from authority.usecases.known_namespaces import KnownNamespaces
from authority.usecases.list_reviews import ListReviews
from authority.usecases.notices import Notices
from authority.usecases.paging import Pages
from authority.usecases.ports import Clock, Identifiers
from authority.usecases.put_evidence import PutEvidence
from authority.usecases.read_audit import ListAuditEvents, OpenAuditWatch
from authority.usecases.read_evidence import ReadEvidence
from authority.usecases.read_key_set import GetKeySet
from authority.usecases.read_policy import GetPolicyVersion
from authority.usecases.read_proposals import GetProposal, ListProposals
from authority.usecases.read_receipts import GetReceipt, ListReceipts
from authority.usecases.read_records import GetRecord, ListRecords
from authority.usecases.recall_aggregate import RecallAggregate
from authority.usecases.recall_records import RecallRecords
from authority.usecases.revoke_capability import RevokeCapability
from authority.usecases.revoke_record import RevokeRecord
from authority.usecases.stamp import Stamp
from authority.usecases.tally import Tally
from authority.usecases.validate_proposal import ValidateProposal
from authority.usecases.validation_runs import ValidationRuns
from authority.usecases.verify_capability import VerifyCapability
from authority.usecases.watch_revocations import OpenRevocationWatch
from authority.usecases.withdraw_proposal import WithdrawProposal
from authority.usecases.write_unvalidated import WriteUnvalidated
from authority.validators.evidence_screen import ValidatorScreen
from authority.validators.judging import InstalledValidators

_log = structlog.get_logger(__name__)

_REFRESH_WITHIN_S = 5.0
_FLUSH_EVERY_S = 5.0
_ERASE_EVERY_S = 60.0
_FLUSH_WITHIN_S = 2.0
_LAST_FLUSH_WITHIN_S = 0.5
_FINISH_WITHIN_S = 2.0
"""Less than whoever ends us waits after `drain_s` before it kills."""


@dataclass(frozen=True, slots=True)
class Service:
    """A wired service.

    `port` is where it listens once `run` has begun, `metrics_url` where Prometheus may ask, '' when it may not.
    """

    server: RpcServer
    port: int
    drain_s: float
    metrics_url: str

    async def run(self, stop: asyncio.Event, ready: asyncio.Event | None = None) -> None:
        """Serves until `stop` is set: then no longer says it serves, lets running calls end, and returns."""
        await self.server.start()
        self.server.set_serving(serving=True)
        if ready:
            ready.set()
        await stop.wait()
        await self.server.stop(self.drain_s)


@dataclass(frozen=True, slots=True)
class _Databases:
    commit: Database
    propose: Database
    issue: Database
    read: Database

    def by_power(self) -> dict[Power, Database]:
        """Each by the role that it takes on."""
        return {Power.COMMIT: self.commit, Power.PROPOSE: self.propose, Power.ISSUE: self.issue, Power.READ: self.read}


@contextlib.asynccontextmanager
async def open_service(
    settings: Settings,
    clock: Clock | None = None,
    identifiers: Identifiers | None = None,
    *,
    shares_port: bool = False,
) -> AsyncIterator[Service]:
    """A service over the servers that the settings name; everything is closed in order when the block ends.

    `shares_port` lets other processes of the same user listen on the same port.

    Raises OSError or asyncpg.PostgresError when PostgreSQL is away, signing faults when the key folder cannot be
    used, PlaintextRefused for an address that needs TLS, SettingsError when metrics or spans cannot be exported as set.
    Redis may be away: commits go on without it.
    """
    clock, identifiers = clock or SystemClock(), identifiers or TimeOrderedIds()
    async with contextlib.AsyncExitStack() as stack:
        metrics_url = stack.enter_context(seen(settings))
        watch = GenerationWatch()
        databases = await _open_databases(stack, settings, watch)
        if missing := await migrations_missing(databases.read):
            _log.warning("database is older than this version", missing=missing, remedy="run `authority migrate`")
        issuer_keys = PostgresIssuerKeys(databases.read)
        folder = KeyFolder(settings.keys)
        ring = KeyRing(folder)
        _replace_keys(ring, await issuer_keys.load())
        for fault in ring.signing_faults():
            _log.warning("cannot sign", fault=fault)
        hasteners = await open_hasteners(stack, settings, watch, clock)
        reader = StatementReader(ring)
        gatherers = _gatherers(stack, settings, databases, reader, clock)
        await stack.enter_async_context(_refreshing(ring, issuer_keys, settings.key_refresh_s))
        use_cases = _use_cases(
            settings,
            databases,
            ring,
            reader,
            await open_authentication(stack, settings, reader, PostgresRegistry(databases.read), clock),
            gatherers,
            hasteners,
            identifiers,
        )
        await stack.enter_async_context(_erasing(databases.propose, reader, clock))
        gauges = Gauges(databases.by_power(), pool_sizes(settings), hasteners.link, ring, clock)
        await stack.enter_async_context(gauges.read())
        is_seen = spans.are_heard() or metrics.are_heard()
        tally = await _counting(stack, databases, clock)
        counted = tallied(use_cases, tally)
        server = RpcServer(
            observed(counted) if is_seen else counted,
            settings.audience,
            ServerOptions(
                deadline_cap=settings.deadline_cap_s,
                stream_life=settings.stream_life_s,
                streams=settings.streams,
                streams_per_principal=settings.streams_per_principal,
                reflection=settings.reflection,
                connection_age=settings.connection_age_s,
                reuse_port=shares_port,
            ),
            outer_interceptors=(*((Observing(),) if is_seen else ()), Counting(tally)),
        )
        stack.push_async_callback(server.stop, 0)
        hasteners.link.watch(lambda health: server.set_dependency(REDIS, serving=health.available))
        port = server.bind(settings.listen, server_credentials(settings))
        yield Service(server, port, settings.drain_s, metrics_url)


async def _counting(stack: contextlib.AsyncExitStack, databases: _Databases, clock: Clock) -> Tally:
    """Counts refusals; what was counted is kept every few seconds, and once more when the service ends."""
    tally = Tally(PostgresRefusalCounts(databases.issue), clock)

    async def keep(within_s: float = _FLUSH_WITHIN_S) -> None:
        try:
            async with asyncio.timeout(within_s):
                await tally.flush()
        except Exception as error:  # noqa: BLE001 - counts are no reason to end, and the next turn may fare better
            _log.warning("refusals could not be counted", error=type(error).__name__)

    stack.push_async_callback(keep, _LAST_FLUSH_WITHIN_S)
    await stack.enter_async_context(repeating(keep, _FLUSH_EVERY_S))
    return tally


def _erasing(database: Database, reader: StatementReader, clock: Clock) -> contextlib.AbstractAsyncContextManager[None]:
    """Erases content that failed for secrets within a minute of the end of its review, whichever process sees to it."""
    validations = PostgresValidations(database, reader)

    async def erase() -> None:
        try:
            async with asyncio.timeout(_REFRESH_WITHIN_S):
                erased = await validations.erase_reviewed(clock.now())
        except Exception as error:  # noqa: BLE001 - whatever it is, the next turn may fare better
            _log.warning("content could not be erased", error=type(error).__name__)
        else:
            if erased:
                _log.info("content erased", contents=erased)

    return repeating(erase, _ERASE_EVERY_S)


@dataclass(frozen=True, slots=True)
class _Judges:
    validators: InstalledValidators
    runs: ValidationRuns


def _judges(stack: contextlib.AsyncExitStack, validators: InstalledValidators) -> _Judges:
    """What judges content. What is under way when the service ends has as long as what waits for the database."""
    runs = ValidationRuns()
    stack.push_async_callback(validators.close)
    stack.push_async_callback(runs.close, _FINISH_WITHIN_S)
    return _Judges(validators, runs)


@dataclass(frozen=True, slots=True)
class _Gatherers:
    """What goes on when its caller goes away."""

    committer: PostgresCommitter
    capabilities: PostgresCapabilities
    unvalidated: PostgresUnvalidatedWrites
    relay: RelayWake
    judges: _Judges


def _gatherers(
    stack: contextlib.AsyncExitStack, settings: Settings, databases: _Databases, reader: StatementReader, clock: Clock
) -> _Gatherers:
    """What gathers calls of the database: each is waited for when the service ends, though not for ever."""
    gathering = GatheringSettings(calls=settings.commit_connections)
    committing = CommitterSettings(settings.issuer, settings.clock_bound_ms, gathering)
    relay = RelayWake(databases.commit)
    committer = PostgresCommitter(databases.commit, clock, committing, relay)
    capabilities = PostgresCapabilities(databases.issue, reader, clock, IssuingSettings(settings.clock_bound_ms))
    unvalidated = PostgresUnvalidatedWrites(databases.propose, settings.issuer, relay)

    async def finish() -> None:
        """What hangs in the database by then goes on there, or not, without us: its callers have gone (case F12)."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FINISH_WITHIN_S):
                await asyncio.gather(committer.close(), capabilities.close(), unvalidated.close())

    stack.push_async_callback(finish)
    judges = _judges(stack, installed_validators(settings.profiles))
    return _Gatherers(committer, capabilities, unvalidated, relay, judges)


async def _open_databases(stack: contextlib.AsyncExitStack, settings: Settings, watch: GenerationWatch) -> _Databases:
    most = pool_sizes(settings)

    async def opened(power: Power) -> Database:
        # Every call begins by reading who calls: before that it is known which database answers.
        look = watch.look if power is Power.READ else None
        url = settings.database_url.get_secret_value()
        database = Database(await connect_pool(PoolSettings(url, power, most[power], look=look)))
        stack.push_async_callback(database.close)
        return database

    return _Databases(
        commit=await opened(Power.COMMIT),
        propose=await opened(Power.PROPOSE),
        issue=await opened(Power.ISSUE),
        read=await opened(Power.READ),
    )


def _refreshing(
    ring: KeyRing, issuer_keys: PostgresIssuerKeys, every_s: float
) -> contextlib.AbstractAsyncContextManager[None]:
    """Reads the issuer keys again and again, so that a revoked key stops verifying here within seconds (case E09)."""

    async def refresh() -> None:
        try:
            # A partition that swallows packets would let one read wait without end, and a revoked key verify on.
            async with asyncio.timeout(_REFRESH_WITHIN_S):
                _replace_keys(ring, await issuer_keys.load())
        except Exception as error:  # noqa: BLE001 - whatever it is, the next turn may fare better
            _log.warning("issuer keys could not be read again", error=type(error).__name__)

    return repeating(refresh, every_s)


def _replace_keys(ring: KeyRing, keys: Sequence[IssuerKey]) -> None:
    for left_out in ring.replace(keys):
        _log.error("issuer key left out", why=left_out)


def _use_cases(
    settings: Settings,
    databases: _Databases,
    ring: KeyRing,
    reader: StatementReader,
    authenticate: Authenticate,
    gatherers: _Gatherers,
    hasteners: Hasteners,
    identifiers: Identifiers,
) -> UseCases:
    here, policy = Here(settings.issuer, settings.audience), CedarPolicyEngine()
    registry, clock = authenticate.registry, authenticate.clock
    signer = KeyedSigner(ring, reader, settings.issuer)
    admit = Admit(hasteners.nonces)
    pages = Pages(SealedPageTokens.from_folder(settings.keys), clock)
    revisions = SealedRevisionTokens.from_folder(settings.keys)
    proposing, reading = PostgresProposals(databases.propose), PostgresProposals(databases.read)
    validations = PostgresValidations(databases.propose, reader)
    receipts = PostgresReceipts(databases.read)
    records = PostgresRecords(databases.read)
    citations = PostgresCitations(databases.propose, databases.read)
    decisions = PostgresDecisions(databases.issue, reader, clock)
    approvals = PostgresApprovals(databases.propose)
    audit_log, cursors = PostgresAuditLog(databases.read), SealedCursors.from_folder(settings.keys)
    notices = Notices(audit_log.changed)
    known = KnownNamespaces(reading)
    capabilities, judges = gatherers.capabilities, gatherers.judges
    record_revocations = PostgresRecordRevocations(databases.issue, settings.issuer, gatherers.relay)
    commit = Commit(admit, reader, signer, hasteners.leases, gatherers.committer, clock, identifiers, here, revisions)
    evidence = PostgresEvidence(databases.propose, databases.read)
    memberships = PostgresMemberships(databases.read)
    gather = GatherMaterial(
        reader,
        validations,
        judges.validators,
        PostgresLikenesses(databases.propose),
        PostgresEvidence(databases.propose, databases.read),
    )
    grants = PostgresGrants(databases.issue, reader)
    presented = PresentedGrants(GrantChains(reader, settings.issuer), grants)
    bearers = Bearers(registry)
    act = ActUnderGrant(presented, clock)
    reading_under = ReadUnderGrant(admit, act, clock, here)
    stamp = Stamp(registry, records, evidence, clock)
    create = CreateProposal(
        admit, reader, proposing, memberships, judges.validators, stamp, act, clock, identifiers, here
    )
    issue = Issue(admit, reader, signer, capabilities, clock, identifiers, here, act)
    persons = PostgresPrincipalLinks(databases.read)
    activations = PostgresActivations(databases.propose, databases.issue, settings.issuer, gatherers.relay)
    decide = DecideProposal(admit, proposing, approvals, activations, persons, clock, identifiers)
    return UseCases(
        authenticate=authenticate,
        admit_stream=AdmitStream(PostgresStreamNonces(databases.issue)),
        issue=issue,
        issue_batch=IssueBatch(issue),
        issue_grant=IssueGrant(admit, presented, bearers, signer, clock, identifiers),
        exchange_grant=ExchangeGrant(admit, presented, bearers, signer, clock, identifiers),
        revoke_grant=RevokeGrant(admit, presented, clock),
        get_grant=GetGrant(admit, grants, clock),
        verify_grant=VerifyGrant(admit, presented, clock),
        verify_capability=VerifyCapability(admit, reader, capabilities, clock, here),
        commit=commit,
        commit_batch=CommitBatch(commit),
        open_commit_stream=OpenCommitStream(registry, commit),
        revoke_capability=RevokeCapability(admit, capabilities, PostgresRevocations(databases.issue), clock),
        get_receipt=GetReceipt(admit, reader, signer, receipts, clock),
        list_receipts=ListReceipts(admit, receipts, known, pages),
        get_key_set=GetKeySet(ring, here),
        create_proposal=create,
        open_revocation_watch=OpenRevocationWatch(
            registry, PostgresRevocationFeed(databases.read), signer, notices, clock
        ),
        get_proposal=GetProposal(admit, reading, memberships, clock),
        list_proposals=ListProposals(admit, reading, known, pages, clock),
        validate_proposal=ValidateProposal(
            admit,
            signer,
            proposing,
            validations,
            judges.validators,
            gather,
            clock,
            identifiers,
            here,
            judges.runs,
        ),
        withdraw_proposal=WithdrawProposal(admit, reading, PostgresProposalWithdrawals(databases.propose), clock),
        decide_proposal=decide,
        decide_proposals=DecideProposals(decide, clock),
        evaluate_policy=EvaluatePolicy(
            admit, reader, signer, decisions, policy, judges.validators, clock, identifiers, here
        ),
        list_reviews=ListReviews(admit, PostgresReviewQueue(databases.read, reader), persons, known, pages, clock),
        get_policy_version=GetPolicyVersion(admit, PostgresPolicyVersions(databases.read)),
        write_unvalidated=WriteUnvalidated(
            admit,
            reader,
            reading,
            memberships,
            stamp,
            Foresee(gather, judges.validators, policy),
            gatherers.unvalidated,
            clock,
            identifiers,
        ),
        get_record=GetRecord(admit, records, clock),
        list_records=ListRecords(admit, records, known, pages, clock),
        revoke_record=RevokeRecord(admit, record_revocations, clock, revisions),
        register_citation=RegisterCitation(admit, reader, receipts, citations, clock, identifiers),
        export_record=ExportRecord(admit, reader, signer, PostgresHistories(databases.read), clock),
        list_citations=ListCitations(admit, citations, pages),
        recall=RecallRecords(reading_under, PostgresRecall(databases.read), known, revisions, pages, clock),
        recall_aggregate=RecallAggregate(reading_under, PostgresAggregates(databases.read), clock),
        correct_record=CorrectRecord(create, proposing, records, clock),
        put_evidence=PutEvidence(admit, reader, registry, memberships, ValidatorScreen(), evidence, clock),
        read_evidence=ReadEvidence(admit, evidence, act, clock, here),
        list_audit_events=ListAuditEvents(admit, audit_log, pages),
        open_audit_watch=OpenAuditWatch(registry, audit_log, cursors, notices, clock),
    )
