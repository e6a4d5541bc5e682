"""How an operator's command finds its authority and runs on it."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from authority.bootstrap.operator import Operator, open_operator
from authority.cli.endpoint import DEFAULT_DATA, find_endpoint
from authority.cli.failures import Refused
from authority.cli.output import note
from authority.cli.running import run_to_end
from authority.config import OperatorSettings, load_operator_settings
from authority.domain.references import TenantRef
from authority.policy.plain import plain_versions

Answer = TypeVar("Answer")


def operator_settings(data: Path | None) -> OperatorSettings:
    """The authority that is meant: the one served from `data`, else the environment's, else the one in ./.authority.

    Raises Refused when none is served from a folder that is there, SettingsError.
    """
    if data is not None:
        return find_endpoint(data).operator_settings()
    settings = load_operator_settings()
    if settings.admin_database_url is None and DEFAULT_DATA.is_dir():
        return find_endpoint(DEFAULT_DATA).operator_settings()
    return settings


def operate(data: Path | None, act: Callable[[Operator], Awaitable[Answer]]) -> Answer:
    """Does an operator's act on the authority that is meant. Raises as `operator_settings` and the act do."""
    settings = operator_settings(data)

    async def run() -> Answer:
        async with open_operator(settings) as operator:
            return await act(operator)

    return run_to_end(run)


async def is_known(operator: Operator, tenant: TenantRef) -> bool:
    """Whether the tenant has anything: tenants are made by the first thing that is added to them."""
    administration = operator.administration
    return bool(await administration.list_principals(tenant) or await administration.list_namespaces(tenant))


async def require_known(operator: Operator, tenant: TenantRef) -> None:
    """Raises Refused for a tenant that nobody knows, which is most often a wrong spelling."""
    if not await is_known(operator, tenant):
        raise Refused(unknown(tenant))


async def newest_policy(operator: Operator) -> bytes:
    """The version of the bundle that was loaded last, passing over those that are only ever asked for by name.

    Raises Refused when no other is loaded.
    """
    loaded = [policy.version for policy in await operator.administration.list_policies()]
    others = [version for version in loaded if version not in plain_versions()]
    if not others:
        raise Refused("no policy is loaded: `authority policies load FILE` loads one")
    return others[-1]


def unknown(tenant: TenantRef) -> str:
    """The sentence about a tenant that nobody knows."""
    return f"nobody knows a tenant {tenant}: it has neither a principal nor a memory namespace"


def confirm(warning: str, *, yes: bool) -> None:
    """Has a person agree, unless `yes` says that one did. Raises Refused."""
    if yes:
        return
    note(warning)
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        note("")  # The question's line is still open.
    if answer.strip().lower() not in ("y", "yes"):
        raise Refused("nothing was changed; --yes agrees without a question")
