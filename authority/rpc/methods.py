"""What kind of call each RPC is (semantics §2). Every RPC of the contract has its line; one without is refused."""

from enum import Enum

PACKAGE = "/capability_authority."
"""How the names of this contract's RPCs begin."""

OPEN_SERVICES = ("/grpc.health.v1.Health/", "/grpc.reflection.v1alpha.ServerReflection/")
"""Standard services, which need no proof."""

_CAPABILITIES = "/capability_authority.v1.CapabilityService/"
_GRANTS = "/capability_authority.v1.GrantService/"
_PROPOSALS = "/capability_authority.v1.ProposalService/"
_POLICIES = "/capability_authority.v1.PolicyService/"
_MEMORY = "/capability_authority.v1.MemoryService/"
_EVIDENCE = "/capability_authority.v1.EvidenceService/"
_INTEROP = "/capability_authority.v1.InteropService/"
_AUDIT = "/capability_authority.v1.AuditService/"


class MethodKind(Enum):
    """How a call is proven."""

    OPEN = "needs no proof"
    READ = "its proof is fresh for a minute and works once"
    MUTATION = "its proof is fresh for five minutes; the same call again is a retry"
    STREAM = "its proof, over the empty message, is fresh for a minute and opens one stream"
    WATCH = "its proof, over its one request, is fresh for a minute and opens one stream of answers"

    @property
    def opens_stream(self) -> bool:
        """Whether its proof is remembered in PostgreSQL, so that it opens one stream whatever becomes of Redis."""
        return self in (MethodKind.STREAM, MethodKind.WATCH)


METHODS: dict[str, MethodKind] = {
    _CAPABILITIES + "IssueCapability": MethodKind.MUTATION,
    _CAPABILITIES + "BatchIssueCapabilities": MethodKind.MUTATION,
    _CAPABILITIES + "VerifyCapability": MethodKind.READ,
    _CAPABILITIES + "CommitValidated": MethodKind.MUTATION,
    _CAPABILITIES + "BatchCommitValidated": MethodKind.MUTATION,
    _CAPABILITIES + "StreamCommitValidated": MethodKind.STREAM,
    _CAPABILITIES + "RevokeCapability": MethodKind.MUTATION,
    _CAPABILITIES + "GetCommitReceipt": MethodKind.READ,
    _CAPABILITIES + "ListCommitReceipts": MethodKind.READ,
    _CAPABILITIES + "GetKeySet": MethodKind.OPEN,
    _CAPABILITIES + "WatchRevocations": MethodKind.WATCH,
    _GRANTS + "IssueGrant": MethodKind.MUTATION,
    _GRANTS + "ExchangeGrant": MethodKind.MUTATION,
    _GRANTS + "RevokeGrant": MethodKind.MUTATION,
    _GRANTS + "GetGrant": MethodKind.READ,
    _GRANTS + "VerifyGrant": MethodKind.READ,
    _PROPOSALS + "CreateProposal": MethodKind.MUTATION,
    _PROPOSALS + "GetProposal": MethodKind.READ,
    _PROPOSALS + "ListProposals": MethodKind.READ,
    _PROPOSALS + "ValidateProposal": MethodKind.MUTATION,
    _PROPOSALS + "DecideProposal": MethodKind.MUTATION,
    _PROPOSALS + "WithdrawProposal": MethodKind.MUTATION,
    _POLICIES + "EvaluatePolicy": MethodKind.MUTATION,
    _POLICIES + "GetPolicyVersion": MethodKind.READ,
    _MEMORY + "GetMemoryRecord": MethodKind.READ,
    _MEMORY + "ListMemoryRecords": MethodKind.READ,
    _MEMORY + "RevokeRecord": MethodKind.MUTATION,
    _MEMORY + "RecallRecords": MethodKind.READ,
    _MEMORY + "ExportRecord": MethodKind.READ,
    _MEMORY + "RegisterCitation": MethodKind.MUTATION,
    _MEMORY + "ListCitations": MethodKind.READ,
    _MEMORY + "CorrectRecord": MethodKind.MUTATION,
    _EVIDENCE + "PutEvidence": MethodKind.MUTATION,
    _EVIDENCE + "ReadEvidence": MethodKind.READ,
    _MEMORY + "WriteUnvalidatedRecord": MethodKind.MUTATION,
    _INTEROP + "ResolveKey": MethodKind.READ,
    _INTEROP + "ReserveReplay": MethodKind.MUTATION,
    _INTEROP + "VerifyActionEnvelope": MethodKind.READ,
    _AUDIT + "ListAuditEvents": MethodKind.READ,
    _AUDIT + "WatchAuditEvents": MethodKind.WATCH,
}


TAKES_ENVELOPE = frozenset({_CAPABILITIES + "CommitValidated"})
"""RPCs whose request may hold a signed envelope of upstream that proves the caller instead of an Invocation."""


def kind_of(method: str) -> MethodKind:
    """The kind of an RPC by its full name. Raises KeyError for one of this contract without a line above."""
    return MethodKind.OPEN if method.startswith(OPEN_SERVICES) else METHODS[method]
