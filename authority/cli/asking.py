"""One or more calls to the service in somebody's name, from a command."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from authority.cli.connecting import find_caller
from authority.cli.failures import Misused, Refused
from authority.cli.running import run_to_end
from capability_authority.client import AuthorityError, CapabilityAuthority, PlaintextRefused

Answer = TypeVar("Answer")


def ask_as(
    credentials: Path | None,
    data: Path | None,
    who: str | None,
    tls_roots: Path | None,
    ask: Callable[[CapabilityAuthority], Awaitable[Answer]],
) -> Answer:
    """What the service answers to the caller that is meant. Raises Misused for nobody, Refused with the refusal."""
    caller = find_caller(credentials, data, who, tls_roots)
    if not caller.is_known:
        raise Misused("this must be signed: name the caller by --as TENANT/NAME or --credentials FILE")

    async def run() -> Answer:
        async with CapabilityAuthority.connect(credentials=caller.credentials, tls=caller.tls) as authority:
            return await ask(authority)

    try:
        return run_to_end(run)
    except AuthorityError as error:
        raise Refused(str(error)) from error
    except PlaintextRefused as error:
        raise Refused(f"{caller.credentials.target} needs TLS: name its roots by --tls-roots") from error
