"""A secret that processes share: made once, by whoever is first, and refused when others can read it."""

import multiprocessing
import os
import stat
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from authority.signing.secret_file import SecretRefused, read_or_make_secret

SIZE = 32
PROCESSES = 4
ROUNDS = 25


def test_a_missing_secret_is_made_and_then_kept(tmp_path: Path) -> None:
    path = tmp_path / "new" / "secret"
    secret = read_or_make_secret(path, SIZE)
    assert len(secret) == SIZE
    assert read_or_make_secret(path, SIZE) == secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert read_or_make_secret(tmp_path / "other", SIZE) != secret


def test_processes_that_find_it_missing_at_once_agree_on_one(tmp_path: Path) -> None:
    # Given processes that all ask for the same missing secrets at the same time
    paths = [tmp_path / str(number) for number in range(ROUNDS) for _ in range(PROCESSES)]
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        # When each has its answer
        secrets = list(pool.map(read_or_make_secret, paths, [SIZE] * len(paths)))

    # Then all have the same one for the same file, which is what the file holds
    agreed = dict(zip(paths, secrets, strict=True))
    assert [agreed[path] for path in paths] == secrets
    assert {path: path.read_bytes() for path in paths} == agreed
    assert set(tmp_path.iterdir()) == set(paths)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o602, 0o610, 0o644])
def test_a_secret_that_others_have_rights_on_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "secret"
    read_or_make_secret(path, SIZE)
    path.chmod(mode)
    with pytest.raises(SecretRefused, match="chmod 600"):
        read_or_make_secret(path, SIZE)


@pytest.mark.parametrize("content", [b"", bytes(SIZE - 1), bytes(SIZE + 1)])
def test_a_secret_of_another_size_is_refused_and_not_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_bytes(content)
    with pytest.raises(SecretRefused, match="exactly 32 bytes"):
        read_or_make_secret(path, SIZE)
    assert path.read_bytes() == content


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    with pytest.raises(SecretRefused, match="not a regular file"):
        read_or_make_secret(tmp_path / "secret", SIZE)
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(SecretRefused, match="not a regular file"):
        read_or_make_secret(tmp_path / "pipe", SIZE)
