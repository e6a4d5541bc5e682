"""The committed Python code of the contract is what proto/ generates today, file for file."""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = Path("capability_authority", "v1")


def generated_files(directory: Path) -> dict[str, str]:
    """The text of every generated module and stub file of the contract, by file name."""
    return {path.name: path.read_text("utf-8") for path in (directory / PACKAGE).glob("*_pb2*")}


def test_generated_code_is_fresh(tmp_path: Path) -> None:
    # When the contract is generated into an empty directory
    subprocess.run([sys.executable, REPOSITORY / "proto" / "generate.py", tmp_path], check=True)

    # Then it holds the committed files: none older, none missing, none left over from an earlier contract
    fresh, committed = generated_files(tmp_path), generated_files(REPOSITORY / "clients" / "python" / "src")
    assert fresh, "nothing was generated"
    stale = sorted(name for name in fresh.keys() | committed.keys() if fresh.get(name) != committed.get(name))
    assert not stale, f"run `make generate` and commit: {', '.join(stale)}"
