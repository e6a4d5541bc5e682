"""The payload EvidenceClaim: by which a principal vouches for what it made."""

from authority.domain import shape
from authority.domain.evidence import EvidenceClaim
from authority.signing.codec import fields
from authority.signing.codec.refs import principal_message, tenant_message
from capability_authority.offline import timestamp
from capability_authority.v1 import statements_pb2


def encode_evidence_claim(claim: EvidenceClaim) -> statements_pb2.EvidenceClaim:
    """The message that says the claim."""
    return statements_pb2.EvidenceClaim(
        tenant=tenant_message(claim.tenant),
        signer=principal_message(claim.signer),
        content_digest=claim.content_digest,
        media_type=claim.media_type,
        create_time=timestamp(claim.create_time),
    )


def decode_evidence_claim(message: statements_pb2.EvidenceClaim) -> EvidenceClaim:
    """The claim. Raises `Misshapen` for what none can say."""
    if not shape.is_any_media_type(message.media_type):
        raise fields.Misshapen("media_type", "must be a media type in lower case, without parameters")
    return EvidenceClaim(
        tenant=fields.tenant(message.tenant, "tenant"),
        signer=fields.principal(message.signer, "signer"),
        content_digest=fields.digest(message.content_digest, "content_digest"),
        media_type=message.media_type,
        create_time=fields.instant(message, "create_time"),
    )
