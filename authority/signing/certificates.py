"""Reads client certificates, which TLS has verified (semantics §2)."""

import hashlib
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from authority.domain.certificate import Certificate
from authority.domain.references import SECOND, Instant

_KEPT: Final = 1_024
"""Certificates of connections that are open: each is sent along with every call."""
_MOST_BYTES: Final = 64 * 1024


class CertificateReader:
    """Implements `ports.Certificates`."""

    def read(self, pem: bytes) -> Certificate | None:
        """What the certificate says; None for one that cannot be read whole."""
        return _read(pem)


@lru_cache(_KEPT)
def _read(pem: bytes) -> Certificate | None:
    if len(pem) > _MOST_BYTES:
        return None
    try:
        return read_certificate(pem)
    except ValueError:
        return None


def read_certificate(pem: bytes) -> Certificate:
    """The first certificate of a PEM text. Raises ValueError for one that cannot be read whole."""
    try:
        found = x509.load_pem_x509_certificate(pem)
        return Certificate(
            uris=_uris(found),
            subject=found.subject.rfc4514_string(),
            spki_digest=spki_digest(found),
            not_before_time=_instant(found.not_valid_before_utc),
            expire_time=_instant(found.not_valid_after_utc),
            is_authority=_is_authority(found),
        )
    except (x509.DuplicateExtension, x509.UnsupportedGeneralNameType, TypeError) as error:
        raise ValueError("the certificate cannot be read") from error


def spki_digest(certificate: x509.Certificate) -> bytes:
    """SHA-256 of the public key with its algorithm, as DER."""
    public_key = certificate.public_key()
    return hashlib.sha256(public_key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()


def _uris(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    return tuple(names.get_values_for_type(x509.UniformResourceIdentifier))


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def _instant(moment: datetime) -> Instant:
    return Instant(int(moment.astimezone(UTC).timestamp()) * SECOND)
