"""What the README of the TypeScript client shows is compiled, and run as it stands there, on a real service."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from authority.policy.bundle import bundle_version, default_bundle
from authority.usecases.administer import NewMemoryNamespace
from capability_authority.offline.upstream import ActionRef, commit_action_envelope, sign_action_envelope
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.team import team_at
from tests.typescript.conftest import CLIENT
from tests.typescript.upstream_module import published_module

pytestmark = pytest.mark.timeout(600)  # Whoever is first has upstream's module fetched.

README = (CLIENT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```ts\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
ISSUER = "capability-authority"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
async def readers_service(installation: Installation) -> AsyncIterator[ServiceProcess]:
    """A process of the issuer that the README pins."""
    with installation.processes() as processes:
        yield await processes.serving({"issuer": ISSUER})


@pytest.fixture
async def readers_place(
    installation: Installation, readers_service: ServiceProcess, tenant: Tenant, tmp_path: Path
) -> dict[str, str]:
    """What a reader has before: two credentials files, and the memory namespace."""
    new = NewMemoryNamespace(
        tenant=tenant.ref, name="engineering/reviews", policy_version=bundle_version(default_bundle())
    )
    async with installation.operator() as operator:
        await operator.administration.add_namespace(new, operator.clock.now())
    for name in ("agent", "service"):
        replace(tenant[name], target=readers_service.address, issuer=ISSUER).save(tmp_path / f"{name}.json")
    return {
        "AGENT_CREDENTIALS": str(tmp_path / "agent.json"),
        "AUTHORITY_CREDENTIALS": str(tmp_path / "service.json"),
    }


@pytest.fixture
def compiled_blocks(node: str, typescript_client: Path, request: pytest.FixtureRequest) -> list[Path]:
    """The blocks as programs, compiled as strictly as the client, in a place that imports it by its name."""
    folder = typescript_client / "dist" / "readme"
    shutil.rmtree(folder, ignore_errors=True)
    _install_upstream(published_module(request.config.cache.mkdir("upstream")), folder / "node_modules")

    options = {"rootDir": ".", "outDir": "out", "composite": False, "declaration": False, "tsBuildInfoFile": None}
    config = {"extends": "../../tsconfig.json", "compilerOptions": options, "include": ["*.ts"]}
    (folder / "tsconfig.json").write_text(json.dumps(config))
    for number, block in enumerate(BLOCKS):
        (folder / f"block-{number}.ts").write_text(block, encoding="utf-8")
    compiler = typescript_client / "node_modules" / "typescript" / "bin" / "tsc"
    built = subprocess.run([node, compiler, "-p", folder], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout
    return [folder / "out" / f"block-{number}.js" for number in range(len(BLOCKS))]


def _install_upstream(module: Path, modules: Path) -> None:
    """Put what the README has its reader install where npm puts it, found by upstream's own package.json."""
    package = modules / "@claude-flow" / "security"
    policy = package / "dist" / "policy"
    policy.mkdir(parents=True)
    shutil.copy(module.with_name("package.json"), package)
    for here, published in ((".mjs", ".js"), (".d.mts", ".d.ts")):
        shutil.copy(module.with_name(f"product-plane{here}"), policy / f"product-plane{published}")


@pytest.fixture
async def envelope(readers_service: ServiceProcess, tenant: Tenant) -> bytes:
    """A signed envelope for a commit that the authority allows."""
    members = {name: replace(it, issuer=ISSUER) for name, it in tenant.members.items()}
    async with team_at(readers_service.address, replace(tenant, members=members)) as team:
        capability = (await team.ready()).capability
    unsigned = commit_action_envelope(
        capability.terms,
        event_id=str(uuid4()),
        subject=ActionRef("workload", "nightly"),
        occurred_ms=time.time_ns() // 1_000_000,
    )
    return sign_action_envelope(unsigned, tenant["service"].signing_key)


def test_the_blocks_run_as_they_stand(
    node: str, compiled_blocks: list[Path], readers_place: dict[str, str], envelope: bytes, tmp_path: Path
) -> None:
    (tmp_path / "envelope.json").write_bytes(envelope)

    printed = []
    for block in compiled_blocks:
        done = subprocess.run(
            [node, block],
            cwd=tmp_path,
            env={**os.environ, **readers_place},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        printed.append(done.stdout.splitlines())

    exchange, offline, grants, upstream, errors = printed
    assert exchange[0] == "agent_output pass allow"
    record = exchange[1].removeprefix("record ")
    assert UUID.fullmatch(record)
    assert offline == [f"allowed and committed: {record} by service"]
    assert grants == [f"found {record}", "false REVOKED"]
    assert upstream == ["passes"]
    assert errors == ["no such capability"]


def test_an_idle_client_lets_the_process_end(node: str, typescript_client: Path, readers_place: dict[str, str]) -> None:
    program = (
        "import { CapabilityAuthority } from 'capability-authority-client';"
        "console.log((await CapabilityAuthority.connect().versions()).serviceContract);"
    )
    done = subprocess.run(
        [node, "--input-type=module", "--eval", program],
        cwd=typescript_client,
        env={**os.environ, **readers_place},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert int(done.stdout) >= 1


def test_every_verb_is_named(node: str, typescript_client: Path) -> None:
    listing = (
        "import { CapabilityAuthority } from 'capability-authority-client';"
        "for (let kind = CapabilityAuthority.prototype; kind !== Object.prototype; kind = Object.getPrototypeOf(kind))"
        " console.log(Object.getOwnPropertyNames(kind).join('\\n'));"
    )
    command = [node, "--input-type=module", "--eval", listing]
    done = subprocess.run(command, cwd=typescript_client, capture_output=True, text=True, check=True)
    inner = {"constructor", "send", "sendBatch", "streamCommits", "watch", "started", "now", "fetchKeySet"}
    verbs = set(done.stdout.split()) - inner

    assert {"propose", "commit", "call"} <= verbs
    assert {verb for verb in verbs if f"`{verb}" not in README} == set()
