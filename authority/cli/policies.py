"""`authority policies …`: the bundles by which commits are decided."""

from pathlib import Path
from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, DataFolder, Tenant, iso, parse_digest, parse_name, short_time
from authority.cli.failures import REFUSED, Refused
from authority.cli.operating import operate, require_known
from authority.cli.output import emit, note, say
from authority.cli.tables import table
from authority.policy.bundle import bundle_version, check_bundle
from authority.policy.source import BUNDLE_BYTES
from authority.usecases.administer import ListedPolicy

app = typer.Typer(no_args_is_help=True, help="Check, load, list and activate policy bundles: files of Cedar policies.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="A bundle, in Cedar, UTF-8.", exists=True, dir_okay=False)]


@app.command()
def check(file: File, *, as_json: AsJson = False) -> int:
    """Say what is wrong with a bundle, line by line, without loading it."""
    bundle = _read(file)
    problems = check_bundle(bundle)
    if as_json:
        emit({"version": _shown(bundle_version(bundle)), "problems": problems})
    elif problems:
        _tell(file, problems)
    else:
        say(f"{file} is good; its version is {_shown(bundle_version(bundle))}")
    return REFUSED if problems else 0


@app.command()
def load(file: File, *, data: DataFolder = None, as_json: AsJson = False) -> int:
    """Load a bundle.

    It decides nothing in the memory namespaces that are there until `policies activate` puts one under it. One that is
    added later is under the newest bundle from the start, unless `namespaces add` names another.
    """
    bundle = _read(file)
    if problems := check_bundle(bundle):
        _tell(file, problems)
        note(f"{file} was not loaded")
        return REFUSED
    version = operate(data, lambda operator: operator.load_policy(bundle))
    if as_json:
        emit({"version": _shown(version)})
    else:
        say(f"loaded {_shown(version)}")
    return 0


@app.command("list")
def list_(*, data: DataFolder = None, as_json: AsJson = False) -> None:
    """List the loaded bundles, oldest first."""

    async def act(operator: Operator) -> list[ListedPolicy]:
        return list(await operator.administration.list_policies())

    found = operate(data, act)
    if as_json:
        emit([{"version": _shown(p.version), "bytes": p.size, "load_time": iso(p.load_time)} for p in found])
        return
    rows = ((short_time(policy.load_time), str(policy.size), _shown(policy.version)) for policy in found)
    table(("LOADED (UTC)", "BYTES", "VERSION"), rows)


@app.command()
def activate(
    version: Annotated[bytes, typer.Argument(parser=parse_digest, metavar="VERSION", help="sha256:… of a bundle.")],
    *,
    tenant: Tenant,
    namespace: Annotated[
        str, typer.Option("--namespace", parser=parse_name, metavar="NAME", help="The memory namespace.")
    ],
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Put a memory namespace under a bundle. What was decided under another can no longer be committed."""

    async def act(operator: Operator) -> None:
        await require_known(operator, tenant)
        await operator.administration.activate_policy(tenant, namespace, version, operator.clock.now())

    operate(data, act)
    if as_json:
        emit({"tenant": str(tenant), "namespace": namespace, "version": _shown(version)})
    else:
        say(f"{namespace} of {tenant} is decided by {_shown(version)} from now on")


def _read(file: Path) -> str:
    with file.open("rb") as opened:
        data = opened.read(BUNDLE_BYTES + 1)
    if len(data) > BUNDLE_BYTES:
        raise Refused(f"{file} has more than {BUNDLE_BYTES:,} bytes, which is the most that is read")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused(f"{file} is not UTF-8") from None


def _tell(file: Path, problems: list[str]) -> None:
    for problem in problems:
        note(f"{file}: {problem}")


def _shown(version: bytes) -> str:
    return f"sha256:{version.hex()}"
