"""The certificate that the service shows, and where it may listen without one."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from authority.bootstrap.doctor.finding import Finding, ok, problem, warning
from authority.config_reading import OTHERS
from authority.rpc.listening import PlaintextRefused, is_local

_SOON: Final = timedelta(days=14)
_CERTIFICATE, _PRIVATE_KEY = "AUTHORITY_TLS_CERTIFICATE", "AUTHORITY_TLS_PRIVATE_KEY"


def look_at_tls(listen: str, certificate: Path | None, private_key: Path | None, now: datetime) -> Iterator[Finding]:
    """Certificate and private key, or that none is needed."""
    if certificate is None or private_key is None:
        if certificate or private_key:
            missing = _PRIVATE_KEY if certificate else _CERTIFICATE
            yield problem("tls", "only one of its two files is named", f"set {missing}, or unset the other")
        elif is_local(listen):
            yield ok("tls", f"none; only this machine reaches {listen}")
        else:
            yield problem("tls", str(PlaintextRefused(listen)).partition(":")[0], f"set {_CERTIFICATE}, {_PRIVATE_KEY}")
        return
    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (OSError, ValueError) as error:
        yield problem("tls certificate", f"{certificate}: {_words(error)}", f"correct {_CERTIFICATE}")
        return
    yield _life(found, now)
    yield _key(found, private_key)


def _life(certificate: x509.Certificate, now: datetime) -> Finding:
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    renew = "renew it, and send the service SIGHUP when it runs by workers, or restart it"
    if end <= now:
        return problem("tls certificate", f"expired on {end:%Y-%m-%d %H:%M} UTC", renew)
    if begin > now:
        return problem("tls certificate", f"is not valid before {begin:%Y-%m-%d %H:%M} UTC", "look at this clock, too")
    if end - now < _SOON:
        return warning("tls certificate", f"expires on {end:%Y-%m-%d %H:%M} UTC", renew)
    return ok("tls certificate", f"is valid until {end:%Y-%m-%d %H:%M} UTC")


def _key(certificate: x509.Certificate, file: Path) -> Finding:
    try:
        mode = file.stat().st_mode
        key = serialization.load_pem_private_key(file.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        return problem("tls private key", f"{file}: {_words(error)}", f"correct {_PRIVATE_KEY}")
    if mode & OTHERS:
        return problem("tls private key", f"others have rights on {file}", f"chmod 600 {file}")
    if key.public_key() != certificate.public_key():
        return problem("tls private key", f"{file} is another certificate's", f"correct {_PRIVATE_KEY}")
    return ok("tls private key", "is the certificate's, for its owner alone")


def _words(error: Exception) -> str:
    """Why a file cannot be used, without what is in it."""
    return str(getattr(error, "strerror", None) or "is not what it should hold, in PEM and without a passphrase")
