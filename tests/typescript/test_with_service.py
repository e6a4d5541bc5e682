"""What the TypeScript client does with a real service: each file of test/with-service is one test here.

A file finds in its environment the service's address (AUTHORITY_TARGET) and a folder of credentials files
(AUTHORITY_CREDENTIALS_FOLDER), one for each member of a tenant of its own.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.installation.installation import Tenant
from tests.installation.processes import ServiceProcess
from tests.typescript.conftest import CLIENT, run_node_tests

WITH_SERVICE = sorted(path.name.removesuffix(".test.ts") for path in (CLIENT / "test/with-service").glob("*.test.ts"))


@pytest.fixture
def place(services: tuple[ServiceProcess, ...], tenant: Tenant, tmp_path: Path) -> dict[str, str]:
    """Where a test file finds the service, and who it may be there."""
    for name, credentials in tenant.members.items():
        replace(credentials, target=services[0].address).save(tmp_path / f"{name}.json")
    return {"AUTHORITY_TARGET": services[0].address, "AUTHORITY_CREDENTIALS_FOLDER": str(tmp_path)}


@pytest.mark.parametrize("name", WITH_SERVICE)
async def test_the_typescript_client_with_a_service(
    node: str, typescript_client: Path, place: dict[str, str], name: str
) -> None:
    run_node_tests(node, typescript_client, f"with-service/{name}", **place)
