"""`authority tenants …`: whole tenants to try things with, on an embedded authority."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, parse_name
from authority.cli.connecting import CREDENTIALS, ServedFolder, credentials_file
from authority.cli.demo_tenants import KINDS, DemoTenants
from authority.cli.endpoint import DEFAULT_DATA, Endpoint, find_endpoint
from authority.cli.failures import Refused
from authority.cli.operating import is_known, newest_policy, operate
from authority.cli.output import Json, emit, say
from authority.embedded.demo import DemoNamespace, DemoTenant

app = typer.Typer(no_args_is_help=True, help="Make tenants to try things with, on an embedded authority.")

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""Becomes a part of files' names."""


def parse_tenant_name(text: str) -> str:
    """Raises BadParameter."""
    if _NAME.fullmatch(text) is None:
        raise typer.BadParameter(f"{text!r} is no name of a tenant: use a-z, 0-9 and -, at most 63 characters")
    return text


@app.command()
def add(
    names: Annotated[list[str], typer.Argument(parser=parse_tenant_name, metavar="NAME", help="One or several.")],
    *,
    namespace: Annotated[
        list[str] | None,
        typer.Option(parser=parse_name, metavar="NAME", help="A memory namespace; may be repeated. memory if none is."),
    ] = None,
    privileged: Annotated[
        list[str] | None,
        typer.Option(parser=parse_name, metavar="NAME", help="A privileged memory namespace; may be repeated."),
    ] = None,
    data: ServedFolder = None,
    as_json: AsJson = False,
) -> None:
    """Make tenants of an embedded authority, each with memory namespaces and a principal of every kind.

    The memory namespaces are decided by the newest policy. The credentials of each tenant's admin, agent, user,
    observer and service are in the data folder: `--as NAME/agent` calls as one of them.
    """
    folder = (data or DEFAULT_DATA).absolute()
    spaces = (*_spaces(namespace or ["memory"], privileged=False), *_spaces(privileged or [], privileged=True))
    tenants = [DemoTenant(tenant=name, about="made by an operator", memory_namespaces=spaces) for name in names]
    endpoint = find_endpoint(folder)
    operate(folder, lambda operator: _add(operator, folder, endpoint, tenants))
    if as_json:
        emit([_row(folder, tenant) for tenant in tenants])
        return
    for tenant in tenants:
        say(f"added {tenant.ref} with {', '.join(space.name for space in spaces)}, and {', '.join(KINDS)}")
    say(f"their credentials are in {folder / CREDENTIALS}, to call as {tenants[0].tenant}/agent and so on")


async def _add(operator: Operator, folder: Path, endpoint: Endpoint, tenants: Sequence[DemoTenant]) -> None:
    for tenant in tenants:
        if await is_known(operator, tenant.ref):
            raise Refused(f"the tenant {tenant.ref} is there already, and was left as it is")
    await DemoTenants(operator, folder, endpoint, await newest_policy(operator)).ensure(tenants)


def _spaces(names: Sequence[str], *, privileged: bool) -> tuple[DemoNamespace, ...]:
    return tuple(DemoNamespace(name=name, privileged=privileged) for name in names)


def _row(folder: Path, tenant: DemoTenant) -> dict[str, Json]:
    return {
        "name": tenant.tenant,
        "tenant": {"namespace": tenant.ref.namespace, "id": tenant.ref.id},
        "memory_namespaces": [space.name for space in tenant.memory_namespaces],
        "credentials": {name: str(credentials_file(folder, tenant.tenant, name)) for name in KINDS},
    }
