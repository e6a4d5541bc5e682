"""Real TLS over loopback: who a connection is comes from its own handshake, and from nothing that a call says."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import grpc
import pytest
from grpc import aio
from pydantic import SecretStr

from authority.bootstrap.server_tls import client_authorities, server_credentials
from authority.bootstrap.system import SystemClock
from authority.config import Settings, SettingsError
from authority.domain.credential import Credential, CredentialForm
from authority.domain.reasons import Reason
from authority.domain.references import HOUR, Instant, after
from authority.domain.refusal import Refusal
from authority.rpc.current_call import current_caller
from authority.rpc.server import RpcServer
from authority.signing.certificates import CertificateReader
from authority.tokens.verifier import TokenVerifier
from authority.usecases.authenticate import Authenticate
from tests.integration.rpc.running import AUDIENCE, GET_RECORD, ONE_RECORD, Failure, Running, use_cases
from tests.world.authority import Authority
from tests.world.certificates import Pair, TestAuthority
from tests.world.identities import bind
from tests.world.stores import inprocess_store
from tests.world.token_issuers import ISSUER, TestIssuer
from tests.world.world import World

SPIFFE = "spiffe://harbour.example/svc/loader"
TENANT = "capability-authority-tenant"
SERVERS, CLIENTS, STRANGERS = TestAuthority(), TestAuthority(), TestAuthority()
_WHOLE = quote(CLIENTS.client(SPIFFE).certificate.decode(), safe="")
FORWARDED = (
    ("x-forwarded-client-cert", f"By=spiffe://harbour.example/proxy;URI={SPIFFE}"),
    ("x-forwarded-client-cert", f'Hash={"0" * 64};Cert="{_WHOLE}";URI={SPIFFE}'),
    ("x-forwarded-client-cert", _WHOLE),
    ("x-amzn-mtls-clientcert", _WHOLE),
    ("ssl-client-cert", _WHOLE),
    ("x-client-cert", SPIFFE),
    ("x-ssl-client-cert", SPIFFE),
    ("x-spiffe-id", SPIFFE),
    ("x509_pem_cert", CLIENTS.client(SPIFFE).certificate.decode().replace("\n", "")),
    ("ssl-client-subject-dn", "CN=loader"),
)


@dataclass(slots=True)
class AheadClock:
    """The clock that TLS itself goes by, or one that is ahead of it."""

    ahead_ms: int = 0

    def now(self) -> Instant:
        """The instant."""
        return after(SystemClock().now(), self.ahead_ms)


@dataclass(frozen=True, slots=True)
class Door:
    """A server, and the world whose people knock."""

    world: World
    issuer: TestIssuer
    clock: AheadClock
    port: int
    seen: list[str]
    """The names of those who were let in."""

    @asynccontextmanager
    async def connected(self, pair: Pair | None = None) -> AsyncIterator[Running]:
        """A connection over TLS, with this client certificate."""
        shown = (pair.private_key, pair.certificate) if pair else (None, None)
        credentials = grpc.ssl_channel_credentials(SERVERS.pem, *shown)
        options = (("grpc.use_local_subchannel_pool", 1),)
        async with aio.secure_channel(f"127.0.0.1:{self.port}", credentials, options=options) as channel:
            yield Running(None, self.port, channel)  # type: ignore[arg-type] # nobody stops it by this

    async def who(self, pair: Pair | None, *more: tuple[str, str], tenant: bool = True) -> str:
        """The name of who is let in; else why nobody is."""
        metadata = ((TENANT, str(self.world.tenant)), *more) if tenant else more
        async with self.connected(pair) as running:
            failure = await running.fail(GET_RECORD, ONE_RECORD, metadata=metadata)
        return self.seen.pop() if self.seen else _why(failure)


def _why(failure: Failure) -> str:
    """The reason, or the status code of a connection that never was; neither says more than that."""
    assert "spiffe" not in failure.everything.lower()
    return failure.code.name if failure.status is None else failure.reason


@asynccontextmanager
async def opened(folder: Path, **settings: Any) -> AsyncIterator[Door]:
    """A server with these settings of TLS, or over plaintext without."""
    world = await World.begin(Authority.open(folder / "keys", inprocess_store))
    issuer, authority, clock, seen = TestIssuer(world.now()), world.authority, AheadClock(), list[str]()
    await bind(world, world.service, Credential(CredentialForm.SPIFFE, SPIFFE))
    await bind(world, world.service, Credential(CredentialForm.TOKEN, "svc-1", ISSUER))
    authenticate = Authenticate(
        authority.reader,
        authority.store.registry,
        clock,
        CertificateReader(),
        frozenset({"harbour.example"}),
        TokenVerifier([issuer.trusted()], authority.clock),
    )

    async def get_record(*_: object, **__: object) -> Refusal:
        seen.append(current_caller().ref.id)
        return Refusal(Reason.NOT_FOUND)

    server = RpcServer(use_cases(authenticate=authenticate, get_record=get_record), AUDIENCE)
    port = server.bind("127.0.0.1:0", server_credentials(_settings(**settings)))
    await server.start()
    try:
        yield Door(world, issuer, clock, port, seen)
    finally:
        await server.stop(0)


def _settings(**chosen: Any) -> Settings:
    return Settings(database_url=SecretStr("postgresql://x"), redis_url=SecretStr("redis://x"), **chosen)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The server's certificate and key, and the clients' authority, as settings name them."""
    pair = SERVERS.server()
    texts = {"tls_certificate": pair.certificate, "tls_private_key": pair.private_key, "tls_client_ca": CLIENTS.pem}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
        (tmp_path / name).chmod(0o600)
    return {name: tmp_path / name for name in texts}


@pytest.fixture
async def door(files: dict[str, Path], tmp_path: Path) -> AsyncIterator[Door]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(opened(tmp_path, **files))


async def test_a_certificate_is_its_principal_and_nobody_without_a_tenant(door: Door) -> None:
    pair = CLIENTS.client(SPIFFE)
    assert await door.who(pair) == "service"
    assert await door.who(pair, tenant=False) == "CALLER_UNAUTHENTICATED"
    assert await door.who(pair, (TENANT, str(door.world.tenant))) == "CALLER_UNAUTHENTICATED", "named twice"


@pytest.mark.parametrize(
    "make",
    [
        lambda: None,
        lambda: STRANGERS.client(SPIFFE),
        lambda: TestAuthority(common_name=CLIENTS.common_name).client(SPIFFE),
        lambda: CLIENTS.client(SPIFFE, since=timedelta(hours=-2), until=timedelta(hours=-1)),
        lambda: CLIENTS.client(SPIFFE, since=timedelta(hours=1), until=timedelta(hours=2)),
        CLIENTS.server,
    ],
    ids=["none", "of another authority", "of one with the same name", "expired", "not valid yet", "a server's"],
)
async def test_a_certificate_that_tls_refuses_never_gets_in(door: Door, make: Callable[[], Pair | None]) -> None:
    bearer = door.issuer.token(door.issuer.claims(door.world.tenant))
    answer = await door.who(make(), ("authorization", f"Bearer {bearer}"))
    assert answer == "UNAVAILABLE"


@pytest.mark.parametrize(
    "make",
    [
        lambda: CLIENTS.client(SPIFFE, "spiffe://harbour.example/svc/other"),
        lambda: CLIENTS.client("spiffe://elsewhere.example/svc/loader"),
        lambda: CLIENTS.client(common_name=SPIFFE),
        lambda: CLIENTS.client("spiffe://harbour.example/svc/nobody"),
        lambda: CLIENTS.client(common_name="loader"),
        lambda: CLIENTS.client(SPIFFE, is_authority=True),
    ],
    ids=["two ids", "another trust domain", "an id for a name", "nobody's", "a name", "an authority's"],
)
async def test_a_certificate_of_ours_that_names_nobody_is_no_caller(door: Door, make: Callable[[], Pair]) -> None:
    pair = make()
    assert await door.who(pair) == "CALLER_UNAUTHENTICATED"
    # and what proxies would say of another connection is not heard
    assert await door.who(pair, *FORWARDED) == "CALLER_UNAUTHENTICATED"


async def test_a_revoked_credential_is_refused_on_the_connection_that_it_opened(door: Door) -> None:
    world, metadata = door.world, ((TENANT, str(door.world.tenant)),)
    async with door.connected(CLIENTS.client(SPIFFE)) as running:
        assert (await running.fail(GET_RECORD, ONE_RECORD, metadata=metadata)).reason == "NOT_FOUND"
        credential = Credential(CredentialForm.SPIFFE, SPIFFE)
        await world.authority.store.administration.revoke_principal_key(world.tenant, credential.id, world.now())
        assert (await running.fail(GET_RECORD, ONE_RECORD, metadata=metadata)).reason == "CALLER_UNAUTHENTICATED"


async def test_a_connection_outlives_its_certificate_and_its_calls_do_not(door: Door) -> None:
    # given a connection, when its certificate expires, by the clock of the service
    metadata = ((TENANT, str(door.world.tenant)),)
    async with door.connected(CLIENTS.client(SPIFFE)) as running:
        assert (await running.fail(GET_RECORD, ONE_RECORD, metadata=metadata)).reason == "NOT_FOUND"
        door.clock.ahead_ms = 2 * HOUR
        assert (await running.fail(GET_RECORD, ONE_RECORD, metadata=metadata)).reason == "CALLER_UNAUTHENTICATED"


# --- tokens, and other roads ------------------------------------------------------------------------------------------


def bearer_of(door: Door) -> tuple[str, str]:
    """A good token, as metadata."""
    return "authorization", "Bearer " + door.issuer.token(door.issuer.claims(door.world.tenant))


async def test_a_token_is_taken_over_tls_without_a_certificate(
    files: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    del files["tls_client_ca"]
    async with opened(tmp_path, **files) as door:
        entry = bearer_of(door)
        assert await door.who(None, entry, tenant=False) == "service"
        assert await door.who(None, entry, entry, tenant=False) == "CALLER_UNAUTHENTICATED"
        assert await door.who(None, *FORWARDED) == "CALLER_UNAUTHENTICATED"
        # Nobody's certificate is asked for, so that nobody is one.
        assert await door.who(CLIENTS.client(SPIFFE)) == "CALLER_UNAUTHENTICATED"
    # and it is nowhere in what the process says
    assert entry[1].removeprefix("Bearer ") not in "".join(capfd.readouterr())


async def test_plaintext_on_this_machine_takes_tokens_and_hears_of_no_certificates(tmp_path: Path) -> None:
    async with opened(tmp_path) as door, aio.insecure_channel(f"127.0.0.1:{door.port}") as channel:
        running = Running(None, door.port, channel)  # type: ignore[arg-type] # nobody stops it by this
        answers = await _reasons(running, [(bearer_of(door),), ((TENANT, str(door.world.tenant)), *FORWARDED)])
    assert answers == ["NOT_FOUND", "CALLER_UNAUTHENTICATED"]
    assert door.seen == ["service"]


async def _reasons(running: Running, calls: Sequence[Any]) -> list[str]:
    return [(await running.fail(GET_RECORD, ONE_RECORD, metadata=metadata)).reason for metadata in calls]


# --- settings ---------------------------------------------------------------------------------------------------------


def test_an_authority_of_clients_needs_a_certificate_of_ours(files: dict[str, Path]) -> None:
    with pytest.raises(SettingsError, match="AUTHORITY_TLS_CERTIFICATE"):
        server_credentials(_settings(tls_client_ca=files["tls_client_ca"]))


@pytest.mark.parametrize("text", [b"", b"no certificate", CLIENTS.client(SPIFFE).certificate, SERVERS.pem[:-40]])
def test_a_file_without_authorities_is_refused_for_grpc_would_take_it(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "clients.pem"
    with pytest.raises(SettingsError, match="cannot be read"):
        client_authorities(file)
    file.write_bytes(text)
    with pytest.raises(SettingsError, match="certificates of authorities"):
        client_authorities(file)
    file.write_bytes(CLIENTS.pem + SERVERS.pem)
    assert client_authorities(file) == CLIENTS.pem + SERVERS.pem


@pytest.mark.parametrize("domains", ["", "Harbour.example", "a, b", "a,,b", "spiffe://a", "a\n"])
def test_a_trust_domain_is_a_name(domains: str) -> None:
    with pytest.raises(ValueError, match="trust domains"):
        _settings(tls_trust_domains=domains)
