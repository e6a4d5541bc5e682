"""What the use cases need of the world. Each port has one contract suite, run on every adapter."""

from authority.usecases.ports.audit import AuditLog, AuditNews, FeedNews, RefusalCounts, RevocationFeed
from authority.usecases.ports.capabilities import (
    Capabilities,
    CapabilityFate,
    IssuedCapability,
    Offer,
    Revocations,
    RevokedCapability,
    Spend,
)
from authority.usecases.ports.commits import Committer, DatabaseGeneration, Leases, Receipts, Sighting
from authority.usecases.ports.delivery import NotTaken, Outbox, Refused, Sink, SinkAway, Taken
from authority.usecases.ports.evidence import EvidenceIndex, EvidenceReviews, EvidenceStore
from authority.usecases.ports.faults import Contention, DependencyUnavailable, NoSigningKey, Overloaded
from authority.usecases.ports.grants import ChainFacts, Grants, KeptGrant, MadeGrant, RevokedGrant, Spent
from authority.usecases.ports.identity import Certificates, Nonces, Registry, StreamNonces, Tokens
from authority.usecases.ports.memory import (
    Aggregates,
    Citations,
    Histories,
    Memberships,
    Recall,
    RecordRevocations,
    Records,
    RevokedRecord,
)
from authority.usecases.ports.policy import Decide, Decisions, PolicyEngine, PolicyVersions
from authority.usecases.ports.proposals import (
    Approvals,
    MemoryNamespaces,
    Proposals,
    ProposalWithdrawals,
    RecordedApproval,
    RecordedValidation,
    Sees,
    Validations,
    WithdrawnProposal,
)
from authority.usecases.ports.requests import RequestMark
from authority.usecases.ports.statements import KeySet, OpenedInvocation, Signer, Statements
from authority.usecases.ports.surroundings import Clock, Identifiers
from authority.usecases.ports.tokens import Cursors, PageTokens, RevisionTokens
from authority.usecases.ports.validators import Likenesses, Validators

__all__ = [
    "Aggregates",
    "Approvals",
    "AuditLog",
    "AuditNews",
    "Capabilities",
    "CapabilityFate",
    "Certificates",
    "ChainFacts",
    "Citations",
    "Clock",
    "Committer",
    "Contention",
    "Cursors",
    "DatabaseGeneration",
    "Decide",
    "Decisions",
    "DependencyUnavailable",
    "EvidenceIndex",
    "EvidenceReviews",
    "EvidenceStore",
    "FeedNews",
    "Grants",
    "Histories",
    "Identifiers",
    "IssuedCapability",
    "KeptGrant",
    "KeySet",
    "Leases",
    "Likenesses",
    "MadeGrant",
    "Memberships",
    "MemoryNamespaces",
    "NoSigningKey",
    "Nonces",
    "NotTaken",
    "Offer",
    "OpenedInvocation",
    "Outbox",
    "Overloaded",
    "PageTokens",
    "PolicyEngine",
    "PolicyVersions",
    "ProposalWithdrawals",
    "Proposals",
    "Recall",
    "Receipts",
    "RecordRevocations",
    "RecordedApproval",
    "RecordedValidation",
    "Records",
    "RefusalCounts",
    "Refused",
    "Registry",
    "RequestMark",
    "RevisionTokens",
    "RevocationFeed",
    "Revocations",
    "RevokedCapability",
    "RevokedGrant",
    "RevokedRecord",
    "Sees",
    "Sighting",
    "Signer",
    "Sink",
    "SinkAway",
    "Spend",
    "Spent",
    "Statements",
    "StreamNonces",
    "Taken",
    "Tokens",
    "Validations",
    "Validators",
    "WithdrawnProposal",
]
