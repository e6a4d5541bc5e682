"""Generates the Python code of the contract: ``python proto/generate.py DIRECTORY``.

Messages and their type stubs come from every .proto file, service stubs only from the files that declare a service;
beside them lies the whole contract as a descriptor set, for tools and languages that have no code of it.
What an earlier contract left in ``DIRECTORY/capability_authority/v1`` is removed first; ``__init__.py`` there stays.
"""

import sys
import sysconfig
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

PROTO = Path(__file__).resolve().parent
THIRD_PARTY = PROTO.parent / "third_party"
PACKAGE = Path("capability_authority", "v1")
DESCRIPTOR_SET = "contract.binpb"


def main(directory: Path) -> int:
    """Write the generated modules below ``directory``; returns protoc's exit status."""
    target = directory / PACKAGE
    target.mkdir(parents=True, exist_ok=True)
    for stale in target.glob("*_pb2*"):
        stale.unlink()
    sources = sorted((PROTO / PACKAGE).glob("*.proto"))
    messages = [f"--python_out={directory}", f"--mypy_out=quiet:{directory}"]
    services = [f"--grpc_python_out={directory}", f"--mypy_grpc_out=quiet:{directory}"]
    with_service = [source for source in sources if source.stem.endswith("_service")]
    described = [f"--descriptor_set_out={target / DESCRIPTOR_SET}", "--include_imports"]
    return run_protoc(messages, sources) or run_protoc(services, with_service) or run_protoc(described, sources)


def run_protoc(outputs: list[str], sources: list[Path]) -> int:
    """Run the protoc inside grpcio-tools with mypy-protobuf's plugins from this same environment."""
    scripts = Path(sysconfig.get_path("scripts"))
    plugins = [f"--plugin={name}={scripts / name}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")]
    includes = [f"--proto_path={directory}" for directory in (PROTO, THIRD_PARTY, files("grpc_tools") / "_proto")]
    return int(protoc.main(["protoc", *includes, *plugins, *outputs, *map(str, sources)]))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
