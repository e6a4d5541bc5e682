"""One or more calls to the service in somebody's name, from a command."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from authority.cli.connecting import Caller, find_caller, require_named
from authority.cli.failures import Refused
from authority.cli.running import run_to_end
from capability_authority.client import AuthorityError, CapabilityAuthority, KeySetRefused, PlaintextRefused

Answer = TypeVar("Answer")
Ask = Callable[[CapabilityAuthority], Awaitable[Answer]]


def ask_as(
    credentials: Path | None, data: Path | None, who: str | None, tls_roots: Path | None, ask: Ask[Answer]
) -> Answer:
    """What the service answers to the caller that is meant. Raises Misused for nobody, Refused with the refusal."""
    return answer_to(require_named(find_caller(credentials, data, who, tls_roots)), ask)


def answer_to(caller: Caller, ask: Ask[Answer]) -> Answer:
    """What the service answers to this caller. Raises Refused with the refusal, or for a server that is not trusted."""

    async def run() -> Answer:
        async with CapabilityAuthority.connect(credentials=caller.credentials, tls=caller.tls) as authority:
            return await ask(authority)

    try:
        return run_to_end(run)
    except (AuthorityError, KeySetRefused) as error:
        raise Refused(str(error)) from error
    except PlaintextRefused as error:
        raise Refused(f"{caller.credentials.target} needs TLS: name its roots by --tls-roots") from error
