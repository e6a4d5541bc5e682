"""Every command in one place, and the one way in which each of them ends."""

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Final

import typer

from authority.cli.failures import INTERRUPTED, REFUSED, trace_of
from authority.cli.failures import explain as explain_failure
from authority.cli.helping import say_in_words
from authority.cli.output import note, printable, say

_PROGRAM = "authority"
_DISTRIBUTION = "capability-authority"

_GROUPS: Final = (
    ("Run it", ("serve", "demo", "relay", "migrate")),
    ("See that it is well", ("config", "doctor", "health", "top")),
    (
        "Ask it, and see it refuse",
        ("call", "proposals", "review", "evidence", "grants", "interop", "why", "explain", "inspect", "tamper"),
    ),
    ("Say who may call", ("tenants", "principals", "links", "memberships", "aggregates", "token-issuers", "dev-certs")),
    ("Operate it", ("provision", "namespaces", "validators", "policies", "keys", "outbox", "audit")),
)
"""The commands as the help shows them."""
_GROUP_OF: Final = {name: group for group, names in _GROUPS for name in names}
COMMANDS: Final = tuple(_GROUP_OF)
"""In the order of the help. Each stands in the module of its name, with `_` for `-`: groups as `app`, one as itself."""


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        say(f"{_PROGRAM} {version(_DISTRIBUTION)}")
        raise typer.Exit


def _program(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Holds what belongs to no command."""


@cache
def app_of(*commands: str) -> typer.Typer:
    """The program with these commands. No others are imported: all of them together take most of a second."""
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Decides whether learned memory may be written, exactly once, and proves it afterwards.\n\n"
        "`authority demo` shows all of it in under a minute; `authority serve` keeps one running to try.",
    )
    app.callback()(_program)
    for name in commands:
        word = name.replace("-", "_")
        module = import_module(f"authority.cli.{word}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name, rich_help_panel=_GROUP_OF[name])
        else:
            app.command(name, rich_help_panel=_GROUP_OF[name])(getattr(module, word))
    say_in_words(app)
    return app


def _asked_for(arguments: Sequence[str]) -> tuple[str, ...]:
    """The one command that is meant, or all where none is: the help lists them, and a misspelt one is guessed at."""
    return tuple(arguments[:1]) if arguments and arguments[0] in COMMANDS else COMMANDS


def run(arguments: Sequence[str]) -> int:
    """Runs one command and answers with its exit code; nothing but SystemExit and KeyboardInterrupt comes through."""
    try:
        answer = app_of(*_asked_for(arguments))(list(arguments), prog_name=_PROGRAM, standalone_mode=False)
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:
        # Who read the answer went away, as `head` does. Nothing more can be written, not even when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except Exception as error:  # noqa: BLE001 - the last one to see it
        sentence, code = explain_failure(error)
        if os.environ.get("AUTHORITY_LOG_LEVEL") == "debug":
            note(trace_of(error))
        if sentence:
            # It may quote anything: what was given, a file, what a server answered.
            note("\n".join(map(printable, f"{_PROGRAM}: {sentence}".split("\n"))))
        return code
    return answer if isinstance(answer, int) else 0
