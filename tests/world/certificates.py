"""A certificate authority of a test, which vouches for whatever it is asked to, good or bad."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    private_key: bytes


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def name(common_name: str) -> x509.Name:
    """A distinguished name of this alone; none at all for ''."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)] if common_name else [])


@dataclass(slots=True)
class TestAuthority:
    """Has a key of its own. Its certificates are good for an hour around `now` unless said otherwise."""

    __test__ = False
    key: ec.EllipticCurvePrivateKey = field(default_factory=_new_key)
    common_name: str = "test authority"
    pem: bytes = field(init=False)
    """Its own certificate, good for long: modules make one when they are imported."""

    def __post_init__(self) -> None:
        own = self._builder(self.common_name, self.key, until=24 * _HOUR, is_authority=True)
        self.pem = self._signed(own).certificate

    def client(
        self,
        *uris: str,
        common_name: str = "",
        key: ec.EllipticCurvePrivateKey | None = None,
        since: timedelta = -_HOUR,
        until: timedelta = _HOUR,
        is_authority: bool = False,
        now: datetime | None = None,
    ) -> Pair:
        """A certificate for a client with these URI names."""
        key = key or _new_key()
        builder = self._builder(common_name, key, since=since, until=until, is_authority=is_authority, now=now)
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
        builder = builder.add_extension(usage, critical=False)
        if uris:
            names = x509.SubjectAlternativeName([x509.UniformResourceIdentifier(uri) for uri in uris])
            builder = builder.add_extension(names, critical=not common_name)
        return self._signed(builder, key)

    def server(self, address: str = "127.0.0.1") -> Pair:
        """A certificate for a server at this address."""
        key = _new_key()
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address)), x509.DNSName("localhost")])
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        builder = self._builder("server", key).add_extension(names, critical=False)
        return self._signed(builder.add_extension(usage, critical=False), key)

    def _builder(
        self,
        common_name: str,
        key: ec.EllipticCurvePrivateKey,
        *,
        since: timedelta = -_HOUR,
        until: timedelta = _HOUR,
        is_authority: bool = False,
        now: datetime | None = None,
    ) -> x509.CertificateBuilder:
        now = now or datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name(common_name))
            .issuer_name(name(self.common_name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + since)
            .not_valid_after(now + until)
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )

    def _signed(self, builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey | None = None) -> Pair:
        certificate = builder.sign(self.key, hashes.SHA256())
        private_key = (key or self.key).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return Pair(certificate.public_bytes(serialization.Encoding.PEM), private_key)
