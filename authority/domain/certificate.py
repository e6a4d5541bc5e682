"""What a client certificate says of who shows it (semantics §2). TLS has verified the certificate; here it is read."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from authority.domain.credential import Credential, CredentialForm
from authority.domain.references import Instant
from authority.domain.spiffe import poses_as_spiffe, trust_domain_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The certificate that a connection was opened with. Times are `[not_before_time, expire_time)`."""

    uris: tuple[str, ...]
    """The URI names of its subject, in their order."""
    subject: str
    """The distinguished name, as RFC 4514 writes it; may be empty."""
    spki_digest: bytes
    """SHA-256 of its SubjectPublicKeyInfo."""
    not_before_time: Instant
    expire_time: Instant
    is_authority: bool
    """Whether it may sign certificates: such a one is nobody's own."""


def credentials_of(
    certificate: Certificate, trust_domains: AbstractSet[str], now: Instant
) -> tuple[Credential, ...] | None:
    """What the certificate can be known by; None for one that nobody may show.

    Refused: one of an authority; one that is not valid now, however long its connection is open; more than one URI
    name; a URI name that looks like a SPIFFE id but is none of these trust domains; a subject that poses as one.
    """
    if certificate.is_authority or not certificate.not_before_time <= now < certificate.expire_time:
        return None
    if len(certificate.uris) > 1 or poses_as_spiffe(certificate.subject):
        return None
    key = spki(certificate.spki_digest)
    named = next(iter(certificate.uris), "")
    if poses_as_spiffe(named):
        is_ours = trust_domain_of(named) in trust_domains
        return (Credential(CredentialForm.SPIFFE, named), key) if is_ours else None
    return (key, Credential(CredentialForm.SUBJECT, certificate.subject)) if certificate.subject else (key,)


def spki(digest: bytes) -> Credential:
    """The public key of a certificate, whatever certificate it is in."""
    return Credential(CredentialForm.SPKI, f"sha256:{digest.hex()}")
