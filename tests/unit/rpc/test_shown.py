"""Where a token can have been read by others: everywhere but over TLS and on this machine (semantics §2)."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from authority.rpc.interceptors.shown import shown_by


@dataclass(frozen=True)
class Connection:
    """What gRPC knows of a call, as far as it is asked."""

    from_where: str
    knows: dict[str, list[bytes]] = field(default_factory=dict)

    def invocation_metadata(self) -> Any:
        return (("authorization", "Bearer x"),)

    def auth_context(self) -> dict[str, list[bytes]]:
        return self.knows

    def peer(self) -> str:
        return self.from_where


def is_private(connection: Connection) -> bool:
    return shown_by(connection).is_private  # type: ignore[arg-type] # it is asked for nothing else


@pytest.mark.parametrize("peer", ["ipv4:127.0.0.1:9", "ipv4:127.9.9.9:1", "ipv6:[::1]:9", "ipv6:%5B::1%5D:9", "unix:"])
def test_on_this_machine_nobody_reads_along(peer: str) -> None:
    assert is_private(Connection(peer))


@pytest.mark.parametrize(
    "peer",
    [
        "ipv4:10.0.0.1:9",
        "ipv4:128.0.0.1:9",
        "ipv4:1.27.0.1:9",
        "ipv6:[::2]:9",
        "ipv6:[::11]:9",
        "ipv6:%5B2001:db8::1%5D:9",
        "ipv6:[::ffff:10.0.0.1]:9",
        "",
        "unknown",
    ],
)
def test_from_elsewhere_a_token_is_private_over_tls_alone(peer: str) -> None:
    assert not is_private(Connection(peer))
    assert not is_private(Connection(peer, {"transport_security_type": [b"insecure"]}))
    assert is_private(Connection(peer, {"transport_security_type": [b"ssl"]}))
