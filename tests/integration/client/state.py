"""What the small authority knows."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final, TypeVar

from capability_authority.offline import PrivateKey
from capability_authority.v1 import capability_service_pb2 as capability_pb
from capability_authority.v1 import evidence_service_pb2 as evidence_pb
from capability_authority.v1 import interop_service_pb2 as interop_pb
from capability_authority.v1 import memory_service_pb2 as memory_pb
from capability_authority.v1 import proposal_service_pb2 as proposal_pb
from capability_authority.v1 import types_pb2 as types

if TYPE_CHECKING:
    from tests.integration.client.witness import Refusal

T = TypeVar("T")

ISSUER: Final = "authority.example"
AUDIENCE: Final = "memory.example"
NOW_MS: Final = 1_790_000_000_000
TENANT: Final = types.TenantRef(namespace="tenants", id="acme")
PAGE_ITEMS: Final = 2


@dataclass(frozen=True)
class StreamEnd:
    """How a stream ends: after so many outcomes, and so many more that are lost; well, or with a refusal."""

    told: int
    lost: int = 0
    refusal: "Refusal | None" = None


class State:
    """Everything in memory; a test may change any of it."""

    def __init__(self) -> None:
        self.issuer = ISSUER
        self.signing = {purpose: PrivateKey.generate() for purpose in types.KeyPurpose.values() if purpose}
        self.old_keys: list[capability_pb.GetKeySetResponse.Key] = []
        self.proposals: dict[str, proposal_pb.Proposal] = {}
        self.receipts: dict[str, capability_pb.CommitValidatedResponse] = {}
        self.revoked: set[str] = set()
        self.evidence: dict[str, evidence_pb.Evidence] = {}
        self.reserved: dict[str, interop_pb.ReserveReplayRequest] = {}
        """By replay key, the first request."""
        self.records: dict[str, memory_pb.MemoryRecord] = {}
        self.spoils_exports = b""
        """What is put after the content of exported records."""
        self.feed: list[capability_pb.WatchRevocationsResponse] = []
        """What a watch of revocations tells, after its cursor."""
        self.citations: list[memory_pb.Citation] = []
        self.outcome: types.DecisionOutcome.ValueType = types.DECISION_OUTCOME_ALLOW
        self.refused_items: defaultdict[str, deque[Refusal]] = defaultdict(deque)
        """What the next commits and capabilities under a key are refused for, inside a batch."""
        self.unreadable_items: set[str] = set()
        """Capabilities under these keys come with a payload that is none, inside a batch."""
        self.dropped_outcomes = 0
        """How many outcomes a batch's answer lacks at its end."""
        self.stream_ends: deque[StreamEnd] = deque()
        """How the next streams end; after these they last as long as their callers want."""
        self.streamed: list[list[str]] = []
        """The commit keys that came on each stream."""
        self.takes_long = False
        """Whether validators are at a proposal yet when they are first asked about it."""
        self.validating: set[str] = set()
        """The requests that were answered so."""
        self.silent_items: set[str] = set()
        """Commits under these keys are read from streams, and never answered."""
        self._numbers = count(1)

    def new_id(self) -> str:
        """An id of its own."""
        return f"id-{next(self._numbers)}"

    def page(self, items: Sequence[T], token: str) -> tuple[Sequence[T], str]:
        """The page of a token, and the token of the next one."""
        start = int(token or 0)
        end = start + PAGE_ITEMS
        return items[start:end], str(end) if end < len(items) else ""
