"""Generates Python code: ``python proto/generate.py contract|conformance DIRECTORY``.

`contract` is what the service and its clients speak, `conformance` how conformance cases are written. Messages and
their type stubs come from every .proto file, service stubs only from the files that declare a service; beside those of
the contract lies the whole of it as a descriptor set, with the details of its errors, for tools and languages that have
no code of it. What an earlier
version left in the package below ``DIRECTORY`` is removed first; ``__init__.py`` there stays.
"""

import sys
import sysconfig
from importlib.resources import files
from pathlib import Path
from typing import Final

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
THIRD_PARTY = ROOT / "third_party"
CONTRACT: Final = "contract"
PACKAGES: Final = {
    CONTRACT: (ROOT / "proto", Path("capability_authority", "v1")),
    "conformance": (ROOT / "conformance" / "proto", Path("capability_authority_conformance", "v1")),
}
DESCRIPTOR_SET = "contract.binpb"
ERROR_DETAILS = THIRD_PARTY / "google" / "rpc" / "error_details.proto"
"""What refusals carry. No file of the contract imports it, so that a tool would show its bytes."""


def main(name: str, directory: Path) -> int:
    """Write the generated modules below ``directory``; returns protoc's exit status."""
    root, package = PACKAGES[name]
    target = directory / package
    target.mkdir(parents=True, exist_ok=True)
    for stale in target.glob("*_pb2*"):
        stale.unlink()
    sources = sorted((root / package).glob("*.proto"))
    messages = [f"--python_out={directory}", f"--mypy_out=quiet:{directory}"]
    if name != CONTRACT:
        return run_protoc(root, messages, sources)
    services = [f"--grpc_python_out={directory}", f"--mypy_grpc_out=quiet:{directory}"]
    with_service = [source for source in sources if source.stem.endswith("_service")]
    described = [f"--descriptor_set_out={target / DESCRIPTOR_SET}", "--include_imports"]
    steps = ((messages, sources), (services, with_service), (described, [*sources, ERROR_DETAILS]))
    return next((failed for outputs, of in steps if (failed := run_protoc(root, outputs, of))), 0)


def run_protoc(root: Path, outputs: list[str], sources: list[Path]) -> int:
    """Run the protoc inside grpcio-tools with mypy-protobuf's plugins from this same environment."""
    scripts = Path(sysconfig.get_path("scripts"))
    plugins = [f"--plugin={name}={scripts / name}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")]
    includes = [f"--proto_path={directory}" for directory in (root, THIRD_PARTY, files("grpc_tools") / "_proto")]
    return int(protoc.main(["protoc", *includes, *plugins, *outputs, *map(str, sources)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
