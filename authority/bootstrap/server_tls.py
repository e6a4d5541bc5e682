"""The certificate that the service shows, and the authorities whose certificates its callers may show."""

from pathlib import Path

import grpc
from cryptography import x509

from authority.config import Settings, SettingsError

_OTHERS = 0o077


def server_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    """None for plaintext. Raises SettingsError for files that cannot be used, OSError for one that cannot be read.

    Where client authorities are named, gRPC takes no connection without a certificate that one of them vouches for, by
    a chain that is valid now, and for clients.
    """
    if settings.tls_certificate is None or settings.tls_private_key is None:
        if settings.tls_client_ca is not None:
            raise SettingsError(
                "AUTHORITY_TLS_CLIENT_CA needs TLS: set AUTHORITY_TLS_CERTIFICATE and AUTHORITY_TLS_PRIVATE_KEY, too"
            )
        return None
    if settings.tls_private_key.stat().st_mode & _OTHERS:
        raise SettingsError(
            f"AUTHORITY_TLS_PRIVATE_KEY: others can read {settings.tls_private_key}; run chmod 600 on it"
        )
    pair = (settings.tls_private_key.read_bytes(), settings.tls_certificate.read_bytes())
    if settings.tls_client_ca is None:
        return grpc.ssl_server_credentials([pair])
    return grpc.ssl_server_credentials([pair], client_authorities(settings.tls_client_ca), require_client_auth=True)


def client_authorities(file: Path) -> bytes:
    """The certificates in the file. Raises SettingsError when one is missing, damaged or of no authority.

    gRPC itself would take what it can read, and an empty file for no wish to see certificates.
    """
    try:
        data = file.read_bytes()
        found = x509.load_pem_x509_certificates(data)
        if all(one.extensions.get_extension_for_class(x509.BasicConstraints).value.ca for one in found):
            return data
    except OSError as error:
        raise SettingsError(f"AUTHORITY_TLS_CLIENT_CA: {file} cannot be read ({error.strerror})") from None
    except (ValueError, x509.ExtensionNotFound):
        pass
    raise SettingsError(f"AUTHORITY_TLS_CLIENT_CA: {file} must hold certificates of authorities, in PEM, and no others")
