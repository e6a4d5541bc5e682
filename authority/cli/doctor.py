"""`authority doctor`: looks at everything that the authority stands on, and says what to mend."""

from pathlib import Path

from pydantic import SecretStr

from authority.bootstrap.doctor.examination import Subject, examine
from authority.bootstrap.doctor.finding import Finding, State
from authority.cli.arguments import AsJson, DataFolder
from authority.cli.endpoint import DEFAULT_DATA, find_endpoint, is_served
from authority.cli.failures import REFUSED
from authority.cli.output import emit, printable, say
from authority.cli.running import run_to_end
from authority.cli.tables import table
from authority.config import Settings, SettingsError, load_settings, names_a_database

_ELSEWHERE = {"database_url": "postgresql://", "redis_url": "redis://"}
"""In place of servers that are found otherwise."""


def doctor(*, data: DataFolder = None, as_json: AsJson = False) -> int:
    """Look at everything the authority stands on, one line for each thing, and say what to mend.

    Nothing is changed, no secret is shown, and what is away keeps nothing else from being looked at. The exit code is 1
    when there is a problem, and 0 when there is none; warnings alone do not count. Without AUTHORITY_DATABASE_URL, or
    with --data, the embedded authority of the folder is looked at, served or not.
    """
    findings = run_to_end(lambda: examine(_subject(data)))
    problems = sum(finding.state is State.PROBLEM for finding in findings)
    warnings = sum(finding.state is State.WARNING for finding in findings)
    if as_json:
        emit({"problems": problems, "warnings": warnings, "checks": [_row(finding) for finding in findings]})
    else:
        table(("STATE", "CHECK", "FOUND"), [(one.state.value, one.check, _line(one)) for one in findings])
        say(f"doctor: {_count(problems, 'problem')}, {_count(warnings, 'warning')}")
    return REFUSED if problems else 0


def _subject(data: Path | None) -> Subject:
    try:
        if data is not None or (not names_a_database() and DEFAULT_DATA.is_dir()):
            return _embedded(data or DEFAULT_DATA)
        return _of_settings(load_settings())
    except SettingsError as error:
        return Subject(settings=None, wrong_settings=tuple(str(error).splitlines()), data=data)


def _of_settings(settings: Settings) -> Subject:
    return Subject(
        settings=settings,
        database_url=settings.database_url.get_secret_value(),
        admin_database_url=_text(settings.admin_database_url),
        redis_url=settings.redis_url.get_secret_value(),
        keys=settings.keys,
        listen=settings.listen,
    )


def _embedded(data: Path) -> Subject:
    settings = load_settings(**_ELSEWHERE)
    if not data.is_dir() or not is_served(data):
        return Subject(settings=settings, data=data, keys=data / "keys", listen=settings.listen)
    endpoint = find_endpoint(data)
    return Subject(
        settings=settings,
        admin_database_url=endpoint.admin_database_url,
        redis_url=endpoint.redis_url,
        keys=Path(endpoint.keys),
        listen=endpoint.target,
        data=data,
        is_served=True,
    )


def _text(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


def _line(finding: Finding) -> str:
    told = f"{finding.found}: {finding.remedy}" if finding.remedy else finding.found
    return printable(" ".join(told.split()))


def _row(finding: Finding) -> dict[str, str | None]:
    return {
        "check": finding.check,
        "state": finding.state.value,
        "found": finding.found,
        "remedy": finding.remedy or None,
    }


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
