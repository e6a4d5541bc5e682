"""What validators need of others' packages is imported when one is asked, never before: together it takes seconds."""

import subprocess
import sys

import pytest

HEAVY = ("datasketch", "numpy", "scipy", "detect_secrets", "presidio_analyzer", "spacy")


@pytest.mark.parametrize(
    "imported",
    ["authority.cli.app", "authority.cli.validators", "authority.bootstrap.service", "capability_authority.client"],
)
def test_nothing_heavy_is_imported_to_begin(imported: str) -> None:
    code = f"import {imported}, sys; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
