"""What `npm pack` makes of the TypeScript client works by itself, in a project that has nothing else of it."""

import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.typescript.conftest import CLIENT

EVERY_EXPORT = """
import { readdirSync } from "node:fs";
const home = new URL("node_modules/capability-authority-client/", `file://${process.cwd()}/`);
const messages = readdirSync(new URL("dist/src/proto/capability_authority/v1/", home));
const names = messages.filter((name) => name.endsWith("_pb.js")).map((name) => `/v1/${name.slice(0, -6)}`);
for (const name of ["", "/offline", "/upstream", ...names]) {
  const module = await import(`capability-authority-client${name}`);
  console.log(name, Object.keys(module).length > 0);
}
"""


@pytest.fixture(scope="module")
def packed(node: str, typescript_client: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as npm unpacks it into a project, beside what it depends on and nothing else."""
    place = tmp_path_factory.mktemp("packed")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on the PATH: the TypeScript client was not packed")
    # What is packed was built just now: `prepack` would build it once more, under the feet of other tests.
    pack = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", str(place)]
    done = subprocess.run(pack, cwd=typescript_client, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    modules = place / "project" / "node_modules"
    modules.mkdir(parents=True)
    with tarfile.open(place / done.stdout.split()[-1]) as archive:
        # Python before 3.11.4 has no filters, and takes no argument of that name.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        archive.extractall(modules)  # noqa: S202 - made by ourselves just now
    home = modules / "capability-authority-client"
    (modules / "package").rename(home)
    for name in json.loads((home / "package.json").read_text("utf-8"))["dependencies"]:
        (modules / name).parent.mkdir(exist_ok=True)
        (modules / name).symlink_to(typescript_client / "node_modules" / name)
    return home


def test_every_export_can_be_imported(node: str, packed: Path) -> None:
    command = [node, "--input-type=module", "--eval", EVERY_EXPORT]
    done = subprocess.run(command, cwd=packed.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 3
    assert "false" not in done.stdout


def test_it_holds_what_a_user_needs_and_nothing_else(packed: Path) -> None:
    files = {path.relative_to(packed).as_posix() for path in packed.rglob("*") if path.is_file()}
    assert {name for name in files if not name.startswith("dist/src/")} == {"LICENSE", "README.md", "package.json"}
    compiled = {name.removesuffix(".js") for name in files if name.endswith(".js")}
    assert {f"{name}{kind}" for name in compiled for kind in (".js", ".js.map", ".d.ts")} == files - {
        "LICENSE",
        "README.md",
        "package.json",
    }
    assert (packed / "LICENSE").read_bytes() == (CLIENT / "LICENSE").read_bytes()


def test_its_maps_carry_their_sources(packed: Path) -> None:
    maps = [json.loads(path.read_text("utf-8")) for path in packed.rglob("*.map")]
    assert maps
    assert all(one["sourcesContent"] for one in maps)
