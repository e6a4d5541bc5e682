"""Evidence by digest, and what persons decide on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from authority.domain.evidence import Evidence, EvidenceState, ResolvedEvidence
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.refusal import Refusal
from authority.usecases.ports.requests import RequestMark


class EvidenceIndex(Protocol):
    """What digests stand for: what the validator `evidence` and the stamping of provenance ask."""

    async def resolve(
        self, tenant: TenantRef, digests: Sequence[bytes], reader: PrincipalRef
    ) -> Mapping[bytes, ResolvedEvidence]:
        """What the reader may know of each digest, in whatever state; an absent or invisible one is left out."""
        ...


class EvidenceStore(EvidenceIndex, Protocol):
    """Keeps evidence."""

    async def put(self, mark: RequestMark, evidence: Evidence) -> Evidence | Refusal:
        """The evidence as it is kept: what the same principal put under the same terms before, when it did.

        IDEMPOTENCY_CONFLICT `request_id` for one used otherwise, and `digest` when something else stands under the
        digest: another's evidence, or the caller's under other terms. That tells only whoever can name the digest.
        """
        ...

    async def get(self, tenant: TenantRef, digest: bytes, reader: PrincipalRef) -> Evidence | None:
        """The evidence, when the reader may know of it."""
        ...


@dataclass(frozen=True, slots=True)
class ScreenedEvidence:
    """What content holds that others must not read, as machine words that quote nothing of it; empty for nothing."""

    secret: str = ""
    personal_data: str = ""


class EvidenceScreen(Protocol):
    """Looks for what evidence must not hold: secrets, and personal data of others (semantics §6, evidence.read)."""

    async def __call__(self, content: bytes, media_type: str) -> ScreenedEvidence:
        """What it found. Raises DependencyUnavailable when it could not look: nothing unseen is kept."""
        ...


class EvidenceReviews(Protocol):
    """What persons decide, entered by the operator on the server's database: no RPC does (api.md)."""

    async def page(
        self, tenant: TenantRef, *, state: EvidenceState | None, after: bytes, size: int
    ) -> Sequence[Evidence]:
        """Evidence in the order of its digests after `after`, content left out; without a state in every one."""
        ...

    async def decide(
        self, tenant: TenantRef, digest: bytes, state: EvidenceState, *, by: PrincipalRef, note: str, now: Instant
    ) -> None:
        """Approves or rejects it, once, with an audit event.

        `by` is an active user or admin with the right to decide, and never who put it, nor whoever is one person with
        them over verified, unrevoked links (semantics §7). Raises NotThere for evidence that is absent or was decided
        already, NotTheirs for a person who may not decide on it.
        """
        ...
