"""`authority grants show` and `revoke`: what became of a grant, and its end."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from authority.cli.arguments import AsJson, Yes, parse_digest
from authority.cli.asking import ask_as
from authority.cli.connecting import As, CredentialsFile, Roots, ServedFolder
from authority.cli.failures import Misused
from authority.cli.grants.make import held
from authority.cli.operating import confirm
from authority.cli.output import Json, emit, say
from authority.cli.tables import table
from capability_authority.client import GrantStatus, HeldGrant, Revocation
from capability_authority.v1.types_pb2 import PrincipalRef

_DIGEST = "sha256:"
_BUDGETS = ("uses", "tokens", "usd_micros")
Named = Annotated[
    list[str],
    typer.Argument(metavar="DIGEST | FILE|-|BASE64…", help="Its digest; or the grant, before it its ancestors."),
]


def show(
    grant: Named,
    *,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Show a grant that the authority made or has met: its chain, what became of it, and what was spent of it.

    To its subject, its holder, the holders of its ancestors, admins, and whoever has the right `issue`.
    """
    digest = _digest(grant)
    status: GrantStatus = ask_as(credentials, data, who, tls_roots, lambda authority: authority.get_grant(digest))
    if as_json:
        emit(_document(status))
        return
    say(f"{status.state}{f' since {_time(status.revoke_time)}' if status.revoke_time else ''}")
    table(("GRANT", "HOLDER", "UNTIL (UTC)", "USES", "TOKENS", "USD MICROS", "LIVE"), _rows(status))


def revoke(
    grant: Named,
    *,
    yes: Yes = False,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Revoke a grant with all that was derived from it. There is no way back; no commit that follows ignores it.

    By its subject, its holder, the holder of an ancestor, an admin, or whoever has the right `issue`. One that the
    authority has not met yet is given itself, in place of its digest.
    """
    named: HeldGrant | str = grant[0] if _is_digest(grant) else held(grant)
    digest = named if isinstance(named, str) else named.digest
    confirm(f"{digest} and all that was derived from it will allow nothing any more, for ever.", yes=yes)
    revocation: Revocation = ask_as(credentials, data, who, tls_roots, lambda authority: authority.revoke_grant(named))
    if as_json:
        emit({"digest": digest, "revoke_time": _iso(revocation.revoke_time), "replayed": revocation.replayed})
        return
    before = f"was revoked before, at {_time(revocation.revoke_time)}"
    say(f"{digest} {before}" if revocation.replayed else f"revoked {digest}")


def _is_digest(texts: Sequence[str]) -> bool:
    if not texts[0].startswith(_DIGEST):
        return False
    parse_digest(texts[0])
    if len(texts) > 1:
        raise Misused("give one digest, or a grant after its ancestors")
    return True


def _digest(texts: Sequence[str]) -> str:
    return texts[0] if _is_digest(texts) else held(texts).digest


def _rows(status: GrantStatus) -> list[tuple[str, ...]]:
    grant, spent = status.grant, status.spent
    above = [HeldGrant(ancestor) for ancestor in grant.ancestors]
    rows = [(it.digest, _ref(it.terms.holder), _time(it.expire_time), *_most(it), "") for it in above]
    used = [f"{getattr(spent, name)} of {most}" for name, most in zip(_BUDGETS, _most(grant), strict=True)]
    live = f"{spent.live_capabilities} of {grant.terms.concurrency.most}"
    return [*rows, (grant.digest, _ref(grant.terms.holder), _time(grant.expire_time), *used, live)]


def _most(grant: HeldGrant) -> list[str]:
    return [str(getattr(grant.terms, name).most) for name in _BUDGETS]


def _document(status: GrantStatus) -> dict[str, Json]:
    terms, spent = status.grant.terms, status.spent
    return {
        "digest": status.grant.digest,
        "ancestors": [HeldGrant(ancestor).digest for ancestor in status.grant.ancestors],
        "state": status.state,
        "revoke_time": _iso(status.revoke_time) if status.revoke_time else None,
        "subject": _ref(terms.subject),
        "actors": [_ref(actor) for actor in terms.actor_chain],
        "holder": _ref(terms.holder),
        "expire_time": _iso(status.grant.expire_time),
        "spent": {name: getattr(spent, name) for name in (*_BUDGETS, "live_capabilities")},
        "most": {name: getattr(terms, name).most for name in (*_BUDGETS, "concurrency")},
    }


def _ref(ref: PrincipalRef) -> str:
    return f"{ref.namespace}|{ref.id}"


def _time(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
