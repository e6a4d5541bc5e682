"""The service itself, if one runs at the address where it is to listen."""

from collections.abc import AsyncIterator
from pathlib import Path

from authority.bootstrap.doctor.finding import Finding, ok, problem, warning
from authority.bootstrap.health import WHOLE, NobodyAnswers, ask_health


async def look_at_service(
    address: str, certificate: Path | None, within_s: float, *, asks_for_certificates: bool = False
) -> AsyncIterator[Finding]:
    """What its health says of it and of all that it serves; nothing of one to which a certificate must be shown."""
    if asks_for_certificates:
        yield ok("health", "not asked: callers must show a certificate; `authority health --client-certificate` does")
        return
    try:
        found = await ask_health(address, within_s=within_s, certificate=certificate)
    except NobodyAnswers:
        yield warning("health", f"nobody serves at {address}", "start it by `authority serve`")
        return
    except OSError as error:
        yield warning("health", f"cannot be asked over TLS: {error.strerror or error}", "see the TLS certificate")
        return
    ill = [health.name or "the whole" for health in found if not health.is_serving]
    if not ill:
        yield ok("health", f"{address} serves, with {len(found) - 1} names of its own")
    elif any(health.name == WHOLE and not health.is_serving for health in found):
        yield problem("health", f"{address} says NOT_SERVING", "it starts or stops; if it stays so, see its log")
    else:
        yield problem("health", f"{address} serves, but not {', '.join(ill)}", "see the log of the service")
