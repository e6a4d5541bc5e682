"""Every command in one place, and the one way in which each of them ends."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from authority.cli import (
    audit,
    call,
    config,
    demo,
    doctor,
    explain,
    health,
    inspect,
    keys,
    migrate,
    namespaces,
    outbox,
    policies,
    principals,
    relay,
    serve,
    tamper,
    tenants,
    top,
    why,
)
from authority.cli.failures import INTERRUPTED, REFUSED, trace_of
from authority.cli.failures import explain as explain_failure
from authority.cli.helping import say_in_words
from authority.cli.output import note, printable, say

_PROGRAM = "authority"
_DISTRIBUTION = "capability-authority"

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Decides whether learned memory may be written, exactly once, and proves it afterwards.\n\n"
    "`authority demo` shows all of it in under a minute; `authority serve` keeps one running to try.",
)
_RUNNING, _LOOKING, _CALLING, _OPERATING = (
    "Run it",
    "See that it is well",
    "Ask it, and see it refuse",
    "Operate it",
)
app.command("serve", rich_help_panel=_RUNNING)(serve.serve)
app.command("demo", rich_help_panel=_RUNNING)(demo.demo)
app.command("relay", rich_help_panel=_RUNNING)(relay.relay)
app.command("migrate", rich_help_panel=_RUNNING)(migrate.migrate)
app.command("config", rich_help_panel=_LOOKING)(config.config)
app.command("doctor", rich_help_panel=_LOOKING)(doctor.doctor)
app.command("health", rich_help_panel=_LOOKING)(health.health)
app.command("top", rich_help_panel=_LOOKING)(top.top)
app.command("call", rich_help_panel=_CALLING)(call.call)
app.command("why", rich_help_panel=_CALLING)(why.why)
app.command("explain", rich_help_panel=_CALLING)(explain.explain)
app.command("inspect", rich_help_panel=_CALLING)(inspect.inspect)
app.command("tamper", rich_help_panel=_CALLING)(tamper.tamper)
app.add_typer(tenants.app, name="tenants", rich_help_panel=_OPERATING)
app.add_typer(principals.app, name="principals", rich_help_panel=_OPERATING)
app.add_typer(namespaces.app, name="namespaces", rich_help_panel=_OPERATING)
app.add_typer(policies.app, name="policies", rich_help_panel=_OPERATING)
app.add_typer(keys.app, name="keys", rich_help_panel=_OPERATING)
app.add_typer(outbox.app, name="outbox", rich_help_panel=_OPERATING)
app.add_typer(audit.app, name="audit", rich_help_panel=_OPERATING)


say_in_words(app)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        say(f"{_PROGRAM} {version(_DISTRIBUTION)}")
        raise typer.Exit


@app.callback()
def _program(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Holds what belongs to no command."""


def run(arguments: Sequence[str]) -> int:
    """Runs one command and answers with its exit code; nothing but SystemExit and KeyboardInterrupt comes through."""
    try:
        answer = app(list(arguments), prog_name=_PROGRAM, standalone_mode=False)
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
