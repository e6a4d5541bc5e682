"""`authority grants issue` and `exchange`: the authority makes a grant, a root or a narrower one."""

import base64
import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from authority.cli.arguments import AsJson, parse_principal
from authority.cli.asking import answer_to, ask_as
from authority.cli.connecting import As, CredentialsFile, Roots, ServedFolder, find_caller, require_named
from authority.cli.failures import Refused
from authority.cli.grants.terms import Term, parse_terms
from authority.cli.output import emit, note, printable, say
from authority.cli.statement_argument import find_argument
from authority.domain.grant import AMOUNT_DIMENSIONS, EXACT_DIMENSIONS, FLAG_DIMENSIONS, SELECTOR_DIMENSIONS
from authority.domain.references import PrincipalRef
from authority.signing.inspection import as_sent
from capability_authority.client import CapabilityAuthority, HeldGrant, Reference, grant_terms

_LIFETIME: Final = re.compile(r"([1-9][0-9]{0,6})([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_NOTHING: Final[dict[str, Term]] = {
    **{name: [] for name in (*EXACT_DIMENSIONS, *SELECTOR_DIMENSIONS)},
    **dict.fromkeys(AMOUNT_DIMENSIONS, 0),
    **dict.fromkeys(FLAG_DIMENSIONS, False),
}
"""Said of what is not named: absent would deny as well, and nothing could be derived then."""


def _lifetime(text: str) -> timedelta:
    """A number and its unit. Raises BadParameter."""
    found = _LIFETIME.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is no lifetime: write 45s, 30m, 8h or 30d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


Chain = Annotated[
    list[str], typer.Argument(metavar="FILE|-|BASE64…", help="The grant; before it its ancestors, the root first.")
]
To = Annotated[PrincipalRef, typer.Option("--to", parser=parse_principal, metavar="NS|ID", help="Who is to hold it.")]
ToKey = Annotated[
    str, typer.Option("--to-key", metavar="KEY_ID", help="The id of the key, registered, that it is held by.")
]
Lifetime = Annotated[
    timedelta | None, typer.Option("--lifetime", parser=_lifetime, metavar="DURATION", help="45s, 30m, 8h or 30d.")
]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the grant to this new file.")]
_TERMS_HELP: Final = "once for each dimension: names divided by commas, an amount, yes or no."


def issue(  # noqa: PLR0913 - one option for each property
    *,
    subject: Annotated[
        PrincipalRef, typer.Option(parser=parse_principal, metavar="NS|ID", help="Whose rights are used.")
    ],
    to: To,
    to_key: ToKey,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="DIMENSION=VALUE", help=f"What it allows, {_TERMS_HELP} Else it is denied."),
    ] = None,
    lifetime: Lifetime = None,
    policy: Annotated[
        str, typer.Option(metavar="sha256:…", help="The policy it is good under, where a tenant has several.")
    ] = "",
    correlation: Annotated[str, typer.Option(metavar="ID", help="Found again in the audit log.")] = "",
    out: Out = None,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Make a grant, the root of a chain: its holder acts by the subject's rights, as far as it allows.

    By an admin, or whoever has the right `issue`. What is not named is denied, but for the audience: it is the caller's
    authority. A day unless --lifetime says otherwise.
    """
    caller = require_named(find_caller(credentials, data, who, tls_roots))
    terms: dict[str, Any] = {**_NOTHING, "audiences": [caller.credentials.audience], **parse_terms(allow or ())}

    async def ask(authority: CapabilityAuthority) -> HeldGrant:
        return await authority.issue_grant(
            grant_terms(**terms),
            subject=_reference(subject),
            holder=_reference(to),
            holder_key_id=to_key,
            lifetime=lifetime,
            policy_version=policy,
            correlation_id=correlation,
        )

    _tell(answer_to(caller, ask), out, as_json=as_json)
    if not terms["uses"] and not as_json:
        note("it can be used for nothing: every use takes one of its uses, and `--allow uses=N` gives them")


def exchange(  # noqa: PLR0913 - one option for each property
    chain: Chain,
    *,
    to: To,
    to_key: ToKey,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="DIMENSION=VALUE", help=f"What is narrower, {_TERMS_HELP} Else it stays."),
    ] = None,
    lifetime: Lifetime = None,
    out: Out = None,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Have the authority make a narrower grant, for another holder, in exchange for one that the caller holds.

    The subject stays, and the caller joins those who act for it. As long as the parent lives unless --lifetime says
    otherwise. `authority grants delegate` does the same without a server.
    """
    parent = held(chain)
    terms = parent.narrowed(**parse_terms(only or ()))

    async def ask(authority: CapabilityAuthority) -> HeldGrant:
        return await authority.exchange_grant(
            parent, holder=_reference(to), holder_key_id=to_key, terms=terms, lifetime=lifetime
        )

    _tell(ask_as(credentials, data, who, tls_roots, ask), out, as_json=as_json)


def held(chain: Sequence[str]) -> HeldGrant:
    """The grant that the arguments are, with its ancestors. Raises Refused, OSError."""
    *ancestors, grant = (as_sent(find_argument(one)) for one in chain)
    return HeldGrant(grant, tuple(ancestors))


def _reference(principal: PrincipalRef) -> Reference:
    return Reference(principal.namespace, principal.id)


def _tell(grant: HeldGrant, out: Path | None, *, as_json: bool) -> None:
    if out is not None:
        _write(out, grant)
    text = base64.b64encode(grant.statement.SerializeToString(deterministic=True)).decode()
    holder = grant.terms.holder
    if as_json:
        emit(
            {
                "grant": text,
                "digest": grant.digest,
                "holder": {"namespace": holder.namespace, "id": holder.id},
                "expire_time": grant.expire_time.isoformat().replace("+00:00", "Z"),
                "file": None if out is None else str(out),
            }
        )
        return
    note(f"{grant.digest}, for {holder.namespace}|{holder.id} until {grant.expire_time:%Y-%m-%d %H:%M} UTC")
    say(text if out is None else f"written to {printable(str(out))}")


def _write(out: Path, grant: HeldGrant) -> None:
    """A grant is no secret without the key that it binds. What stands there already is somebody's."""
    try:
        with out.open("xb") as file:
            file.write(grant.statement.SerializeToString(deterministic=True))
    except FileExistsError:
        raise Refused(f"--out: {out} is there already, and is not written over") from None
