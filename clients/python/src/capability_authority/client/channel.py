"""The gRPC channel: where it may go without TLS, and how it behaves."""

import os
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Final, Self

import grpc
from grpc import aio

from capability_authority.client.private_files import read_private_file
from capability_authority.client.versions import user_agent

__all__ = ["ClientCertificate", "PlaintextRefused", "TlsRoots", "is_local", "open_channel", "require_protected"]

_LOOPBACK_4: Final = ip_network("127.0.0.0/8")
_LOOPBACK_6: Final = IPv6Address("::1")
_MOST_BYTES: Final = 64 * 1024

_OPTIONS: Final = (
    # gRPC would send the bytes of an attempt again with the proof that is already used. A service configuration found
    # in DNS could switch such retries on, too.
    ("grpc.enable_retries", 0),
    ("grpc.service_config_disable_resolution", 1),
    # Clients of one process would share a connection, and so one of the processes that may serve behind an address.
    ("grpc.use_local_subchannel_pool", 1),
    # Pings run only while a call does: a peer that is gone is noticed before the deadline, and idle clients are quiet.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 0),
    # The first of our own retries should already find a server that came back.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)


class PlaintextRefused(ValueError):
    """The target is not on this machine and no TLS roots were given (semantics §2)."""

    def __init__(self, target: str) -> None:
        super().__init__(
            f"{target} needs TLS: pass tls=TlsRoots.system() or tls=TlsRoots.from_file(PATH);"
            " plaintext is spoken only to 127.0.0.1:PORT, [::1]:PORT and unix:PATH"
        )


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """What a client shows of itself (mTLS): the certificate with its chain, and its private key, both PEM."""

    certificate: bytes
    private_key: bytes = field(repr=False)
    """A secret: never shown, logged or sent."""


@dataclass(frozen=True, slots=True)
class TlsRoots:
    """Which certificate authorities may vouch for the server, and what the client shows of itself."""

    pem: bytes | None
    """Root certificates in PEM form; None for those that gRPC brings along."""
    server_name: str | None = None
    """The name that the server's certificate must bear, when it is not the target's host."""
    client: ClientCertificate | None = None
    """For an authority that asks its callers for certificates."""

    @classmethod
    def system(cls, *, server_name: str | None = None) -> Self:
        """The public roots that gRPC brings along, or those of GRPC_DEFAULT_SSL_ROOTS_FILE_PATH."""
        return cls(None, server_name)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, server_name: str | None = None) -> Self:
        """The roots in a PEM file. Raises `OSError` when it cannot be read."""
        return cls(Path(path).read_bytes(), server_name)

    def showing(self, certificate: str | os.PathLike[str], private_key: str | os.PathLike[str]) -> Self:
        """The same, with a client's certificate and private key from PEM files.

        Raises `OSError` when one cannot be read, `FileExposed` when others have rights on the private key.
        """
        client = ClientCertificate(Path(certificate).read_bytes(), read_private_file(Path(private_key), _MOST_BYTES))
        return replace(self, client=client)


def is_local(target: str) -> bool:
    """Whether only this machine can be meant: a Unix socket, 127.0.0.0/8 or ::1, with its port.

    Names, `localhost` too, are not local: what they resolve to is decided elsewhere.
    """
    if target.startswith("unix:"):
        return True
    host, colon, port = target.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    ip = _ip(host[1:-1] if bracketed else host)
    if not (colon and port.isdecimal()) or ip is None or bracketed != isinstance(ip, IPv6Address):
        return False
    return ip == _LOOPBACK_6 or ip in _LOOPBACK_4


def require_protected(target: str, tls: TlsRoots | None) -> None:
    """Raises `PlaintextRefused` when calls to `target` would cross a network in plaintext."""
    if tls is None and not is_local(target):
        raise PlaintextRefused(target)


def open_channel(target: str, tls: TlsRoots | None) -> aio.Channel:
    """A channel that retries nothing by itself. It belongs to the running event loop and to this process.

    Raises `PlaintextRefused`.
    """
    require_protected(target, tls)
    options = [*_OPTIONS, ("grpc.primary_user_agent", user_agent())]
    if tls is None:
        # A proxy would take the plaintext off this machine.
        return aio.insecure_channel(target, options=[*options, ("grpc.enable_http_proxy", 0)])
    named = [] if tls.server_name is None else [("grpc.ssl_target_name_override", tls.server_name)]
    shown = (tls.client.private_key, tls.client.certificate) if tls.client else (None, None)
    credentials = grpc.ssl_channel_credentials(tls.pem, *shown)
    return aio.secure_channel(target, credentials, options=[*options, *named])


def _ip(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
