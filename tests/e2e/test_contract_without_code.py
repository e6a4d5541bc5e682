"""Whoever has no generated code calls the service all the same: by its descriptor set, or by reflection alone."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (  # type: ignore[import-untyped]
    ProtoReflectionDescriptorDatabase,
)

from authority.rpc.reflected_pool import ReflectedPool
from capability_authority.client.rpcs import RPCS
from tests.installation.installation import Installation

REPOSITORY = Path(__file__).resolve().parents[2]
SERVICE = "capability_authority.v1.CapabilityService"


def contract() -> FileDescriptorSet:
    """As it lies in the installed client."""
    return FileDescriptorSet.FromString(files("capability_authority.v1").joinpath("contract.binpb").read_bytes())


def key_set_asked_by(pool: DescriptorPool, channel: grpc.Channel) -> str:
    """The issuer in the answer to GetKeySet, asked with nothing but what the pool knows."""
    method = pool.FindServiceByName(SERVICE).FindMethodByName("GetKeySet")
    call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{SERVICE}/GetKeySet")
    answer = GetMessageClass(method.output_type).FromString(call(b"", timeout=20))
    return str(answer.issuer)  # type: ignore[attr-defined]


async def test_reflection_is_all_that_a_generic_tool_needs(installation: Installation) -> None:
    # Given a service that tells its contract
    with installation.processes() as processes:
        service = processes.start(environment={"AUTHORITY_REFLECTION": "true"})
        await service.serving()
        with grpc.insecure_channel(service.address) as channel:
            # When a tool asks what there is
            database = ProtoReflectionDescriptorDatabase(channel)
            pool = DescriptorPool(database)

            # Then it finds every RPC
            found = {
                f"/{name}/{method.name}"
                for name in database.get_services()
                if name.startswith("capability_authority.")
                for method in pool.FindServiceByName(name).methods
            }
            assert found == {rpc.path for rpc in RPCS.values()}
            # And each of them by its name, as tools describe it
            for path in found:
                symbol = path.removeprefix("/").replace("/", ".")
                assert database.FindFileContainingSymbol(symbol).package == "capability_authority.v1"
            # And can call
            assert key_set_asked_by(pool, channel) == (await installation.tenant())["service"].issuer


@pytest.mark.parametrize("symbol", ["NoSuchRpc", f"{SERVICE}.NoSuchRpc", "no.such.Service.GetKeySet", ""])
def test_what_is_not_in_the_contract_is_not_found_by_reflection(symbol: str) -> None:
    with pytest.raises(KeyError):
        ReflectedPool().FindFileContainingSymbol(symbol)


def test_the_descriptor_set_is_the_whole_contract() -> None:
    # Given the descriptor set alone
    pool = DescriptorPool()
    for file in contract().file:
        pool.Add(file)

    # Then every RPC of the client is in it, with the same messages
    for rpc in RPCS.values():
        service, _, method = rpc.path.removeprefix("/").partition("/")
        described = pool.FindServiceByName(service).FindMethodByName(method)
        assert described.input_type.full_name == rpc.request_class.DESCRIPTOR.full_name
        assert described.output_type.full_name == rpc.response_class.DESCRIPTOR.full_name


@pytest.mark.parametrize("detail", ["ErrorInfo", "BadRequest", "RetryInfo"])
def test_the_descriptor_set_knows_what_refusals_carry(detail: str) -> None:
    details = [
        message.name for file in contract().file if file.package == "google.rpc" for message in file.message_type
    ]
    assert detail in details


def test_code_can_be_generated_from_the_descriptor_set_alone(tmp_path: Path) -> None:
    # Given the descriptor set, and no .proto file
    source = tmp_path / "contract.binpb"
    source.write_bytes(contract().SerializeToString())
    protoc = tmp_path / "protoc"
    protoc.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m grpc_tools.protoc "$@"\n')
    protoc.chmod(0o755)
    plugin = {"protoc_builtin": "python", "protoc_path": str(protoc), "out": "gen"}

    # When a generator is run on it, as buf.gen.yaml says
    template = json.dumps({"version": "v2", "plugins": [plugin]})
    buf = Path(sys.executable).with_name("buf")
    subprocess.run([buf, "generate", source, "--template", template], cwd=tmp_path, check=True)

    # Then there is code of every file of the contract
    written = {path.name.removesuffix("_pb2.py") for path in (tmp_path / "gen").rglob("*_pb2.py")}
    assert written == {Path(file.name).stem for file in contract().file}
