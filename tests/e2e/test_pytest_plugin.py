"""The pytest plugin in projects that use it: the README's tests, each in a run of pytest of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "clients/python/README.md").read_text(encoding="utf-8")
PLUGIN = "capability_authority.pytest_plugin"
WITHIN_S = 90.0

ISOLATED = """
import pytest
from capability_authority.testing import EmbeddedAuthority, TenantForTests

@pytest.mark.parametrize("number", range(3))
def test_each_sees_nothing_but_its_own(authority_tenant: TenantForTests, number: int) -> None:
    agent = authority_tenant.client("agent")
    agent.propose(memory_namespace=authority_tenant.memory_namespace, memory_type="critique", content=f"{number}")
    assert len(list(agent.list_proposals(memory_namespace=authority_tenant.memory_namespace))) == 1

def test_tenants_are_never_the_same(capability_authority: EmbeddedAuthority) -> None:
    tenants = [capability_authority.new_tenant() for _ in range(5)]
    assert len({tenant.reference for tenant in tenants}) == 5
    assert all(tenant.credentials("admin").target == capability_authority.address for tenant in tenants)
"""
FAILING = """
from capability_authority.testing import EmbeddedAuthority

def test_this_fails(capability_authority: EmbeddedAuthority) -> None:
    with capability_authority.log.open("a") as log:
        log.write("what the service said meanwhile")
    assert False
"""
SHARED = """
import subprocess, sys
from capability_authority.testing import EmbeddedAuthority

def test_another_run_shares_it(capability_authority: EmbeddedAuthority) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "PLUGIN", "test_readme_0.py"]
    done = subprocess.run(
        [*command, "--capability-authority-data", str(capability_authority.data)], capture_output=True, text=True
    )
    assert "1 passed" in done.stdout, done.stdout
"""
WAITING = """
import threading
from pathlib import Path
from capability_authority.testing import EmbeddedAuthority

def test_it_waits_for_ever(capability_authority: EmbeddedAuthority) -> None:
    Path("waits").touch()
    threading.Event().wait()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the README's tests."""
    modules = re.findall(r"```py\n(.*?)```", README, re.DOTALL)
    assert len(modules) == 2
    for number, module in enumerate(modules):
        (tmp_path / f"test_readme_{number}.py").write_text(module)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider -p no:valkey\n")
    return tmp_path


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-p", PLUGIN, *arguments]


def environment(project: Path) -> dict[str, str]:
    """Ours, with temporary folders of the project's own: they are looked into afterwards."""
    return {**os.environ, "PYTEST_DEBUG_TEMPROOT": str(project), "AUTHORITY_CREDENTIALS": "/nowhere"}


def descendants(pid: int) -> list[int]:
    """The processes that it started, and those that they did."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split() if entry.name.isdigit() else []
        except OSError:
            continue  # It has just ended.
        if fields:
            parents[int(entry.name)] = int(fields[1])
    found = [pid]
    for parent in found:
        found.extend(child for child, its in parents.items() if its == parent)
    return found[1:]


def test_a_project_tests_on_a_real_authority(project: Path) -> None:
    # Given the README's tests, and others
    (project / "test_isolated.py").write_text(ISOLATED)
    (project / "test_failing.py").write_text(FAILING)
    (project / "test_shared.py").write_text(SHARED.replace("PLUGIN", PLUGIN))

    # When they are run
    done = subprocess.run(
        command("-rA", "-o", "asyncio_mode=strict"),
        cwd=project,
        env=environment(project),
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
    )

    # Then they pass, the one that fails shows what the service logged, and nothing is left
    assert "1 failed, 7 passed" in done.stdout, done.stdout + done.stderr
    assert "what the service said meanwhile" in done.stdout.split("Capability Authority log")[1]
    assert list(project.rglob("serve.log")) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_of_a_run_that_is_ended(project: Path, number: signal.Signals) -> None:
    # Given a run, without pytest-asyncio, in the middle of a test
    (project / "test_waiting.py").write_text(WAITING)
    with subprocess.Popen(
        command("-p", "no:asyncio", "test_readme_0.py", "test_waiting.py"),
        cwd=project,
        env=environment(project),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        try:
            until(lambda: (project / "waits").exists() or run.poll() is not None)
            servers = descendants(run.pid)

            # When it is ended
            run.send_signal(number)
            out, _ = run.communicate(timeout=WITHIN_S)
        finally:
            run.kill()

    # Then the authority and its servers end too
    assert len(servers) > 3
    assert ("1 passed" in out) == (number == signal.SIGINT), out
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in servers))


def until(holds: Callable[[], bool]) -> None:
    """Returns once it holds."""
    deadline = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_without_the_service_it_says_what_to_install(project: Path) -> None:
    program = (
        f"import sys, pytest; sys.modules['authority'] = None; pytest.main(['-p', '{PLUGIN}', 'test_readme_0.py'])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project, capture_output=True, text=True, check=False, timeout=WITHIN_S
    )

    assert "service is not installed here; remedy: pip install 'capability-authority[embedded]'" in done.stdout
    assert "1 error" in done.stdout


def test_it_is_registered_and_loads_nothing_before_it_is_asked() -> None:
    declared = (ROOT / "clients/python/pyproject.toml").read_text(encoding="utf-8")
    loads = f"import sys, {PLUGIN}; sys.exit('grpc' in sys.modules or 'authority' in sys.modules)"

    assert "[project.entry-points.pytest11]\n# Named" in declared
    assert f'"{PLUGIN}" = "{PLUGIN}"' in declared
    assert subprocess.run([sys.executable, "-c", loads], check=False, timeout=WITHIN_S).returncode == 0
