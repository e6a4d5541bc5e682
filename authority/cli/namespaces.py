"""`authority namespaces …`: where learned memory of a tenant may live."""

from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.bootstrap.validators import installed_validators
from authority.cli.arguments import AsJson, DataFolder, Tenant, Yes, iso, parse_digest, parse_name
from authority.cli.failures import Refused
from authority.cli.operating import confirm, is_known, newest_policy, operate, require_known, unknown
from authority.cli.output import Json, emit, note, say
from authority.cli.tables import table
from authority.config import load_operator_settings
from authority.domain.proposal import Visibility
from authority.domain.record import MemoryNamespace, Mode
from authority.domain.unvalidated import UnvalidatedRecord
from authority.domain.validation import BASELINE
from authority.usecases.administer import NewMemoryNamespace
from authority.usecases.ports import UnvalidatedCounts

app = typer.Typer(
    no_args_is_help=True, help="Add and list memory namespaces, set their modes, and see what enforcing would refuse."
)

Name = Annotated[str, typer.Argument(parser=parse_name, metavar="NAME", help="The memory namespace.")]

_STRICTNESS = {mode: rank for rank, mode in enumerate(Mode)}


@app.command()
def add(  # noqa: PLR0913 - each is an option
    name: Name,
    *,
    tenant: Tenant,
    policy: Annotated[
        bytes | None,
        typer.Option(parser=parse_digest, metavar="VERSION", help="Policy version; the newest loaded when left out."),
    ] = None,
    mode: Annotated[Mode, typer.Option(help="How unvalidated writes are treated.")] = Mode.ENFORCE,
    privileged: Annotated[
        bool, typer.Option("--privileged", help="Accept no unvalidated write in any mode; policy can ask for more.")
    ] = False,
    visibility: Annotated[
        Visibility, typer.Option(help="Visibility of what is proposed without one.")
    ] = Visibility.WORKSPACE,
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", help="Least validator profile of what is proposed here.")
    ] = BASELINE,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Make a memory namespace of a tenant. It is decided by a bundle from the start, the newest unless one is named."""
    _require_profile(profile)

    async def act(operator: Operator) -> tuple[NewMemoryNamespace, bool]:
        is_first = not await is_known(operator, tenant)
        if name in {found.name for found in await operator.administration.list_namespaces(tenant)}:
            raise Refused(f"memory namespace {name} exists already in {tenant}")
        new = NewMemoryNamespace(
            tenant=tenant,
            name=name,
            policy_version=policy or await newest_policy(operator),
            mode=mode,
            privileged=privileged,
            default_visibility=visibility,
            least_profile=profile,
        )
        await operator.administration.add_namespace(new, operator.clock.now())
        return new, is_first

    new, is_first = operate(data, act)
    if as_json:
        version = _shown(new.policy_version)
        emit({"tenant": str(new.tenant), "name": new.name, "mode": new.mode.value, "policy_version": version})
        return
    chosen = "as named" if policy else "the newest that is loaded"
    say(f"added {new.name} of {'the new tenant ' if is_first else ''}{new.tenant} in mode {new.mode.value}")
    say(f"it is decided by policy {_shown(new.policy_version)}, {chosen}")


@app.command("list")
def list_(*, tenant: Tenant, data: DataFolder = None, as_json: AsJson = False) -> None:
    """List the memory namespaces of a tenant."""

    async def act(operator: Operator) -> list[MemoryNamespace]:
        found = list(await operator.administration.list_namespaces(tenant))
        if not found and not await is_known(operator, tenant):
            note(unknown(tenant))
        return found

    found = operate(data, act)
    if as_json:
        emit([_row(namespace) for namespace in found])
        return
    columns = ("NAME", "MODE", "PRIVILEGED", "LEAST PROFILE", "VISIBILITY", "POLICY")
    table(columns, ([_word(value) for value in list(_row(namespace).values())[1:]] for namespace in found))


@app.command()
def mode(
    name: Name,
    mode: Annotated[
        Mode,
        typer.Argument(metavar="MODE", help="legacy and observe accept unvalidated writes; enforce does not."),
    ],
    *,
    tenant: Tenant,
    yes: Yes = False,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Set the mode of a memory namespace: how it treats unvalidated writes.

    Validated commits are the same in every mode. `authority namespaces would-deny` says beforehand what `enforce` would
    refuse of what is written now. Once it is set, what was written unvalidated is read by who asks for it alone.
    """

    async def current(operator: Operator) -> Mode:
        await require_known(operator, tenant)
        found = {space.name: space.mode for space in await operator.administration.list_namespaces(tenant)}
        if name not in found:
            raise Refused(f"no memory namespace {name} in {tenant}: `authority namespaces add` makes one")
        return found[name]

    async def act(operator: Operator) -> None:
        await operator.administration.set_mode(tenant, name, mode, operator.clock.now())

    before = operate(data, current)
    if _STRICTNESS[mode] < _STRICTNESS[before]:
        confirm(
            f"{name} of {tenant} will accept writes that nobody validated ({before.value} → {mode.value}):"
            " whoever reads there sees them, marked.",
            yes=yes,
        )
    operate(data, act)
    if as_json:
        emit({"tenant": str(tenant), "name": name, "previous": before.value, "mode": mode.value})
    else:
        say(f"{name} of {tenant}: {before.value} → {mode.value}")


@app.command("would-deny")
def would_deny(
    name: Name,
    *,
    tenant: Tenant,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Show at most so many, oldest first.")] = 50,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Show which unvalidated writes `enforce` would have refused, and by which validators and policies.

    Only what was written in mode `observe` was judged. Of the content nothing is shown.
    """

    async def act(operator: Operator) -> tuple[UnvalidatedCounts, list[UnvalidatedRecord]]:
        await require_known(operator, tenant)
        if name not in {found.name for found in await operator.administration.list_namespaces(tenant)}:
            raise Refused(f"no memory namespace {name} in {tenant}")
        counts = await operator.unvalidated.count(tenant, name)
        return counts, list(await operator.unvalidated.would_refuse(tenant, name, after="", size=limit))

    counts, found = operate(data, act)
    if as_json:
        emit(
            {
                "legacy": counts.legacy,
                "observed": counts.observed,
                "would_refuse": counts.would_refuse,
                "records": [_would_refuse(it) for it in found],
            }
        )
        return
    rows = [_would_refuse(it) for it in found]
    columns = ("record_id", "written_by", "reason", "by")
    table(("RECORD", "WRITTEN BY", "REFUSED FOR", "BY"), ([_word(row[key]) for key in columns] for row in rows))
    note(
        f"of {counts.observed} observed writes {counts.would_refuse} would have been refused;"
        f" {counts.legacy} were taken unseen in mode legacy"
    )


def _would_refuse(written: UnvalidatedRecord) -> dict[str, Json]:
    observation, record = written.observation, written.record
    assert observation
    assert observation.would_refuse  # Those alone are asked for.
    return {
        "record_id": record.record_id,
        "write_time": iso(record.create_time),
        "written_by": str(record.proposer),
        "reason": observation.would_refuse.name,
        "by": " ".join((*observation.validators, *observation.policies)),
        "policy_version": _shown(observation.policy_version),
    }


def _require_profile(name: str) -> None:
    if installed_validators(load_operator_settings().profiles).profile(name) is None:
        raise Refused(f"no validator profile {name} here: `authority validators profiles` lists them")


def _row(namespace: MemoryNamespace) -> dict[str, Json]:
    return {
        "tenant": str(namespace.tenant),
        "name": namespace.name,
        "mode": namespace.mode.value,
        "privileged": namespace.privileged,
        "least_profile": namespace.least_profile,
        "default_visibility": namespace.default_visibility.value,
        "policy_version": _shown(namespace.policy_version),
    }


def _shown(version: bytes) -> str:
    return f"sha256:{version.hex()}"


def _word(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
