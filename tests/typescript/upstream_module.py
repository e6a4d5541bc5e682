"""The published verifier of upstream, as it is: fetched once into pytest's cache, checked against its pinned digest."""

import base64
import fcntl
import hashlib
import io
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Final

PACKAGE: Final = "claude-flow@3.43.0"
SHA512: Final = "qaONGM4PdXHstuoXWUjVHlhJdFoNrn9TfWSVT7msEod8By5yMZpc86ww0a9l1qppyYqCG4TvsVaV7XvWnFJd/g=="
"""Of the tarball, as the registry publishes it (`npm view claude-flow@3.43.0 dist.integrity`)."""
_TARBALL: Final = "claude-flow-3.43.0.tgz"
_HOME: Final = "package/node_modules/@claude-flow/security"
_FILES: Final = (
    ("dist/policy/product-plane.js", "product-plane.mjs"),
    ("dist/policy/product-plane.d.ts", "product-plane.d.mts"),
    ("package.json", "package.json"),
)
_WITHIN_S: Final = 120


def published_module(cache: Path) -> Path:
    """The module's file, an ES module that imports node:crypto alone; its types and its package.json lie beside it.

    The registry is asked when `cache` has none. Raises `AssertionError` that says so when the registry cannot be
    reached, or hands over something else.
    """
    with (cache / "lock").open("w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        tarball = cache / _TARBALL
        if not tarball.exists():
            _pack(cache)
        return _extracted(tarball, cache)


def _pack(cache: Path) -> None:
    npm = shutil.which("npm")
    assert npm is not None, f"npm is not on the PATH, and {PACKAGE} is not cached in {cache}"
    draft = cache / "draft"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    packed = subprocess.run(
        [npm, "pack", PACKAGE, "--pack-destination", draft],
        capture_output=True,
        text=True,
        check=False,
        timeout=_WITHIN_S,
    )
    assert packed.returncode == 0, f"{PACKAGE} cannot be had from the registry: {packed.stderr}"
    # Whole or not at all: whoever is killed meanwhile leaves no half of one.
    (draft / _TARBALL).rename(cache / _TARBALL)


def _extracted(tarball: Path, folder: Path) -> Path:
    data = tarball.read_bytes()
    found = base64.b64encode(hashlib.sha512(data).digest()).decode()
    assert found == SHA512, f"{tarball} is not {PACKAGE}: its sha512 is {found}"
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for published, here in _FILES:
            member = archive.extractfile(f"{_HOME}/{published}")
            assert member is not None, f"{PACKAGE} has no {_HOME}/{published}"
            _put(folder / here, member.read())
    return folder / "product-plane.mjs"


def _put(file: Path, data: bytes) -> None:
    """Whole at once: another test process may be reading what stands there already."""
    draft = file.with_name(f"{file.name}.draft")
    draft.write_bytes(data)
    draft.replace(file)
