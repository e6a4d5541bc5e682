"""The grant: an authorization that can be used more than once, and handed on, but only ever narrower (semantics §6)."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.statement import Statement


class GrantAction(Enum):
    """What a grant can allow at all. Nothing here names a policy promotion, a deployment, IAM, billing or secrets."""

    COGNITION_ROUTE = "cognition.route"
    """Recommending a model, provider, skill or workflow; not executing it."""
    COGNITION_CRITIQUE = "cognition.critique"
    """Judging a plan, patch, test result or trajectory; not approving or declaring truth."""
    MEMORY_RECALL = "memory.recall"
    MEMORY_PROPOSE = "memory.propose"
    EVIDENCE_READ = "evidence.read"
    MEMORY_COMMIT_VALIDATED = "memory.commit-validated"


ACTIONS: Final = frozenset(action.value for action in GrantAction)
"""The closed vocabulary as it stands in payloads."""


EXACT_DIMENSIONS: Final = ("audiences", "actions")
"""Lists of names that cover nothing but themselves."""
SELECTOR_DIMENSIONS: Final = (
    "resources",
    "read_memory_namespaces",
    "write_memory_namespaces",
    "tools",
    "providers",
    "models",
)
"""Lists of selectors: whole segments, or a prefix of them and `/*`."""
AMOUNT_DIMENSIONS: Final = ("usd_micros", "tokens", "latency_ms", "concurrency", "uses")
FLAG_DIMENSIONS: Final = ("network", "destructive")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The terms in the order of the payload's fields. A dimension that is None is absent: it denies (semantics §6).

    Lists have at most 64 names, none twice; an empty one denies all. Amounts are never negative; 0 denies all.
    """

    issuer: str
    """The authority that made it; empty when the parent's holder did, offline."""
    delegated_by: PrincipalRef | None
    """The parent's holder who signed; None when the authority did."""
    tenant: TenantRef
    subject: PrincipalRef
    """Whose rights are used: an effective right is one that the subject has, now, and every block allows."""
    actor_chain: tuple[PrincipalRef, ...]
    """The holders of the ancestors, root first."""
    holder: PrincipalRef
    holder_key: bytes
    """Names the credential that the holder presents the grant with: 32 bytes."""
    audiences: tuple[str, ...] | None
    actions: tuple[str, ...] | None
    resources: tuple[str, ...] | None
    read_memory_namespaces: tuple[str, ...] | None
    write_memory_namespaces: tuple[str, ...] | None
    tools: tuple[str, ...] | None
    providers: tuple[str, ...] | None
    models: tuple[str, ...] | None
    usd_micros: int | None
    tokens: int | None
    latency_ms: int | None
    concurrency: int | None
    uses: int | None
    network: bool | None
    destructive: bool | None
    not_before_time: Instant
    expire_time: Instant
    delegation_depth: int
    """How many generations may still be derived: 0 to 8."""
    policy_version: bytes
    parent_digest: bytes
    """Empty at a root."""
    correlation_id: str
    nonce: bytes
    holder_public_key: bytes
    """The raw Ed25519 key that `holder_key` is the digest of; empty for a credential that signs nothing."""


@dataclass(frozen=True, slots=True)
class OpenedGrant:
    """A grant whose payload obeys the reading rule. Its signature is judged apart: reading is not believing.

    As a part of a chain, which begins with a root and ends with the grant that is presented, it is called a block.
    """

    statement: Statement
    digest: bytes
    terms: Grant

    @property
    def name(self) -> str:
        """What it is called in the audit log and the feed of revocations: `sha256:` and the digest in hexadecimal."""
        return f"sha256:{self.digest.hex()}"


def principals_of(terms: Grant) -> tuple[PrincipalRef, ...]:
    """Whoever must be active for the grant to be used: the subject, and every holder of the chain, root first."""
    return (terms.subject, *terms.actor_chain, terms.holder)
