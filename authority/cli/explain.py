"""`authority explain`: what a reason means, and what to do about it."""

from difflib import get_close_matches
from typing import Annotated

import typer

from authority.cli.arguments import AsJson
from authority.cli.failures import Misused
from authority.cli.output import Json, emit, printable
from authority.cli.tables import table
from authority.domain.reasons import Reason
from authority.domain.remedies import REMEDIES
from authority.rpc.errors import TABLE

_PREFIX = "ERROR_REASON_"


def explain(
    reason: Annotated[str, typer.Argument(metavar="REASON", help="As in ErrorInfo, such as BINDING_MISMATCH.")] = "",
    *,
    list_: Annotated[bool, typer.Option("--list", help="List all reasons, in their order of precedence.")] = False,
    as_json: AsJson = False,
) -> None:
    """Explain a reason for which a call was refused: what brings it about, what to do, and whether to ask again.

    Where two reasons apply, the one that stands higher in the list is answered.
    """
    if list_:
        _list(as_json=as_json)
    elif not reason:
        raise Misused("name a reason: `authority explain --list` shows them")
    elif as_json:
        emit(_document(_named(reason)))
    else:
        _show(_named(reason))


def _named(text: str) -> Reason:
    name = text.strip().upper().replace("-", "_").replace(" ", "_").removeprefix(_PREFIX)
    if name in Reason.__members__:
        return Reason[name]
    near = get_close_matches(name, Reason.__members__, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise Misused(f"no reason is called {printable(text)}: {meant}`authority explain --list` shows all")


def _list(*, as_json: bool) -> None:
    if as_json:
        emit([_document(reason) for reason in Reason])
        return
    rows = ((reason.name, TABLE[reason].code.name, REMEDIES[reason].again, reason.value) for reason in Reason)
    table(("REASON", "CODE", "AGAIN?", "MEANING"), rows)


def _show(reason: Reason) -> None:
    row, remedy = TABLE[reason], REMEDIES[reason]
    wait = f", after {row.retry_after_ms} ms" if row.retry_after_ms else ""
    rows = [
        ("meaning", reason.value),
        ("because", remedy.causes),
        ("do", remedy.do),
        ("again?", f"{remedy.again}{wait}"),
        ("code", row.code.name),
        *(("tells", f"{name}: {meaning}") for name, meaning in remedy.facts.items()),
        ("see", "; ".join(("ARCHITECTURE.md, Errors", *remedy.see))),
    ]
    table(("REASON", reason.name), rows)


def _document(reason: Reason) -> dict[str, Json]:
    row, remedy = TABLE[reason], REMEDIES[reason]
    return {
        "reason": reason.name,
        "rank": reason.rank,
        "code": row.code.name,
        "meaning": reason.value,
        "causes": remedy.causes,
        "remedy": remedy.do,
        "again": remedy.again,
        "retry_after_ms": row.retry_after_ms,
        "facts": dict(remedy.facts),
        "see": list(remedy.see),
    }
