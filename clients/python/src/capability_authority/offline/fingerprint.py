"""The request fingerprint: what makes two commits the same commit (semantics §4)."""

from collections.abc import Sequence
from typing import Final

from capability_authority.offline.digests import from_wire, sha256, to_wire
from capability_authority.v1.statements_pb2 import CommitCapability

__all__ = ["FINGERPRINT_LABEL", "capability_fingerprint", "request_fingerprint"]

FINGERPRINT_LABEL: Final = "capability-authority/fingerprint/v1"
_LENGTH_BYTES: Final = 4


def request_fingerprint(  # noqa: PLR0913  # every term by its name, so that none is left out or swapped
    *,
    tenant_namespace: str,
    tenant_id: str,
    memory_namespace: str,
    holder_namespace: str,
    holder_id: str,
    audience: str,
    proposal_id: str,
    proposal_revision: int,
    proposal_digest: str,
    content_digest: str,
    media_type: str,
    evidence_digests: Sequence[str],
    validator_profile: str,
    validator_profile_version: str,
) -> bytes:
    """SHA-256 over the terms in the order given here, after the label: 32 bytes.

    Each part is its UTF-8 after its length as an unsigned 32-bit big-endian number; numbers are decimal, and the
    evidence digests come after their count, so no byte can be moved between neighbours (case D11). Evidence order
    matters (case D10).

    `content_digest`, `media_type` and `evidence_digests` are those presented with the commit, all other terms those of
    the capability. Digests are in wire form; any other raises `DigestError`. Receipts, policy version, approval,
    capability id, times and correlation stay out, so that a re-issued capability replays (case D14).
    """
    for digest in (proposal_digest, content_digest, *evidence_digests):
        from_wire(digest)
    parts = (
        FINGERPRINT_LABEL,
        tenant_namespace,
        tenant_id,
        memory_namespace,
        holder_namespace,
        holder_id,
        audience,
        proposal_id,
        str(proposal_revision),
        proposal_digest,
        content_digest,
        media_type,
        str(len(evidence_digests)),
        *evidence_digests,
        validator_profile,
        validator_profile_version,
    )
    return sha256(b"".join(_length_prefixed(part.encode("utf-8")) for part in parts))


def capability_fingerprint(
    capability: CommitCapability, *, content_digest: str, media_type: str, evidence_digests: Sequence[str]
) -> bytes:
    """The request fingerprint of presenting these digests and media type with `capability`: 32 bytes.

    Raises `DigestError` for a digest in another form, also for one in the capability that is not 32 bytes.
    """
    return request_fingerprint(
        tenant_namespace=capability.tenant.namespace,
        tenant_id=capability.tenant.id,
        memory_namespace=capability.memory_namespace,
        holder_namespace=capability.holder.namespace,
        holder_id=capability.holder.id,
        audience=capability.audience,
        proposal_id=capability.proposal_id,
        proposal_revision=capability.proposal_revision,
        proposal_digest=to_wire(capability.proposal_digest),
        content_digest=content_digest,
        media_type=media_type,
        evidence_digests=evidence_digests,
        validator_profile=capability.validator_profile,
        validator_profile_version=capability.validator_profile_version,
    )


def _length_prefixed(part: bytes) -> bytes:
    return len(part).to_bytes(_LENGTH_BYTES, "big") + part
