"""What the wheels hold is enough: no checkout, no undeclared requirement, every SQL file and data file inside."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = {
    "authority": REPOSITORY,
    "capability_authority": REPOSITORY / "clients" / "python" / "src",
    "capability_authority_conformance": REPOSITORY / "conformance" / "src",
}
CONFORMANCE_DATA = {"suites": "*.yaml", "vectors": "*.*"}
"""Lie beside `src`, and within the package in the wheel."""
IMPORT_EVERYTHING = """
import importlib, pkgutil
for root in ("authority", "capability_authority", "capability_authority_conformance"):
    package = importlib.import_module(root)
    assert "site-packages" in package.__path__[0], package.__path__
    for module in pkgutil.walk_packages(package.__path__, root + "."):
        # pytest loads its plugin, and brings itself along; what the extra `pii` adds is imported only where that is.
        if not module.name.endswith((".__main__", ".pytest_plugin", ".validators.personal_data")):
            importlib.import_module(module.name)
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of all distributions, built as `make wheels` does but from a copy of the sources."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    leftovers = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for part in ("authority", "clients/python", "conformance"):
        shutil.copytree(REPOSITORY / part, source / part, ignore=leftovers)
    for file in (path for path in REPOSITORY.iterdir() if path.is_file()):
        shutil.copy(file, source)
    pip_wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    distributions = (source / "clients" / "python", source / "conformance", source)
    subprocess.run([*pip_wheel, "--wheel-dir", built, *distributions], check=True)
    return built


def files_of(package: str) -> set[str]:
    """Every file of the package in the checkout, as a wheel names it."""
    root = PACKAGES[package]
    found = (path for path in (root / package).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix() for path in found}


def test_wheels_hold_every_file_of_the_packages(wheels: Path) -> None:
    held = {name for wheel in wheels.glob("*.whl") for name in zipfile.ZipFile(wheel).namelist()}
    data = {
        f"capability_authority_conformance/{path.relative_to(REPOSITORY / 'conformance').as_posix()}"
        for folder, pattern in CONFORMANCE_DATA.items()
        for path in (REPOSITORY / "conformance" / folder).rglob(pattern)
    }
    left_out = set().union(data, *map(files_of, PACKAGES)) - held
    assert not left_out, f"name their suffix in package-data of pyproject.toml: {sorted(left_out)}"


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_wheel_runs_alone(wheels: Path, tmp_path: Path) -> None:
    # Given an environment with nothing but the wheel and what it declares, at the versions of the lock
    locked = (line.split(" \\")[0] for line in (REPOSITORY / "requirements" / "runtime.txt").read_text().splitlines())
    versions = tmp_path / "versions.txt"
    versions.write_text("\n".join(line for line in locked if line and not line.startswith((" ", "#"))))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    install = [*pip, "--find-links", wheels, "--constraint", versions]
    subprocess.run([*install, "capability-authority[embedded]", "capability-authority-conformance"], check=True)

    # When every module is imported away from the checkout, then none asks for a package that is not declared
    subprocess.run([python, "-I", "-c", IMPORT_EVERYTHING], check=True, cwd=tmp_path)

    # And the conformance suite has its cases and vectors with it
    subprocess.run([python, "-I", "-m", "capability_authority_conformance", "lint"], check=True, cwd=tmp_path)

    # And the demo runs from it, with an empty home and a bare environment
    (home := tmp_path / "home").mkdir()
    done = subprocess.run(
        [python.with_name("authority"), "demo"],
        check=False,
        cwd=home,
        env={"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("demo ok: committed=")
