"""Where the service may listen without TLS (semantics §2)."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_LOOPBACK_4 = ip_network("127.0.0.0/8")
_LOOPBACK_6 = IPv6Address("::1")


class PlaintextRefused(ValueError):
    """The address can be reached from elsewhere and no TLS credentials were given."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"{address} needs TLS: set AUTHORITY_TLS_CERTIFICATE and AUTHORITY_TLS_PRIVATE_KEY, or listen in plaintext"
            " on 127.0.0.1, [::1] or unix:PATH"
        )


def is_local(address: str) -> bool:
    """Whether only this machine can reach the address: a Unix socket, 127.0.0.0/8 or ::1.

    Names, `localhost` too, are not local: what they resolve to is not decided here.
    """
    if address.startswith("unix:"):
        return True
    host, colon, port = address.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    ip = _ip(host[1:-1] if bracketed else host)
    if not (colon and port.isdecimal()) or ip is None or bracketed != isinstance(ip, IPv6Address):
        return False
    return ip == _LOOPBACK_6 or ip in _LOOPBACK_4


def _ip(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
