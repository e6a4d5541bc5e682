"""`authority grants verify`: what the authority says of a grant, and of one use of it."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer

from authority.cli.arguments import AsJson
from authority.cli.asking import answer_to
from authority.cli.connecting import As, CredentialsFile, Roots, ServedFolder, find_caller, require_named
from authority.cli.failures import REFUSED, Misused
from authority.cli.grants.make import Chain, held
from authority.cli.output import emit, printable, say
from authority.domain import limits
from capability_authority.client import GrantUse, GrantVerdict

_NAMES: Final = (
    *("action", "audience", "resource", "read_memory_namespace", "write_memory_namespace", "tool", "provider", "model"),
)
_AMOUNTS: Final = ("usd_micros", "tokens", "latency_ms", "concurrency")
_FLAGS: Final = ("network", "destructive")
_NEEDS: Final = (*_NAMES, *_AMOUNTS, *_FLAGS)


def verify(
    chain: Chain,
    *,
    use: Annotated[
        list[str] | None,
        typer.Option("--use", metavar="NEED=VALUE", help=f"What one use needs, once for each of: {', '.join(_NEEDS)}."),
    ] = None,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> int:
    """Have the authority judge a grant with all its ancestors, and one use of it; nothing is changed or spent.

    Any principal of the tenant may ask. Ancestors that the authority made may be left out. Without --use the chain and
    its times are judged alone; with it, it is the caller's authority that has to be in the audience, unless another is
    named. The exit code is 1 for a grant that is refused.
    """
    grant = held(chain)
    caller = require_named(find_caller(credentials, data, who, tls_roots), "VerifyGrant")
    needed = None if use is None else _use(use, caller.credentials.audience)
    verdict: GrantVerdict = answer_to(caller, lambda authority: authority.verify_grant(grant, use=needed))
    if as_json:
        emit({"granted": verdict.granted, "reason": verdict.reason or None, "facts": verdict.facts})
    elif verdict.granted:
        say("granted: the whole chain holds now" + (", for this use" if needed else ""))
    else:
        facts = ", ".join(f"{name} {printable(fact)}" for name, fact in sorted(verdict.facts.items()))
        say(f"refused: {verdict.reason}{f' ({facts})' if facts else ''}; authority explain {verdict.reason}")
    return 0 if verdict.granted else REFUSED


def _use(texts: Sequence[str], audience: str) -> GrantUse:
    needs: dict[str, Any] = {"audience": audience}
    given: set[str] = set()
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or name not in _NEEDS:
            raise Misused(f"--use: {text!r} is not NEED=VALUE with a need of: {', '.join(_NEEDS)}")
        if name in given:
            raise Misused(f"--use: {name} is given twice")
        given.add(name)
        needs[name] = _need(name, value)
    if "action" not in needs:
        raise Misused("--use: name the action too, as in --use action=memory.propose")
    return GrantUse(**needs)


def _need(name: str, value: str) -> str | int | bool:
    if name in _NAMES:
        return value
    if name in _FLAGS:
        if value not in ("yes", "no"):
            raise Misused(f"--use: {name} is yes or no, not {value!r}")
        return value == "yes"
    if not (value.isascii() and value.isdigit() and int(value) <= limits.INT64_MAX):
        raise Misused(f"--use: {name} is a whole number from 0 to {limits.INT64_MAX}, not {value!r}")
    return int(value)
