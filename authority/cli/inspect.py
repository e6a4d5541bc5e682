"""`authority inspect`: what a statement says, and whether that may be believed."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError, Message
from rich.text import Text

from authority.cli.connecting import ServedFolder, find_caller
from authority.cli.endpoint import DEFAULT_DATA, is_served
from authority.cli.failures import REFUSED, Misused, Refused
from authority.cli.output import Json, console_for_answers, emit, printable, say
from authority.cli.running import run_to_end
from authority.cli.statement_argument import find_argument
from authority.cli.tables import table
from authority.domain.statement import Statement
from authority.signing.inspection import (
    NOT_JUDGED,
    Described,
    Description,
    Judgement,
    KeySetUnusable,
    Verdict,
    describe,
    dsse_json,
    judge,
)
from capability_authority.client import AuthorityError, CapabilityAuthority
from capability_authority.client.rpcs import rpc_named

STYLES = {Verdict.VALID: "green", Verdict.INVALID: "bold red", Verdict.UNKNOWN: "yellow"}
_KEY_SET_BYTES = 4 * 1024 * 1024
_NO_KEYS = Judgement(NOT_JUDGED.verdict, f"{NOT_JUDGED.because}; --data DIR or --key-set FILE would verify it")


def inspect(
    statement: Annotated[str, typer.Argument(metavar="FILE|-|BASE64", help="The statement, in any of its forms.")],
    *,
    key_set: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Verify against these keys: a GetKeySet answer, as `authority call` prints or serialized.",
        ),
    ] = None,
    issuer: Annotated[
        str | None, typer.Option(help="Who must have signed; whoever the key set says it is of, when left out.")
    ] = None,
    data: ServedFolder = None,
    dsse: Annotated[bool, typer.Option("--dsse", help="Print the DSSE JSON envelope instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")] = False,
) -> int:
    """Show what a statement says: capability, receipt, validation, decision, invocation or attestation.

    It may be serialized, JSON, a DSSE JSON envelope, an answer that holds one statement, or any of these in base64.
    Nothing is called valid unless keys are given, by --key-set or --data, and one of them signed it. Without either,
    the authority that is served from ./.authority gives its keys, if there is one. With keys, the exit code is 1 for
    anything but a valid statement. Whether it has expired is not judged.
    """
    found = find_argument(statement)
    if dsse:
        say(dsse_json(found))
        return 0
    description = describe(found)
    keys = _keys(key_set, data)
    judgement = _NO_KEYS if keys is None else _judge(found, keys, issuer)
    if as_json:
        emit(_document(description, judgement))
    else:
        _show(description, judgement)
    unconvincing = keys is not None and judgement.verdict is not Verdict.VALID
    return REFUSED if unconvincing or description.problem else 0


def _keys(file: Path | None, data: Path | None) -> Message | None:
    if file is not None and data is not None:
        raise Misused("verify against either --key-set or --data, not both")
    if file is not None:
        return _stored_keys(file)
    folder = DEFAULT_DATA if data is None and is_served(DEFAULT_DATA) else data
    return None if folder is None else run_to_end(lambda: _served_keys(folder))


def _stored_keys(file: Path) -> Message:
    with file.open("rb") as opened:
        content = opened.read(_KEY_SET_BYTES + 1)
    if len(content) > _KEY_SET_BYTES:
        raise Refused(f"--key-set: {file} has more than {_KEY_SET_BYTES:,} bytes")
    response = _of_json(content) or _of_wire(content)
    if response is None:
        raise Refused(f"--key-set: {file} is no GetKeySet answer, neither as JSON nor serialized")
    return response


def _of_json(content: bytes) -> Message | None:
    try:
        response = Parse(content, rpc_named("GetKeySet").response_class())
    except (ParseError, ValueError, RecursionError):
        return None
    return response if _issuer_of(response) else None


def _of_wire(content: bytes) -> Message | None:
    """As the client keeps it. Other messages begin with a string too, but hold no keys."""
    response = rpc_named("GetKeySet").response_class()
    try:
        response.ParseFromString(content)
    except DecodeError:
        return None
    return response if _issuer_of(response) and getattr(response, "keys", None) else None


def _issuer_of(key_set: Message) -> str:
    """By its name alone: the type of the message is the client's."""
    issuer: str = getattr(key_set, "issuer", "")
    return issuer


async def _served_keys(data: Path) -> Message:
    caller = find_caller(None, data, None, None)
    async with CapabilityAuthority.connect(credentials=caller.credentials) as authority:
        try:
            return await authority.call("GetKeySet", rpc_named("GetKeySet").request_class())
        except AuthorityError as error:
            raise Refused(f"the key set of {data} cannot be had: {error}") from None


def _judge(statement: Statement, keys: Message, issuer: str | None) -> Judgement:
    try:
        return judge(statement, keys, _issuer_of(keys) if issuer is None else issuer)
    except KeySetUnusable as error:
        raise Refused(f"the key set cannot be used: {error}") from None


def _document(description: Description, judgement: Judgement) -> Json:
    return {
        "kind": description.kind or None,
        "payload_type": description.payload_type,
        "digest": description.digest,
        "key_id": description.key_id,
        "signature": description.signature,
        "verdict": judgement.verdict.value,
        "because": judgement.because,
        "problem": description.problem or None,
        "says": dict(description.says),
    }


def _show(description: Description, judgement: Judgement) -> None:
    rows: list[tuple[str, str | Text]] = [
        ("kind", description.kind or f"none of ours: {description.payload_type}"),
        ("digest", description.digest),
        ("signed by", description.key_id or "nobody"),
        ("signature", _verdict(judgement)),
    ]
    if description.problem:
        rows.append(("payload", Text(printable(description.problem), style="bold red")))
    table(("STATEMENT", ""), rows)
    if description.says:
        say()
        table(("IT SAYS", ""), _rows(description.says))
    if judgement.verdict is not Verdict.VALID:
        console_for_answers().print(Text("Nothing of this is proved.", style="yellow"))


def _verdict(judgement: Judgement) -> Text:
    text = Text(judgement.verdict.value.upper(), style=STYLES[judgement.verdict])
    return text.append(f": {printable(judgement.because)}", style="default")


def _rows(says: Mapping[str, Described], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in says.items():
        yield from _value_rows(f"{prefix}{name}", value)


def _value_rows(name: str, value: Described) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        if set(value) <= {"namespace", "id"}:
            yield name, " | ".join(str(value.get(part, "")) for part in ("namespace", "id"))
        else:
            yield from _rows(value, f"{name}.")
    elif value == []:
        yield name, "none"
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _value_rows(f"{name}[{number}]", item)
    elif isinstance(value, bool):
        yield name, "yes" if value else "no"
    else:
        yield name, str(value)
