"""`authority call`: any RPC, signed for the person who calls."""

import contextlib
import json as json_text
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import uuid4

import typer
from google.protobuf.json_format import MessageToDict, Parse, ParseDict, ParseError
from google.protobuf.message import Message

from authority.cli.call_stream import call_stream
from authority.cli.connecting import As, Caller, CredentialsFile, Roots, ServedFolder, find_caller, require_named
from authority.cli.failures import REFUSED, Misused, Refused
from authority.cli.output import Json, emit, note, printable, say
from authority.cli.requests import example_of, fields_of, hint_of, problem_of, request_of
from authority.cli.running import run_to_end
from authority.cli.tables import table
from capability_authority.client import AuthorityError, CapabilityAuthority, PlaintextRefused, UnknownRpc
from capability_authority.client.credentials import Credentials, Reference
from capability_authority.client.rpcs import RPCS, Rpc, rpc_named

_MOST_BYTES: Final = 8 * 1024 * 1024
"""Of JSON: a request has at most 4 MiB, and base64 is a third longer."""
_DEPTH: Final = 64
_INSTEAD_OF_WATCHING: Final = "the Python client watches, and `authority audit watch` shows the audit log as it grows"
_STREAM: Final = "StreamCommitValidated"
_NOTHING: Final = "{}"
_ISSUES: Final = ("IssueCapability", "BatchIssueCapabilities")
_FILLED_IN: Final = ("request_id", "holder", "holder_key_id", "audience")
"""Of IssueCapability, alone and in a batch; the first of every request that has it."""


def call(  # noqa: PLR0913 - one option for each property
    rpc: Annotated[str, typer.Argument(metavar="RPC", help="Its name, such as CommitValidated.")] = "",
    *,
    list_: Annotated[bool, typer.Option("--list", help="List the RPCs, and call none.")] = False,
    describe: Annotated[
        bool, typer.Option("--describe", help="Show the fields of the RPC's request with an example, and do not call.")
    ] = False,
    json: Annotated[
        str, typer.Option(metavar="FILE|-|JSON", help="The request in protobuf's JSON; bytes are base64.")
    ] = _NOTHING,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds for the call, retries included.")] = 10.0,
) -> int:
    """Call an RPC and print the answer in protobuf's JSON.

    A request_id that is left out is made up; holder, holder_key_id and audience of IssueCapability, and of each item of
    a batch, are the caller's. A refusal is a sentence on standard error, its parts are JSON on standard output, and the
    exit code is 1.

    StreamCommitValidated reads a request on each line of --json, of standard input when left out, for as long as they
    come, and prints an outcome on a line of its own for each, with its tag; the exit code is 1 when one was refused.
    """
    if list_:
        _list()
        return 0
    known = _known(rpc)
    if describe:
        _describe(known)
        return 0
    if known.is_stream and known.name != _STREAM:
        raise Misused(f"{known.name} is a stream, and a call has one answer: {_INSTEAD_OF_WATCHING}")
    request = None if known.is_stream else _request(known, _text(json))
    caller = find_caller(credentials, data, who, tls_roots)
    if known.needs_proof:
        require_named(caller, known.name)
    if request is not None and known.name in _ISSUES:
        fill_in(request, caller.credentials)
    try:
        if request is None:
            return 0 if run_to_end(lambda: _stream(known, json, caller, timeout)) else REFUSED
        emit(as_json(run_to_end(lambda: _call(known, request, caller, timeout))))
    except AuthorityError as error:
        _tell(error)
        return REFUSED
    except PlaintextRefused as error:
        raise Refused(f"{caller.credentials.target} needs TLS: name its roots by --tls-roots") from error
    return 0


def _known(rpc: str) -> Rpc:
    if not rpc:
        raise Misused("name an RPC: `authority call --list` shows them")
    try:
        return rpc_named(rpc)
    except UnknownRpc as error:
        raise Misused(str(error)) from None


def as_json(message: Message) -> dict[str, Json]:
    """The message in protobuf's JSON, under the names of the contract."""
    return MessageToDict(message, preserving_proto_field_name=True)


async def _call(rpc: Rpc, request: Message, caller: Caller, timeout: float) -> Message:  # noqa: ASYNC109 - gRPC's
    connection = CapabilityAuthority.connect(credentials=caller.credentials, tls=caller.tls, timeout=timeout)
    async with connection as authority:
        return await authority.call(rpc.path, request)


def _stream(rpc: Rpc, source: str, caller: Caller, timeout: float) -> Coroutine[Any, Any, bool]:
    """Reads standard input where nothing else is named."""
    source = "-" if source == _NOTHING else source
    return call_stream(source, caller, lambda text, named: _request(rpc, text, named), _parts, timeout)


def _request(rpc: Rpc, text: str, named: str = "--json") -> Message:
    try:
        return Parse(text, rpc.request_class(), max_recursion_depth=_DEPTH)
    except (ParseError, ValueError, RecursionError) as error:
        why = _why_not(rpc, text, error)
        raise Misused(f"{named} is no {rpc.request_class.DESCRIPTOR.name}: {why}") from None


def _why_not(rpc: Rpc, text: str, error: Exception) -> str:
    """What is wrong and what would be right, in our words where they are better than the parser's."""
    message = request_of(rpc)
    with contextlib.suppress(ValueError, RecursionError):
        if problem := problem_of(message, json_text.loads(text)):
            return printable(problem)
    first = str(error).splitlines()[0] if isinstance(error, ParseError) else "it is not protobuf's JSON"
    return f"{printable(first).rstrip('.')}; {hint_of(message)} (`authority call {rpc.name} --describe` says more)"


def fill_in(request: Message, caller: Credentials) -> None:
    """Whoever asks for a capability and names no holder means to commit with it; so does each item of a batch."""
    if "requests" in request.DESCRIPTOR.fields_by_name:
        for item in request.requests:  # type: ignore[attr-defined] # the generated type, which this room does not see
            item.request_id = item.request_id or str(uuid4())
            fill_in(item, caller)
        return
    given, own = as_json(request), _reference(caller.principal)
    missing: dict[str, Json] = {name: value for name, value in (("holder", own),) if name not in given}
    if "holder_key_id" not in given and given.get("holder", own) == own:
        missing["holder_key_id"] = caller.key_id
    if "audience" not in given:
        missing["audience"] = caller.audience
    ParseDict(missing, request)


def _reference(principal: Reference) -> dict[str, Json]:
    return {"namespace": principal.namespace, "id": principal.id}


def _list() -> None:
    rows = ((rpc.name, ", ".join(field.name for field in rpc.request_class.DESCRIPTOR.fields)) for rpc in RPCS.values())
    table(("RPC", "FIELDS OF ITS REQUEST"), sorted(rows))


def _describe(rpc: Rpc) -> None:
    message = request_of(rpc)
    say(f"{rpc.name} {'is signed by its caller' if rpc.needs_proof else 'may be called by anybody'}.")
    if rpc.name == _STREAM:
        say("It is a stream: a request on each line of standard input, without line breaks of its own.")
    elif rpc.is_stream:
        say(f"It is a stream, which `authority call` does not speak: {_INSTEAD_OF_WATCHING}.")
    say()
    table(("FIELD", "HOLDS"), fields_of(message), none="Its request has no fields.")
    filled = _FILLED_IN if rpc.name in _ISSUES else _FILLED_IN[:1]
    left_out = frozenset(filled) & set(message.fields_by_name)
    say()
    say(f"An example{f', without {_words(left_out)}, filled in when left out' if left_out else ''}:")
    say(json_text.dumps(example_of(message, left_out), indent=2, ensure_ascii=False))


def _words(names: frozenset[str]) -> str:
    *others, last = sorted(names)
    return f"{', '.join(others)} and {last}" if others else last


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
    emit(_parts(error))


def _parts(error: AuthorityError) -> dict[str, Json]:
    code = error.code.name if error.code else None
    parts: dict[str, Json] = {"code": code, "reason": error.reason, "message": error.message}
    return {"error": {**parts, "metadata": dict(error.metadata), "retryable": error.retryable}}
