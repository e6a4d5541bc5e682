"""`authority keys …`: the keys with which the authority signs."""

from typing import Annotated

import typer

from authority.bootstrap.operator import FIRST_PURPOSES, Operator
from authority.cli.arguments import (
    TENANT_HELP,
    AsJson,
    DataFolder,
    Yes,
    iso,
    parse_digest,
    parse_instant,
    parse_name,
    parse_tenant,
    short_time,
)
from authority.cli.failures import Misused, Refused
from authority.cli.operating import confirm, operate, operator_settings, require_known
from authority.cli.output import Json, emit, say
from authority.cli.tables import table
from authority.domain.references import Instant, TenantRef
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState
from authority.signing.rotation import Scope

app = typer.Typer(no_args_is_help=True, help="List, rotate and revoke the authority's own keys.")

_BREAKS = {
    KeyPurpose.CAPABILITY: "no capability that it signed can be committed any more; issue them again",
    KeyPurpose.GRANT: "no grant that it signed, nor any derived from one, is accepted any more",
    KeyPurpose.RECEIPT: "receipts that it signed are vouched for by the current receipt key; clients without that"
    " attestation refuse them",
    KeyPurpose.VALIDATION: "what it signed must be validated again before a capability is issued or committed on it",
    KeyPurpose.DECISION: "what it signed must be decided again before a capability is issued or committed on it",
    KeyPurpose.REVOCATION: "revocations that it signed prove nothing any more",
}
"""What stops working when a key of the purpose is revoked."""

_MADE = ", ".join(purpose.value for purpose in FIRST_PURPOSES)

OptionalScopeTenant = Annotated[
    TenantRef | None,
    typer.Option("--tenant", parser=parse_tenant, metavar="NS|ID", help=f"{TENANT_HELP} Every one when left out."),
]


@app.command("list")
def list_(*, data: DataFolder = None, as_json: AsJson = False) -> None:
    """List the keys of the authority, oldest first."""

    async def act(operator: Operator) -> list[IssuerKey]:
        return list(await operator.administration.list_issuer_keys())

    found = operate(data, act)
    if as_json:
        emit([_row(key) for key in found])
        return
    table(("PURPOSE", "STATE", "SCOPE", "MADE (UTC)", "COMPROMISED SINCE (UTC)", "KEY"), map(_line, found))


@app.command()
def rotate(
    named: Annotated[str, typer.Argument(metavar="PURPOSE", help=f"What the key signs: {_MADE}.")],
    *,
    tenant: OptionalScopeTenant = None,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", parser=parse_name, metavar="NAME", help="Its only memory namespace."),
    ] = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Make a new key that signs from now on. The one before retires: it signs nothing new, and still verifies."""
    if namespace is not None and tenant is None:
        raise Misused("--namespace needs --tenant: memory namespaces belong to tenants")
    purpose = _purpose(named)

    async def act(operator: Operator) -> tuple[IssuerKey, list[str]]:
        if tenant is not None:
            await require_known(operator, tenant)
        return await operator.rotate(purpose, Scope(tenant, namespace))

    folder = operator_settings(data).keys
    key, retired = operate(data, act)
    if as_json:
        emit({"key": _row(key), "retired": list(retired), "folder": str(folder)})
        return
    say(f"{key.key_id} signs {purpose.value} statements from now on")
    for key_id in retired:
        say(f"{key_id} retires: what it signed stays valid")
    say(f"its private key is in {folder}, which every process of the service must be able to read")


@app.command()
def revoke(
    key: Annotated[
        bytes, typer.Argument(parser=parse_digest, metavar="KEY_ID", help="sha256:… of `authority keys list`.")
    ],
    *,
    compromised_since: Annotated[
        Instant | None,
        typer.Option(parser=parse_instant, metavar="TIME", help="From when others had it, such as 2027-01-31T08:00Z."),
    ] = None,
    yes: Yes = False,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw a key for ever: nothing that it signed verifies any more."""
    key_id = f"sha256:{key.hex()}"

    async def find(operator: Operator) -> tuple[IssuerKey, bool]:
        keys = {key.key_id: key for key in await operator.administration.list_issuer_keys()}
        if key_id not in keys:
            raise Refused(f"no key of the authority is {key_id}: `authority keys list` shows them")
        others = (other for other in keys.values() if other.key_id != key_id)
        return keys[key_id], any(_stands_in(other, keys[key_id]) for other in others)

    async def act(operator: Operator) -> None:
        await operator.administration.revoke_issuer_key(key_id, compromised_since, operator.clock.now())

    found, replaced = operate(data, find)
    confirm(_warning(found, replaced=replaced), yes=yes)
    operate(data, act)
    if as_json:
        since = iso(compromised_since) or None
        emit(
            {
                "revoked": key_id,
                "purpose": found.purpose.value,
                "compromised_since": since,
                "another_is_active": replaced,
            }
        )
        return
    say(f"revoked {key_id}")
    if not replaced:
        say(f"No active {found.purpose.value} key is left in its place: {_remedy(found)} makes one")


def _purpose(named: str) -> KeyPurpose:
    try:
        return KeyPurpose(named)
    except ValueError:
        raise Misused(f"PURPOSE: {named!r} is none of {_MADE}") from None


def _remedy(key: IssuerKey) -> str:
    """The command that puts another in its place, for the same scope."""
    tenant = f" --tenant '{key.tenant}'" if key.tenant else ""
    namespace = f" --namespace {key.memory_namespace}" if key.memory_namespace else ""
    return f"`authority keys rotate {key.purpose.value}{tenant}{namespace}`"


def _warning(key: IssuerKey, *, replaced: bool) -> str:
    sentences = [f"Revoking the {key.state.value} {key.purpose.value} key {key.key_id}: {_BREAKS[key.purpose]}."]
    if not replaced:
        sentences.append(
            f"No other active key signs in its place: until {_remedy(key)}, nothing that needs one can be done."
        )
    return "\n".join([*sentences, "There is no way back."])


def _stands_in(other: IssuerKey, key: IssuerKey) -> bool:
    """Whether the other key signs wherever this one does."""
    wide = other.tenant in (None, key.tenant) and other.memory_namespace in (None, key.memory_namespace)
    return wide and other.purpose is key.purpose and other.state is KeyState.ACTIVE


def _line(key: IssuerKey) -> tuple[str, ...]:
    made, since = short_time(key.create_time), short_time(key.compromised_since)
    return key.purpose.value, key.state.value, _scope(key), made, since, key.key_id


def _row(key: IssuerKey) -> dict[str, Json]:
    return {
        "key_id": key.key_id,
        "public_key": key.public_key.hex(),
        "purpose": key.purpose.value,
        "state": key.state.value,
        "tenant": str(key.tenant) if key.tenant else None,
        "memory_namespace": key.memory_namespace,
        "create_time": iso(key.create_time),
        "compromised_since": _since(key) or None,
    }


def _scope(key: IssuerKey) -> str:
    parts = [str(key.tenant)] if key.tenant else ["everywhere"]
    return " ".join([*parts, *([key.memory_namespace] if key.memory_namespace else [])])


def _since(key: IssuerKey) -> str:
    return iso(key.compromised_since)
