"""The payload KeyAttestation: a current key vouches for a statement whose own key was revoked (semantics §3)."""

from dataclasses import dataclass

from authority.domain.references import Instant, TenantRef
from authority.signing.codec import fields
from authority.signing.codec.refs import tenant_message
from capability_authority.offline import timestamp
from capability_authority.v1 import statements_pb2


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAttestation:
    """Exactly this statement with exactly these signature bytes was made and stored by this authority."""

    issuer: str
    tenant: TenantRef
    statement_digest: bytes
    signature_digest: bytes
    """SHA-256 of the signature bytes."""
    key_id: str
    """The revoked key that signed the statement."""
    attest_time: Instant


def encode_attestation(attestation: KeyAttestation) -> statements_pb2.KeyAttestation:
    """The message that says the attestation."""
    return statements_pb2.KeyAttestation(
        issuer=attestation.issuer,
        tenant=tenant_message(attestation.tenant),
        statement_digest=attestation.statement_digest,
        signature_digest=attestation.signature_digest,
        key_id=attestation.key_id,
        attest_time=timestamp(attestation.attest_time),
    )


def decode_attestation(message: statements_pb2.KeyAttestation) -> KeyAttestation:
    """The attestation. Raises `Misshapen` for what none can say."""
    return KeyAttestation(
        issuer=fields.identifier(message.issuer, "issuer"),
        tenant=fields.tenant(message.tenant, "tenant"),
        statement_digest=fields.digest(message.statement_digest, "statement_digest"),
        signature_digest=fields.digest(message.signature_digest, "signature_digest"),
        key_id=fields.key_id(message.key_id, "key_id"),
        attest_time=fields.instant(message, "attest_time"),
    )
