"""`authority inspect`: statements verified by whatever keys are at hand."""

from pathlib import Path

from tests.e2e.commands import authority
from tests.e2e.operator.operating import Run, called, proposed


def test_statements_can_be_verified_against_a_stored_key_set(run: Run, data: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(run("call", "GetKeySet").out)
    answer = called(run, "ValidateProposal", "user", proposed(run, "endlaQ==")).out

    done = authority("inspect", "-", "--key-set", str(keys), cwd=tmp_path, text=answer)

    assert done.returncode == 0
    assert "VALID: signed by a key of capability-authority" in done.stdout
    assert "Nothing of this is proved" not in done.stdout


def test_statements_are_verified_by_the_authority_that_is_served_here(run: Run, data: Path, tmp_path: Path) -> None:
    # Given a folder with a served .authority, and one without
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    (here / ".authority").symlink_to(data)
    answer = called(run, "ValidateProposal", "user", proposed(run, "aGVyZQ==")).out

    served = authority("inspect", "-", cwd=here, text=answer)
    alone = authority("inspect", "-", cwd=elsewhere, text=answer)

    assert (served.returncode, alone.returncode) == (0, 0)
    assert "VALID: signed by a key of capability-authority" in served.stdout
    assert "UNKNOWN: not verified: no key set was given; --data DIR or --key-set FILE would verify it" in alone.stdout
