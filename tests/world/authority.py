"""One authority under test: the use cases over a store, wired as the service wires them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from authority.bootstrap.validators import installed_validators
from authority.domain.references import TenantRef
from authority.domain.statement import KeyPurpose
from authority.domain.verify import Here
from authority.inprocess.leases import InProcessLeases
from authority.inprocess.nonces import InProcessNonces
from authority.policy.engine import CedarPolicyEngine
from authority.rpc.convert.keys import key_set_response
from authority.signing.action_envelopes import SignedEnvelopeReader
from authority.signing.cursors import SealedCursors
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import MINTING, KeyRing
from authority.signing.page_tokens import SealedPageTokens
from authority.signing.revision_tokens import SealedRevisionTokens
from authority.signing.rotation import Scope, generate
from authority.signing.signer import KeyedSigner
from authority.signing.statements import StatementReader
from authority.usecases.admit import Admit
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
from authority.usecases.ports import Leases, Nonces, Validators
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
from capability_authority.offline import KeySet
from tests.world.clock import NumberedIds, SetClock
from tests.world.key_folder import PassingKeyFolder
from tests.world.stores import SOURCE, OpenStore, Store

HERE = Here(issuer=SOURCE, audience="ruflo.memory")
"""An audience that envelopes of upstream can name."""
LEASE_MS = 30_000
REPLAY_MS = 7_200_000
POLL_S = 0.02
"""How often a watch is told of news: tests wait for them."""
HEARTBEAT_S = 0.2
_ENGINE = CedarPolicyEngine()
"""Shared, as it may be: to read a bundle takes longer than all the rest of a test's beginning."""
VALIDATORS = installed_validators(None)
"""Those built in, shared likewise."""


@dataclass(frozen=True, slots=True)
class UseCases:
    """The verbs that the world speaks."""

    create_proposal: CreateProposal
    validate_proposal: ValidateProposal
    evaluate_policy: EvaluatePolicy
    get_policy_version: GetPolicyVersion
    decide_proposal: DecideProposal
    withdraw_proposal: WithdrawProposal
    decide_proposals: DecideProposals
    list_reviews: ListReviews
    issue: Issue
    issue_batch: IssueBatch
    issue_grant: IssueGrant
    exchange_grant: ExchangeGrant
    revoke_grant: RevokeGrant
    get_grant: GetGrant
    verify_grant: VerifyGrant
    verify_capability: VerifyCapability
    prove_by_envelope: ProveByEnvelope
    commit: Commit
    commit_batch: CommitBatch
    open_commit_stream: OpenCommitStream
    revoke_capability: RevokeCapability
    get_proposal: GetProposal
    list_proposals: ListProposals
    get_receipt: GetReceipt
    list_receipts: ListReceipts
    get_record: GetRecord
    write_unvalidated: WriteUnvalidated
    list_records: ListRecords
    revoke_record: RevokeRecord
    recall: RecallRecords
    recall_aggregate: RecallAggregate
    register_citation: RegisterCitation
    list_citations: ListCitations
    export_record: ExportRecord
    correct_record: CorrectRecord
    list_audit_events: ListAuditEvents
    put_evidence: PutEvidence
    read_evidence: ReadEvidence
    resolve_key: ResolveKey
    reserve_replay: ReserveReplay
    verify_action_envelope: VerifyActionEnvelope
    open_audit_watch: OpenAuditWatch
    open_revocation_watch: OpenRevocationWatch


@dataclass(frozen=True, slots=True)
class Authority:
    """A process of the service. Its key ring learns of changed keys when it is told to, as a process does in time."""

    clock: SetClock
    ids: NumberedIds
    folder: KeyFolder
    ring: KeyRing
    reader: StatementReader
    signer: KeyedSigner
    store: Store
    leases: Leases
    do: UseCases
    tenants: set[TenantRef] = field(default_factory=set)
    """Whose keys it knows: a database that many tests share has other tests' keys too."""

    @classmethod
    def open(
        cls,
        folder: Path,
        open_store: OpenStore,
        *,
        clock: SetClock | None = None,
        ids: NumberedIds | None = None,
        leases: Leases | None = None,
        nonces: Nonces | None = None,
        validators: Validators = VALIDATORS,
    ) -> Self:
        """An authority with its private keys in `folder`, in process where nothing else is given.

        One that follows another over the same tables must be given its ids: no id is made twice.
        """
        clock, ids = clock or SetClock(), ids or NumberedIds()
        keys = PassingKeyFolder(folder)
        ring = KeyRing(keys)
        reader = StatementReader(ring)
        signer = KeyedSigner(ring, reader, HERE.issuer)
        store = open_store(clock, reader)
        leases = leases or InProcessLeases(clock, lease_ms=LEASE_MS, replay_ms=REPLAY_MS)
        admit = Admit(nonces or InProcessNonces(clock))
        pages, revisions = Pages(SealedPageTokens(bytes(32)), clock), SealedRevisionTokens(bytes(32))
        known = KnownNamespaces(store.proposals)
        commit = Commit(admit, reader, signer, leases, store.committer, clock, ids, HERE, revisions)
        presented = PresentedGrants(GrantChains(reader, HERE.issuer), store.grants)
        holders, act = BoundHolders(store.registry), ActUnderGrant(presented, clock)
        reading_under = ReadUnderGrant(admit, act, clock, HERE)
        stamp = Stamp(store.registry, store.records, store.evidence, clock)
        create = CreateProposal(
            admit, reader, store.proposals, store.memberships, validators, stamp, act, clock, ids, HERE
        )
        issue = Issue(admit, reader, signer, store.capabilities, clock, ids, HERE, act)
        decide = DecideProposal(
            admit, store.proposals, store.approvals, store.activations, store.principal_links, clock, ids
        )
        gather = GatherMaterial(reader, store.validations, validators, store.likenesses, store.evidence)
        notices = Notices(store.audit_log.changed, POLL_S)
        use_cases = UseCases(
            create_proposal=create,
            validate_proposal=ValidateProposal(
                admit,
                signer,
                store.proposals,
                store.validations,
                validators,
                gather,
                clock,
                ids,
                HERE,
            ),
            evaluate_policy=EvaluatePolicy(
                admit, reader, signer, store.decisions, _ENGINE, validators, clock, ids, HERE
            ),
            get_policy_version=GetPolicyVersion(admit, store.policy_versions),
            withdraw_proposal=WithdrawProposal(admit, store.proposals, store.withdrawals, clock),
            decide_proposal=decide,
            decide_proposals=DecideProposals(decide, clock),
            list_reviews=ListReviews(admit, store.review_queue, store.principal_links, known, pages, clock),
            issue=issue,
            issue_batch=IssueBatch(issue),
            issue_grant=IssueGrant(admit, presented, holders, signer, clock, ids),
            exchange_grant=ExchangeGrant(admit, presented, holders, signer, clock, ids),
            revoke_grant=RevokeGrant(admit, presented, clock),
            get_grant=GetGrant(admit, store.grants, clock),
            verify_grant=VerifyGrant(admit, presented, clock),
            verify_capability=VerifyCapability(admit, reader, store.capabilities, clock, HERE),
            prove_by_envelope=ProveByEnvelope(
                Authenticate(reader, store.registry, clock), reader, SignedEnvelopeReader(), store.key_names, clock
            ),
            commit=commit,
            commit_batch=CommitBatch(commit),
            open_commit_stream=OpenCommitStream(store.registry, commit),
            get_proposal=GetProposal(admit, store.proposals, store.memberships, clock),
            list_proposals=ListProposals(admit, store.proposals, known, pages, clock),
            revoke_capability=RevokeCapability(admit, store.capabilities, store.revocations, clock),
            get_receipt=GetReceipt(admit, reader, signer, store.receipts, clock),
            list_receipts=ListReceipts(admit, store.receipts, known, pages),
            write_unvalidated=WriteUnvalidated(
                admit,
                reader,
                store.proposals,
                store.memberships,
                stamp,
                Foresee(gather, validators, _ENGINE),
                store.unvalidated,
                clock,
                ids,
            ),
            get_record=GetRecord(admit, store.records, clock),
            list_records=ListRecords(admit, store.records, known, pages, clock),
            revoke_record=RevokeRecord(admit, store.record_revocations, clock, revisions),
            register_citation=RegisterCitation(admit, reader, store.receipts, store.citations, clock, ids),
            export_record=ExportRecord(admit, reader, signer, store.histories, clock),
            list_citations=ListCitations(admit, store.citations, pages),
            recall=RecallRecords(reading_under, store.recall, known, revisions, pages, clock),
            recall_aggregate=RecallAggregate(reading_under, store.aggregates, clock),
            correct_record=CorrectRecord(create, store.proposals, store.records, clock),
            put_evidence=PutEvidence(
                admit, reader, store.registry, store.memberships, ValidatorScreen(), store.evidence, clock
            ),
            read_evidence=ReadEvidence(admit, store.evidence, act, clock, HERE),
            resolve_key=ResolveKey(admit, store.key_names, clock),
            reserve_replay=ReserveReplay(admit, store.replays, clock),
            verify_action_envelope=VerifyActionEnvelope(
                admit,
                SignedEnvelopeReader(),
                store.key_names,
                reader,
                store.standings,
                store.policy_versions,
                presented,
                clock,
            ),
            list_audit_events=ListAuditEvents(admit, store.audit_log, pages),
            open_audit_watch=OpenAuditWatch(
                store.registry,
                store.audit_log,
                SealedCursors(bytes(32)),
                notices,
                clock,
                HEARTBEAT_S,
            ),
            open_revocation_watch=OpenRevocationWatch(
                store.registry, store.revocation_feed, signer, notices, clock, HEARTBEAT_S
            ),
        )
        return cls(clock, ids, keys, ring, reader, signer, store, leases, use_cases)

    async def make_keys(self, tenant: TenantRef) -> None:
        """An active key of every minting purpose, valid for this tenant alone."""
        now = self.clock.now()
        for purpose in (*MINTING, KeyPurpose.GRANT, KeyPurpose.REVOCATION):
            key = generate(self.folder, purpose, now, Scope(tenant))
            await self.store.administration.add_issuer_key(key, now)
        self.tenants.add(tenant)
        await self.learn_keys()

    async def replica(self) -> "Authority":
        """Another process of the service over the same store, which knows the keys as they are now; without Redis."""
        other = Authority.open(self.folder.path, lambda *_: self.store, clock=self.clock, ids=self.ids)
        other.tenants.update(self.tenants)
        await other.learn_keys()
        return other

    async def key_set(self) -> KeySet:
        """The keys as a client gets them from this process."""
        published = await GetKeySet(self.ring, HERE, "0.0.0")()
        return KeySet.from_response(key_set_response(published), pinned_issuer=HERE.issuer, pinned_key_ids=None)

    async def learn_keys(self) -> None:
        """Reads the issuer keys again."""
        known = [key for key in await self.store.issuer_keys.load() if key.tenant in self.tenants]
        assert self.ring.replace(known) == ()
