"""Where plaintext may go."""

import pytest

from capability_authority.client import CapabilityAuthority, PlaintextRefused, TlsRoots
from capability_authority.client.channel import is_local
from tests.unit.client.test_credentials import CREDENTIALS


@pytest.mark.parametrize(
    "target", ["127.0.0.1:1", "127.8.9.10:7443", "[::1]:7443", "unix:/run/authority.sock", "unix:authority.sock"]
)
def test_this_machine_is_local(target: str) -> None:
    assert is_local(target)


@pytest.mark.parametrize(
    "target",
    [
        "",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:http",
        "localhost:7443",
        "0.0.0.0:7443",
        "[::]:7443",
        "::1:7443",
        "10.0.0.1:7443",
        "authority.example:443",
        "127.0.0.1.example:443",
        "dns:///127.0.0.1:443",
        "ipv4:127.0.0.1:1,10.0.0.1:1",
        "127.0.0.1@10.0.0.1:443",
        "[127.0.0.1]:443",
        "2130706433:443",
    ],
)
def test_everything_else_needs_tls(target: str) -> None:
    assert not is_local(target)

    with pytest.raises(PlaintextRefused, match="tls=TlsRoots"):
        CapabilityAuthority.connect(target, credentials=CREDENTIALS)
    CapabilityAuthority.connect(target, credentials=CREDENTIALS, tls=TlsRoots.system())
