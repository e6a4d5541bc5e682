"""Certificates for trying mutual TLS on one machine: an authority of one's own, its server and its clients.

Not for production: the authority's private key lies beside the rest, and nobody renews what it signs.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Final, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME: Final = timedelta(days=90)
_EARLIER: Final = timedelta(minutes=5)
"""So that another machine's clock may be a little behind."""
_NAME: Final = "Capability Authority development"


@dataclass(frozen=True, slots=True)
class PemPair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    private_key: bytes


@dataclass(frozen=True, slots=True)
class DevAuthority:
    """Vouches for whatever it is asked to."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    now: datetime

    @classmethod
    def new(cls, now: datetime) -> Self:
        """One with a new key."""
        key = _new_key()
        builder = _builder(_name(_NAME), _name(_NAME), key, now)
        usage = _usage(signs_certificates=True)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        return cls(builder.add_extension(usage, critical=True).sign(key, hashes.SHA256()), key, now)

    @classmethod
    def read(cls, pair: PemPair, now: datetime) -> Self:
        """One that was made before. Raises ValueError for what is none, or has expired."""
        certificate = x509.load_pem_x509_certificate(pair.certificate)
        key = serialization.load_pem_private_key(pair.private_key, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
            raise ValueError("the private key is another certificate's")
        if certificate.not_valid_after_utc <= now:
            raise ValueError("it has expired")
        return cls(certificate, key, now)

    @property
    def pair(self) -> PemPair:
        """Its own certificate and key."""
        return _pair(self.certificate, self.key)

    def server(self) -> PemPair:
        """For a server on this machine: localhost, 127.0.0.1 and ::1."""
        names = [x509.DNSName("localhost"), *(x509.IPAddress(ip_address(text)) for text in ("127.0.0.1", "::1"))]
        return self._leaf(_name("localhost"), names, ExtendedKeyUsageOID.SERVER_AUTH)

    def client(self, spiffe_id: str) -> PemPair:
        """For a client with this SPIFFE id."""
        return self._leaf(x509.Name([]), [x509.UniformResourceIdentifier(spiffe_id)], ExtendedKeyUsageOID.CLIENT_AUTH)

    def _leaf(self, name: x509.Name, names: list[x509.GeneralName], use: x509.ObjectIdentifier) -> PemPair:
        key = _new_key()
        builder = (
            _builder(name, self.certificate.subject, key, self.now)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
            # Where there is no subject its other names are what it says.
            .add_extension(x509.SubjectAlternativeName(names), critical=not list(name))
        )
        return _pair(builder.sign(self.key, hashes.SHA256()), key)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(now + LIFETIME)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> PemPair:
    private_key = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return PemPair(certificate.public_bytes(serialization.Encoding.PEM), private_key)
