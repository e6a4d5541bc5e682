"""Wires every use case to what it needs of the world."""

from importlib.metadata import version

from authority.bootstrap.databases import Databases
from authority.bootstrap.gatherers import Gatherers
from authority.bootstrap.hasteners import Hasteners
from authority.config import Settings
from authority.domain.verify import Here
from authority.policy.engine import CedarPolicyEngine
from authority.postgres.activations import PostgresActivations
from authority.postgres.aggregates import PostgresAggregates
from authority.postgres.audit import PostgresAuditLog
from authority.postgres.citations import PostgresCitations
from authority.postgres.decisions import PostgresDecisions
from authority.postgres.evidence import PostgresEvidence
from authority.postgres.grants import PostgresGrants
from authority.postgres.histories import PostgresHistories
from authority.postgres.key_aliases import PostgresKeyNames
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
from authority.postgres.replay_reservations import PostgresReplayReservations
from authority.postgres.review_queue import PostgresReviewQueue
from authority.postgres.reviews import PostgresApprovals, PostgresValidations
from authority.postgres.revocation_feed import PostgresRevocationFeed
from authority.postgres.revocations import PostgresRevocations
from authority.postgres.standings import PostgresStandings
from authority.postgres.stream_nonces import PostgresStreamNonces
from authority.rpc.use_cases import UseCases
from authority.signing.action_envelopes import SignedEnvelopeReader
from authority.signing.cursors import SealedCursors
from authority.signing.key_ring import KeyRing
from authority.signing.page_tokens import SealedPageTokens
from authority.signing.revision_tokens import SealedRevisionTokens
from authority.signing.signer import KeyedSigner
from authority.signing.statements import StatementReader
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
from authority.usecases.grants.make import BoundHolders, ExchangeGrant, IssueGrant
from authority.usecases.grants.presented import PresentedGrants
from authority.usecases.grants.read_under import ReadUnderGrant
from authority.usecases.grants.verify import VerifyGrant
from authority.usecases.issue import Issue
from authority.usecases.issue_batch import IssueBatch
from authority.usecases.known_namespaces import KnownNamespaces
from authority.usecases.list_reviews import ListReviews
from authority.usecases.notices import Notices
from authority.usecases.paging import Pages
from authority.usecases.ports import Identifiers
from authority.usecases.prove_by_envelope import ProveByEnvelope
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
from authority.usecases.reserve_replay import ReserveReplay
from authority.usecases.resolve_key import ResolveKey
from authority.usecases.revoke_capability import RevokeCapability
from authority.usecases.revoke_record import RevokeRecord
from authority.usecases.stamp import Stamp
from authority.usecases.validate_proposal import ValidateProposal
from authority.usecases.verify_action_envelope import VerifyActionEnvelope
from authority.usecases.verify_capability import VerifyCapability
from authority.usecases.watch_revocations import OpenRevocationWatch
from authority.usecases.withdraw_proposal import WithdrawProposal
from authority.usecases.write_unvalidated import WriteUnvalidated
from authority.validators.evidence_screen import ValidatorScreen


def use_cases_of(
    settings: Settings,
    databases: Databases,
    ring: KeyRing,
    reader: StatementReader,
    authenticate: Authenticate,
    gatherers: Gatherers,
    hasteners: Hasteners,
    identifiers: Identifiers,
) -> UseCases:
    """Each verb with what it is made of. One list, however long: a newcomer finds here what stands behind a port."""
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
    gather = GatherMaterial(reader, validations, judges.validators, PostgresLikenesses(databases.propose), evidence)
    grants = PostgresGrants(databases.issue, reader)
    presented = PresentedGrants(GrantChains(reader, settings.issuer), grants)
    holders = BoundHolders(registry)
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
    names = PostgresKeyNames(databases.read)
    return UseCases(
        authenticate=authenticate,
        admit_stream=AdmitStream(PostgresStreamNonces(databases.issue)),
        issue=issue,
        issue_batch=IssueBatch(issue),
        issue_grant=IssueGrant(admit, presented, holders, signer, clock, identifiers),
        exchange_grant=ExchangeGrant(admit, presented, holders, signer, clock, identifiers),
        revoke_grant=RevokeGrant(admit, presented, clock),
        get_grant=GetGrant(admit, grants, clock),
        verify_grant=VerifyGrant(admit, presented, clock),
        verify_capability=VerifyCapability(admit, reader, capabilities, clock, here),
        prove_by_envelope=ProveByEnvelope(authenticate, reader, SignedEnvelopeReader(), names, clock),
        commit=commit,
        commit_batch=CommitBatch(commit),
        open_commit_stream=OpenCommitStream(registry, commit),
        revoke_capability=RevokeCapability(admit, capabilities, PostgresRevocations(databases.issue), clock),
        get_receipt=GetReceipt(admit, reader, signer, receipts, clock),
        list_receipts=ListReceipts(admit, receipts, known, pages),
        get_key_set=GetKeySet(ring, here, version("capability-authority")),
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
        resolve_key=ResolveKey(admit, names, clock),
        reserve_replay=ReserveReplay(
            admit, PostgresReplayReservations(databases.issue, settings.clock_bound_ms), clock
        ),
        verify_action_envelope=VerifyActionEnvelope(
            admit,
            SignedEnvelopeReader(),
            names,
            reader,
            PostgresStandings(databases.read, reader),
            PostgresPolicyVersions(databases.read),
            presented,
            clock,
        ),
        list_audit_events=ListAuditEvents(admit, audit_log, pages),
        open_audit_watch=OpenAuditWatch(registry, audit_log, cursors, notices, clock),
    )
