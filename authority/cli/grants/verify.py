"""`authority grants verify`: what the authority says of a grant, and of one use of it."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer

from authority.cli.arguments import AsJson
from authority.cli.connecting import As, Caller, CredentialsFile, Roots, ServedFolder, find_caller
from authority.cli.failures import REFUSED, Misused, Refused
from authority.cli.output import emit, printable, say
from authority.cli.running import run_to_end
from authority.cli.statement_argument import find_argument
from authority.domain import limits
from authority.domain.statement import Statement
from authority.signing.inspection import as_sent
from capability_authority.client import AuthorityError, CapabilityAuthority, GrantUse, GrantVerdict, HeldGrant

_NAMES: Final = (
    *("action", "audience", "resource", "read_memory_namespace", "write_memory_namespace", "tool", "provider", "model"),
)
_AMOUNTS: Final = ("usd_micros", "tokens", "latency_ms", "concurrency")
_FLAGS: Final = ("network", "destructive")
_NEEDS: Final = (*_NAMES, *_AMOUNTS, *_FLAGS)


def verify(
    chain: Annotated[
        list[str],
        typer.Argument(metavar="FILE|-|BASE64…", help="The grant; before it its ancestors, the root first."),
    ],
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
    statements = [find_argument(one) for one in chain]
    caller = find_caller(credentials, data, who, tls_roots)
    if not caller.is_known:
        raise Misused("VerifyGrant must be signed: name the caller by --as TENANT/NAME or --credentials FILE")
    needed = None if use is None else _use(use, caller.credentials.audience)
    verdict = _asked(caller, statements, needed)
    if as_json:
        emit({"granted": verdict.granted, "reason": verdict.reason or None, "facts": verdict.facts})
    elif verdict.granted:
        say("granted: the whole chain holds now" + (", for this use" if needed else ""))
    else:
        facts = ", ".join(f"{name} {printable(fact)}" for name, fact in sorted(verdict.facts.items()))
        say(f"refused: {verdict.reason}{f' ({facts})' if facts else ''}; authority explain {verdict.reason}")
    return 0 if verdict.granted else REFUSED


def _asked(caller: Caller, statements: Sequence[Statement], use: GrantUse | None) -> GrantVerdict:
    *ancestors, grant = map(as_sent, statements)

    async def ask() -> GrantVerdict:
        async with CapabilityAuthority.connect(credentials=caller.credentials, tls=caller.tls) as authority:
            return await authority.verify_grant(HeldGrant(grant, tuple(ancestors)), use=use)

    try:
        return run_to_end(ask)
    except AuthorityError as error:
        raise Refused(f"the grant cannot be judged: {error}") from None


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
