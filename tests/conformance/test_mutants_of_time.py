"""Authorities that err by a millisecond. No caller hits that millisecond from outside: the golden vectors name it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.mutants.table import ROOT, Edit, Mutant, PackageCopy

VECTORS = "tests/vectors/test_golden_authority.py"
RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import authority, pytest  # Before pytest puts the checkout in front.
assert authority.__path__[0].startswith(sys.argv[1]), authority.__path__
sys.exit(pytest.main([*sys.argv[2:], "-q", "-x", "-p", "no:cacheprovider"]))
"""
FAILED = 1
"""pytest's exit status when a test failed; whatever else goes wrong is another one."""
EXPIRY, NOT_BEFORE = "now >= terms.expire_time", "now < terms.not_before_time - limits.NOT_BEFORE_SKEW_MS"
CAPABILITY, GRANT = ("domain/verify.py", "e12_the_authority"), ("domain/grant_use.py", "e17_e18_e21_i15_the_authority")


def mutant(file: str, text: str, instead: str) -> Mutant:
    edit = Edit(file=file, text=text, instead=instead)
    return Mutant(name="off by one", breaks="Lives are [not_before, expire).", edits=(edit,), case=VECTORS, at=instead)


def vectors_over(copy: PackageCopy, tests: str) -> "subprocess.CompletedProcess[str]":
    """What pytest says of the golden vectors over this copy of the authority."""
    command = [sys.executable, "-c", RUN, str(copy.path), VECTORS, "-k", tests]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("file", "tests", "text", "instead"),
    [
        (*CAPABILITY, EXPIRY, "now > terms.expire_time"),
        (*CAPABILITY, NOT_BEFORE, NOT_BEFORE.replace("<", "<=")),
        (*CAPABILITY, NOT_BEFORE, "now < terms.not_before_time"),
        (*GRANT, EXPIRY, "now > terms.expire_time"),
    ],
    ids=["good at its expiry", "not good when its skew begins", "without skew", "a grant good at its expiry"],
)
def test_e12_the_vectors_catch_an_authority_that_errs_at_the_boundary(
    file: str, tests: str, text: str, instead: str, tmp_path: Path
) -> None:
    ran = vectors_over(PackageCopy.made(tmp_path, mutant(file, text, instead)), tests)

    assert ran.returncode == FAILED, ran.stdout + ran.stderr


def test_a_sound_copy_passes_them(tmp_path: Path) -> None:
    ran = vectors_over(PackageCopy.made(tmp_path, None), f"{CAPABILITY[1]} or {GRANT[1]}")

    assert ran.returncode == 0, ran.stdout + ran.stderr
