"""The TypeScript client over mutual TLS with a real service: its certificate names the principal, who signs nothing."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.commands import authority
from tests.installation.installation import AUDIENCE, ISSUER, Installation, Tenant
from tests.installation.processes import ServiceProcess, eventually
from tests.typescript.conftest import run_node_tests

LOADER = "desk|loader"


@pytest.fixture
def certificates(installation: Installation, tenant: Tenant, tmp_path: Path) -> Path:
    """A folder of certificates; the service knows the loader by its own."""
    named = f"{tenant.ref.namespace}|{tenant.ref.id}"
    who = ("--tenant", named, "--principal", LOADER)
    made = authority("dev-certs", *who, cwd=tmp_path, AUTHORITY_ISSUER=ISSUER, AUTHORITY_AUDIENCE=AUDIENCE)
    assert made.returncode == 0, made.stderr
    spiffe = f"spiffe://dev.local/{tenant.ref.namespace}/{tenant.ref.id}/desk/loader"
    database = {"AUTHORITY_ADMIN_DATABASE_URL": installation.admin_url}
    added = authority("principals", "add", *who, "--kind", "service", "--spiffe", spiffe, cwd=tmp_path, **database)
    assert added.returncode == 0, added.stderr
    return tmp_path / "dev-certs"


@pytest.fixture
async def tls_service(installation: Installation, certificates: Path) -> AsyncIterator[ServiceProcess]:
    """A process that asks its callers for certificates."""
    tls = {
        "tls_certificate": str(certificates / "server.pem"),
        "tls_private_key": str(certificates / "server-key.pem"),
        "tls_client_ca": str(certificates / "ca.pem"),
        "tls_trust_domains": "dev.local",
    }
    with installation.processes() as processes:
        process = processes.start(tls)
        await eventually(lambda: " serves at " in process.said, "the process serves over TLS")
        yield process


async def test_a_certificate_names_its_principal(
    node: str, typescript_client: Path, place: dict[str, str], certificates: Path, tls_service: ServiceProcess
) -> None:
    settings = {"AUTHORITY_TLS_TARGET": tls_service.address, "AUTHORITY_CERTIFICATES": str(certificates)}

    await asyncio.to_thread(
        run_node_tests, node, typescript_client, "with-service/tls/certificates", **place, **settings
    )
