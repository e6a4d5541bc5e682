"""The committed code of the contract is what proto/ generates today, file for file, in every language."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = {
    "contract": Path("clients", "python", "src", "capability_authority", "v1"),
    "conformance": Path("conformance", "src", "capability_authority_conformance", "v1"),
}
"""Where the generated code of each package is committed."""
TYPESCRIPT = Path("clients", "typescript", "src", "proto")


def generated_files(folder: Path) -> dict[str, bytes]:
    """Every generated module and stub file in a folder, and a descriptor set, by file name."""
    return {path.name: path.read_bytes() for path in (*folder.glob("*_pb2*"), *folder.glob("*.binpb"))}


def typescript_files(directory: Path) -> dict[str, str]:
    """The text of every generated TypeScript file, by its path."""
    return {str(path.relative_to(directory)): path.read_text("utf-8") for path in directory.rglob("*.ts")}


@pytest.mark.parametrize("name", PYTHON)
def test_generated_code_is_fresh(name: str, tmp_path: Path) -> None:
    # When it is generated into an empty directory
    subprocess.run([sys.executable, REPOSITORY / "proto" / "generate.py", name, tmp_path], check=True)

    # Then it holds the committed files: none older, none missing, none left over from an earlier contract
    package = Path(*PYTHON[name].parts[-2:])
    fresh, committed = generated_files(tmp_path / package), generated_files(REPOSITORY / PYTHON[name])
    assert fresh, "nothing was generated"
    stale = sorted(name for name in fresh.keys() | committed.keys() if fresh.get(name) != committed.get(name))
    assert not stale, f"run `make generate` and commit: {', '.join(stale)}"


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is absent: TypeScript was not generated anew")
def test_generated_typescript_is_fresh(tmp_path: Path) -> None:
    # When it is generated below another directory
    buf = Path(sys.executable).with_name("buf")
    subprocess.run([buf, "generate", "--output", tmp_path], cwd=REPOSITORY, check=True)

    # Then that holds the committed files
    fresh, committed = typescript_files(tmp_path / TYPESCRIPT), typescript_files(REPOSITORY / TYPESCRIPT)
    assert fresh, "nothing was generated"
    stale = sorted(name for name in fresh.keys() | committed.keys() if fresh.get(name) != committed.get(name))
    assert not stale, f"run `make generate` and commit: {', '.join(stale)}"
