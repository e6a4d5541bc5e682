"""TLS, forks, and what is imported when."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from capability_authority import CapabilityAuthority, TlsRoots
from capability_authority.client import TransportError
from tests.integration.client.exchange import CONTENT, IMPATIENT, issued
from tests.integration.client.small_authority import SmallAuthority

BEFORE_A_FORK = """
import asyncio, os, sys
from capability_authority import CapabilityAuthority

client = CapabilityAuthority.connect(credentials=sys.argv[1])

async def propose():
    async with client:
        await client.propose(memory_namespace="m", memory_type="critique", content=f"from {os.getpid()}")

child = os.fork()
asyncio.run(propose())
if child == 0:
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

INSIDE_A_FORK = """
import asyncio, os, sys
from capability_authority import CapabilityAuthority
from capability_authority.client import ConnectionClosed

async def fork():
    async with CapabilityAuthority.connect(credentials=sys.argv[1]) as client:
        child = os.fork()
        if child == 0:
            try:
                client.get_proposal("any").send(None)
            except ConnectionClosed as error:
                os._exit(42 if "fork" in str(error) else 1)
            os._exit(2)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

sys.exit(asyncio.run(fork()))
"""

OFFLINE_ALONE = """
import sys
import capability_authority
import capability_authority.offline
assert "grpc" not in sys.modules, "offline verification must not need gRPC"
assert "CapabilityAuthority" in dir(capability_authority)
try:
    capability_authority.Nothing
except AttributeError:
    pass
else:
    raise AssertionError("a name that is not there was found")
assert capability_authority.CapabilityAuthority.__name__ == "CapabilityAuthority"
assert "grpc" in sys.modules
"""


def certificate(folder: Path) -> tuple[Path, grpc.ServerCredentials]:
    """A self-signed certificate for authority.example and 127.0.0.1, and the server's credentials with it."""
    key = generate_private_key(SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority.example")])
    names = x509.SubjectAlternativeName([x509.DNSName("authority.example"), x509.IPAddress(ip_address("127.0.0.1"))])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    pem = built.public_bytes(Encoding.PEM)
    path = folder / "roots.pem"
    path.write_bytes(pem)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return path, grpc.ssl_server_credentials([(secret, pem)])


async def exit_code(script: str, *arguments: str | Path) -> int:
    """Run a script in a process of its own, while this one goes on serving."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, *arguments)
    return await process.wait()


async def test_a_whole_exchange_over_tls(tmp_path: Path) -> None:
    # Given an authority with a certificate, and its root
    roots, server_credentials = certificate(tmp_path)
    async with SmallAuthority().serving(tls=server_credentials) as small_authority:
        credentials = small_authority.register()

        # When it is trusted, also under the name in its certificate, then calls succeed
        for tls in (TlsRoots.from_file(roots), TlsRoots.from_file(roots, server_name="authority.example")):
            async with CapabilityAuthority.connect(credentials=credentials, tls=tls, retries=IMPATIENT) as client:
                committed = await client.commit(await issued(client), content=CONTENT)
                assert committed.receipt.says is not None

        # When other roots are trusted, then no call leaves
        async with CapabilityAuthority.connect(
            credentials=credentials, tls=TlsRoots.system(), retries=IMPATIENT
        ) as client:
            with pytest.raises(TransportError, match="UNAVAILABLE"):
                await client.get_proposal("any")
        assert small_authority.attempts("GetProposal") == []


async def test_plaintext_is_not_spoken_to_a_proxy(
    small_authority: SmallAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given an environment that sends everything through a proxy, where nobody listens
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)

    async with CapabilityAuthority.connect(credentials=small_authority.register(), retries=IMPATIENT) as client:
        assert (await client.propose(memory_namespace="m", memory_type="critique", content="text")).revision == 1


async def test_f15_a_client_made_before_a_fork_works_in_both_processes(
    small_authority: SmallAuthority, tmp_path: Path
) -> None:
    small_authority.register().save(tmp_path / "credentials.json")

    assert await exit_code(BEFORE_A_FORK, tmp_path / "credentials.json") == 0

    assert len(small_authority.attempts("CreateProposal")) == 2
    assert len(small_authority.state.proposals) == 2


async def test_f15_a_client_entered_before_a_fork_says_so_instead_of_hanging(
    small_authority: SmallAuthority, tmp_path: Path
) -> None:
    small_authority.register().save(tmp_path / "credentials.json")

    assert await exit_code(INSIDE_A_FORK, tmp_path / "credentials.json") == 42


def test_offline_verification_never_imports_grpc() -> None:
    subprocess.run([sys.executable, "-c", OFFLINE_ALONE], check=True)
