"""`authority relay` beside an embedded authority, which has a relay of its own."""

from pathlib import Path

from tests.e2e.commands import authority


def test_it_finds_the_authority_of_this_folder_as_every_command_does(data: Path, tmp_path: Path) -> None:
    # Given a folder in which an authority is served
    (tmp_path / ".authority").symlink_to(data)

    # When no other is named, then its events are delivered
    done = authority("relay", "--once", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0 pending and 0 parked in the outbox" in done.stdout
