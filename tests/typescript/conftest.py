"""The TypeScript client, built once for all its tests; where Node.js is absent they are skipped, and say so."""

import fcntl
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.installation.installation import Tenant
from tests.installation.processes import ServiceProcess

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "typescript"
OLDEST_NODE = 20


@pytest.fixture(scope="session")
def node() -> str:
    """Node.js, of a version that the client supports."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node.js is not on the PATH: the TypeScript client was not tested")
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    if int(version.removeprefix("v").split(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node.js is {version.strip()}, older than {OLDEST_NODE}: the TypeScript client was not tested")
    return program


@pytest.fixture(scope="session")
def typescript_client(node: str) -> Path:
    """The folder of the client, compiled as strictly as it is published."""
    compiler = CLIENT / "node_modules" / "typescript" / "bin" / "tsc"
    assert compiler.exists(), "run `make test`, which installs the client's lock; or `npm ci` in clients/typescript"
    with (compiler.parent / "tsc").open() as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)  # Test processes side by side would write over each other.
        built = subprocess.run([node, compiler, "--build"], cwd=CLIENT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout
    return CLIENT


@pytest.fixture
def place(services: tuple[ServiceProcess, ...], tenant: Tenant, tmp_path: Path) -> dict[str, str]:
    """Where a test file finds the service, and who it may be there: the members of a tenant of its own."""
    for name, credentials in tenant.members.items():
        replace(credentials, target=services[0].address).save(tmp_path / f"{name}.json")
    return {"AUTHORITY_TARGET": services[0].address, "AUTHORITY_CREDENTIALS_FOLDER": str(tmp_path)}


def run_node_tests(node: str, client: Path, *names: str, **settings: str) -> None:
    """Run compiled test files by name (`signing`, `with-service/commit`); what they print stands in the failure."""
    files = [client / "dist" / "test" / f"{name}.test.js" for name in names]
    command = [node, "--enable-source-maps", "--test", "--test-reporter=spec", *map(str, files)]
    done = subprocess.run(
        command,
        cwd=client,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
