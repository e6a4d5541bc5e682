"""`authority policies …`: the bundles by which commits are decided."""

import sys
from difflib import unified_diff
from pathlib import Path
from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, DataFolder, Tenant, iso, parse_digest, parse_name, parse_tenant, short_time
from authority.cli.external_policies import app as external_app
from authority.cli.failures import REFUSED, Misused, Refused
from authority.cli.operating import operate, require_known
from authority.cli.output import Json, emit, note, printable, say
from authority.cli.tables import table
from authority.domain.references import TenantRef
from authority.policy.bundle import bundle_version, check_bundle
from authority.policy.source import BUNDLE_BYTES
from authority.usecases.administer import ListedPolicy, LoadedPolicy

app = typer.Typer(no_args_is_help=True, help="Check, load, show, compare and activate bundles of Cedar policies.")

app.add_typer(external_app, name="external")

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
def show(
    version: Annotated[bytes, typer.Argument(parser=parse_digest, metavar="VERSION", help="sha256:… of a bundle.")],
    *,
    tenant: Annotated[
        TenantRef | None,
        typer.Option(parser=parse_tenant, metavar="NS|ID", help="Also where in this tenant it decides."),
    ] = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Print a loaded bundle exactly: its SHA-256 is the version. When and where it decides goes to standard error."""

    async def act(operator: Operator) -> tuple[LoadedPolicy, list[str] | None]:
        loaded = await operator.administration.policy(version)
        if tenant is None:
            return loaded, None
        await require_known(operator, tenant)
        namespaces = await operator.administration.list_namespaces(tenant)
        return loaded, [found.name for found in namespaces if found.policy_version == version]

    loaded, active = operate(data, act)
    if as_json:
        where: dict[str, Json] = {} if active is None else {"active": active}
        emit({"version": _shown(version), "load_time": iso(loaded.listed.load_time), "bundle": loaded.bundle} | where)
        return
    note(f"{_shown(version)}, loaded {short_time(loaded.listed.load_time)} UTC")
    if active is not None:
        note(f"it decides in {', '.join(active)} of {tenant}" if active else f"it decides nowhere in {tenant}")
    sys.stdout.write(loaded.bundle)
    sys.stdout.flush()


@app.command()
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="sha256:… of a loaded bundle, or a file.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="sha256:… of a loaded bundle, or a file.")],
    *,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> int:
    """Compare two bundles line by line. Ends with 0 when they are the same, with 1 when they are not."""
    sides = [_side(text) for text in (old, new)]
    loaded: dict[bytes, str] = {}
    if wanted := {side for side in sides if isinstance(side, bytes)}:

        async def act(operator: Operator) -> dict[bytes, str]:
            return {version: (await operator.administration.policy(version)).bundle for version in sorted(wanted)}

        loaded = operate(data, act)
    before, after = (loaded[side] if isinstance(side, bytes) else _read(side) for side in sides)
    lines = [*unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")]
    if as_json:
        versions = {"old": _shown(bundle_version(before)), "new": _shown(bundle_version(after))}
        emit(versions | {"same": before == after, "diff": lines})
    elif before == after:
        say("the same")
    else:
        for line in lines:
            say(printable(line))
        if not lines:
            note("they differ in their line ends alone")
    return 0 if before == after else REFUSED


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


def _side(text: str) -> bytes | Path:
    """One side of a comparison: what looks like a version is one."""
    if text.startswith("sha256:"):
        try:
            return parse_digest(text)
        except typer.BadParameter as error:
            raise Misused(f"{text}: {error}") from None
    path = Path(text)
    if not path.is_file():
        raise Misused(f"{text} is neither a version (sha256:…) nor a file")
    return path


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
