"""`authority call`: any RPC, signed for the person who calls."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from google.protobuf.json_format import MessageToDict, Parse, ParseError
from google.protobuf.message import Message

from authority.cli.connecting import As, Caller, CredentialsFile, Roots, ServedFolder, find_caller
from authority.cli.failures import REFUSED, Misused, Refused
from authority.cli.output import Json, emit, note, printable
from authority.cli.running import run_to_end
from capability_authority.client import AuthorityError, CapabilityAuthority, PlaintextRefused, UnknownRpc
from capability_authority.client.rpcs import Rpc, rpc_named

_MOST_BYTES: Final = 8 * 1024 * 1024
"""Of JSON: a request has at most 4 MiB, and base64 is a third longer."""
_DEPTH: Final = 64


def call(
    rpc: Annotated[str, typer.Argument(metavar="RPC", help="Its name, such as CommitValidated.")],
    *,
    json: Annotated[
        str, typer.Option(metavar="FILE|-|JSON", help="The request in protobuf's JSON; bytes are base64.")
    ] = "{}",
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds for the call, retries included.")] = 10.0,
) -> int:
    """Call an RPC and print the answer in protobuf's JSON.

    A request_id that is left out is made up. A refusal is a sentence on standard error, its parts are JSON on standard
    output, and the exit code is 1.
    """
    try:
        known = rpc_named(rpc)
    except UnknownRpc as error:
        raise Misused(str(error)) from None
    request = _request(known, json)
    caller = find_caller(credentials, data, who, tls_roots)
    if known.needs_proof and not caller.is_known:
        raise Misused(f"{known.name} must be signed: name the caller by --as TENANT/NAME or --credentials FILE")
    try:
        answer = run_to_end(lambda: _call(known, request, caller, timeout))
    except AuthorityError as error:
        _tell(error)
        return REFUSED
    except PlaintextRefused as error:
        raise Refused(f"{caller.credentials.target} needs TLS: name its roots by --tls-roots") from error
    emit(as_json(answer))
    return 0


def as_json(message: Message) -> dict[str, Json]:
    """The message in protobuf's JSON, under the names of the contract."""
    return MessageToDict(message, preserving_proto_field_name=True)


async def _call(rpc: Rpc, request: Message, caller: Caller, timeout: float) -> Message:  # noqa: ASYNC109 - gRPC's
    connection = CapabilityAuthority.connect(credentials=caller.credentials, tls=caller.tls, timeout=timeout)
    async with connection as authority:
        return await authority.call(rpc.path, request)


def _request(rpc: Rpc, source: str) -> Message:
    text = _text(source)
    try:
        return Parse(text, rpc.request_class(), max_recursion_depth=_DEPTH)
    except ParseError as error:
        first = printable(str(error).splitlines()[0])
        raise Misused(f"--json is no {rpc.request_class.DESCRIPTOR.name}: {first}") from None
    except (ValueError, RecursionError):
        raise Misused(f"--json is no {rpc.request_class.DESCRIPTOR.name} in protobuf's JSON") from None


def _text(source: str) -> str:
    if source.lstrip().startswith("{"):
        return source
    try:
        if source == "-":
            data = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with Path(source).open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Misused(f"--json is neither JSON that begins with a brace nor a file ({why})") from None
    if len(data) > _MOST_BYTES:
        raise Misused(f"--json has more than {_MOST_BYTES:,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Misused("--json is not UTF-8") from None


def _tell(error: AuthorityError) -> None:
    note(f"refused: {error}" if error.reason else f"failed: {error}")
    code = error.code.name if error.code else None
    parts: dict[str, Json] = {"code": code, "reason": error.reason, "message": error.message}
    emit({"error": {**parts, "metadata": dict(error.metadata), "retryable": error.retryable}})
