"""`authority tamper`: changes a capability in every way there is, and shows the authority refuse each."""

import tempfile
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from authority.cli.arguments import AsJson
from authority.cli.child import served
from authority.cli.connecting import As, Caller, CredentialsFile, Roots, ServedFolder, find_caller, require_named
from authority.cli.failures import REFUSED, Misused, Refused
from authority.cli.output import Json, console_for_answers, emit, note, say
from authority.cli.presenting import Answer, Present, Tried, committing, presented_otherwise, verifying
from authority.cli.ready import ready
from authority.cli.running import run_to_end
from authority.cli.serving import stopped_by_sigterm
from authority.cli.statement_argument import find_argument
from authority.cli.tables import table
from authority.domain.statement import Statement
from authority.signing.statement_forms import find_statement
from authority.signing.tampering import NotACapability, signed, tampered, terms_of
from capability_authority.client import AuthorityError, CapabilityAuthority

_TERMINATED: Final = 143


@dataclass(frozen=True, slots=True)
class Trial:
    """What was tried on one capability, and what came of it."""

    tried: Sequence[Tried]
    untouched: Sequence[tuple[str, Answer]]
    """What was done with the capability itself afterwards, in words, and how it was answered."""
    by: str
    """The RPC that they were presented to."""

    @property
    def accepted(self) -> list[str]:
        """What should have been refused."""
        return [f"{one.what} ({one.change})" for one in self.tried if one.answer.accepted]

    @property
    def ok(self) -> bool:
        """Whether every tampered one was refused and the untouched one was not."""
        return not self.accepted and all(answer.accepted for _, answer in self.untouched)


def tamper(
    statement: Annotated[
        str,
        typer.Argument(
            metavar="FILE|-|BASE64", help="A commit capability, as IssueCapability answered it; a fresh one if none."
        ),
    ] = "",
    *,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> int:
    """Change each bound term of a capability, and its other bytes, one at a time, and show that each is refused.

    Changed terms are encoded anew under the old signature. A capability that is named is presented to VerifyCapability,
    by any principal of its tenant, and is as good afterwards as before. Without one, a fresh capability is made on an
    authority of its own, which is thrown away. Every changed one is committed there in vain, so is the untouched one
    with other content and the like, and then as it should be. The exit code is 0 only if every changed one was refused
    and the untouched one was not.
    """
    if statement:
        trial = _on_a_served_one(find_argument(statement), find_caller(credentials, data, who, tls_roots))
    elif credentials is None and data is None and who is None:
        trial = _on_a_fresh_one()
    else:
        raise Misused("name the capability too, or nothing: without one a fresh one is made on an authority of its own")
    if as_json:
        emit(_document(trial))
    else:
        _show(trial)
    return 0 if trial.ok else REFUSED


def _on_a_served_one(statement: Statement, caller: Caller) -> Trial:
    require_named(caller, "VerifyCapability")
    try:
        terms_of(statement)
    except NotACapability as error:
        raise Refused(f"the statement cannot be tried: {error}") from None

    async def run() -> Trial:
        async with CapabilityAuthority.connect(credentials=caller.credentials, tls=caller.tls) as authority:
            present = verifying(authority)
            before = await present(signed(statement))
            if not before.accepted:
                raise Refused(f"the capability itself is refused, {before.reason}: name one that is still good")
            tried = await _tried(statement, present)
            return Trial(tried, [("verified again", await present(signed(statement)))], "VerifyCapability")

    return _answered(run)


def _on_a_fresh_one() -> Trial:
    async def run(folder: Path) -> Trial:
        async with ready(folder) as made:
            statement = find_statement(made.capability.statement.SerializeToString())
            present = committing(made)
            tried = [*await _tried(statement, present), *[one async for one in presented_otherwise(made)]]
            untouched = [
                ("verified", await verifying(made.holder)(signed(statement))),
                ("committed", await present(signed(statement))),
                ("committed again, a retry", await present(signed(statement))),
            ]
            return Trial(tried, untouched, "CommitValidated")

    with (
        stopped_by_sigterm(_TERMINATED),
        tempfile.TemporaryDirectory(prefix="authority-tamper-", ignore_cleanup_errors=True) as folder,
    ):
        note("… starting an authority with its own PostgreSQL and Valkey")
        with served(Path(folder)):
            return _answered(lambda: run(Path(folder)))


async def _tried(statement: Statement, present: Present) -> list[Tried]:
    return [Tried(one.what, one.change, await present(one.message)) for one in tampered(statement)]


def _answered(run: Callable[[], Coroutine[Any, Any, Trial]]) -> Trial:
    try:
        return run_to_end(run)
    except AuthorityError as error:
        raise Refused(f"the authority cannot be asked: {error}") from None


def _show(trial: Trial) -> None:
    rows = [(one.what, one.change, _refusal(one.answer), one.answer.details) for one in trial.tried]
    table(("TAMPERED WITH", "HOW", f"{trial.by} SAYS", "NAMING"), rows)
    say()
    for what, answer in trial.untouched:
        line = Text("the untouched one: ")
        line.append(
            f"{what}" if answer.accepted else f"not {what}: {answer.reason}", style=_style(good=answer.accepted)
        )
        _line(line)
    refused = len(trial.tried) - len(trial.accepted)
    text = f"{len(trial.tried)} tampered with, {refused} refused, {len(trial.accepted)} accepted"
    _line(Text(text, style=_style(good=trial.ok)))


def _refusal(answer: Answer) -> Text:
    return Text(answer.reason or "ACCEPTED", style=_style(good=not answer.accepted))


def _style(*, good: bool) -> str:
    return "green" if good else "bold red"


def _line(text: Text) -> None:
    console = console_for_answers()
    if console.is_terminal:
        console.print(text)
    else:
        say(text.plain)


def _document(trial: Trial) -> dict[str, Json]:
    return {
        "ok": trial.ok,
        "presented_to": trial.by,
        "tampered": [{"what": one.what, "change": one.change, **one.answer.document()} for one in trial.tried],
        "untouched": [{"what": what, **answer.document()} for what, answer in trial.untouched],
    }
