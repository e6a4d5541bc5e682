"""Plaintext is served on loopback only (semantics §2)."""

import pytest

from authority.rpc.listening import PlaintextRefused, is_local


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:0", "127.0.0.1:50051", "127.255.255.254:1", "[::1]:50051", "unix:/run/authority.sock", "unix:rel.sock"],
)
def test_loopback_and_unix_sockets_are_local(address: str) -> None:
    assert is_local(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0:50051",
        "[::]:50051",
        "*:50051",
        "10.0.0.1:50051",
        "128.0.0.1:1",
        "[::ffff:10.0.0.1]:1",
        "[::1%eth0]:1",
        "::1:50051",
        "[127.0.0.1]:1",
        "localhost:50051",
        "authority.example:443",
        "127.0.0.1",
        "127.0.0.1:",
        "127.1:50051",
        "127.0.0.1:http",
        "127.0.0.1.example:1",
        "127.0.0.1:1,10.0.0.1:2",
        "ipv4:127.0.0.1:1,10.0.0.1:2",
        "dns:///127.0.0.1:1",
        "unix-abstract:name",
        "UNIX:/a",
        ":50051",
    ],
)
def test_every_other_address_is_not(address: str) -> None:
    assert not is_local(address)


def test_the_refusal_names_what_to_set() -> None:
    text = str(PlaintextRefused("0.0.0.0:50051"))

    assert "0.0.0.0:50051" in text
    assert "AUTHORITY_TLS_CERTIFICATE" in text
    assert "AUTHORITY_TLS_PRIVATE_KEY" in text
