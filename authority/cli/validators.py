"""`authority validators …`: which validators and profiles there are, and what they say of a file."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from authority.bootstrap.validators import ListedValidator, Tried, installed_validators, listed_validators, try_content
from authority.cli.arguments import AsJson
from authority.cli.failures import REFUSED, Refused
from authority.cli.output import Json, emit, note, say
from authority.cli.tables import table
from authority.config import load_operator_settings
from authority.domain.limits import CONTENT_BYTES
from authority.domain.validation import BASELINE, ValidationOutcome, worst

app = typer.Typer(no_args_is_help=True, help="List validators and their profiles, and try them on a file.")

_MEDIA_TYPES = {".json": "application/json"}


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the validators of this machine: built in, brought along by other packages, and hosted by others."""
    found = listed_validators(load_operator_settings().profiles)
    if as_json:
        emit([_listed(one) for one in found])
        return
    table(("NAME", "VERSION", "FROM"), ((one.name, one.version or "-", one.problem or one.origin) for one in found))


@app.command()
def profiles(*, as_json: AsJson = False) -> None:
    """List the profiles: those built in whose validators are installed, and those of the file AUTHORITY_PROFILES."""
    found = [panel.profile for panel in installed_validators(load_operator_settings().profiles).profiles()]
    rows = [(one.name, one.version, [f"{it.name}@{it.version}" for it in one.validators]) for one in found]
    if as_json:
        emit([{"name": name, "version": version, "validators": list(asked)} for name, version, asked in rows])
        return
    table(("NAME", "VERSION", "VALIDATORS"), ((name, version, " ".join(asked)) for name, version, asked in rows))


@app.command("try")
def try_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Content, as it would be proposed.", exists=True)],
    *,
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", help="The profile; `authority validators profiles` lists them.")
    ] = "guarded",
    media_type: Annotated[
        str, typer.Option("--media-type", metavar="TYPE", help="Of the content; by the file's name when left out.")
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Run a profile on a file without storing anything, and say how long each validator took.

    Nothing is looked up: what is compared with memory and evidence passes. Ends with 1 unless every validator passes.
    """
    validators = installed_validators(load_operator_settings().profiles)
    if validators.profile(profile) is None:
        known = ", ".join(panel.profile.name for panel in validators.profiles())
        raise Refused(f"no profile {profile} here; known are {known}")
    kind = media_type or _MEDIA_TYPES.get(file.suffix, "text/plain")
    tried = asyncio.run(try_content(validators, profile, _read(file), kind))
    outcome = worst([one.finding for one in tried])
    if as_json:
        emit({"profile": profile, "outcome": outcome.value, "findings": [_tried(one) for one in tried]})
    else:
        table(("VALIDATOR", "OUTCOME", "CONFIDENCE", "MS", "REASON"), map(_row, tried))
        say(f"{file.name}: {outcome.value}")
        if profile != BASELINE:
            note("nothing was stored, and nothing was compared with memory")
    return 0 if outcome is ValidationOutcome.PASS else REFUSED


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        content = opened.read(CONTENT_BYTES + 1)
    if not content:
        raise Refused(f"{file} is empty: a proposal has content")
    return content


def _listed(one: ListedValidator) -> dict[str, Json]:
    return {"name": one.name, "version": one.version, "from": one.origin, "problem": one.problem}


def _tried(one: Tried) -> dict[str, Json]:
    found = one.finding
    return {
        "validator": found.validator,
        "version": found.validator_version,
        "outcome": found.outcome.value,
        "reason": found.reason,
        "confidence_permille": found.confidence_permille,
        "milliseconds": round(one.milliseconds, 1),
    }


def _row(one: Tried) -> tuple[str, ...]:
    found = one.finding
    return (
        f"{found.validator}@{found.validator_version}",
        found.outcome.value,
        str(found.confidence_permille),
        f"{one.milliseconds:.1f}",
        found.reason or "-",
    )
