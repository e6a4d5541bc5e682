"""`authority interop …`: what the authority says to those who verify signed action envelopes of upstream."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from authority.cli.arguments import AsJson
from authority.cli.asking import answer_to
from authority.cli.connecting import As, CredentialsFile, Roots, ServedFolder, find_caller, require_named
from authority.cli.failures import REFUSED, Refused
from authority.cli.output import Json, emit, printable, say
from authority.domain import limits
from authority.domain.action_envelope import OpenedEnvelope
from authority.domain.key_alias import is_key_name
from authority.domain.refusal import Refusal
from authority.signing.action_envelopes import SignedEnvelopeReader
from capability_authority.client import ActionVerdict, CapabilityAuthority, EnvelopeVerdicts, NotFound, ResolvedKey

app = typer.Typer(
    no_args_is_help=True, help="Ask as a verifier of signed action envelopes does: whose key it is, what is allowed."
)

_WRAPPER_BYTES: Final = 1_024
"""More than what stands around a signed envelope."""


def parse_key_name(text: str) -> str:
    """What an envelope can call a key. Raises BadParameter."""
    if not is_key_name(text):
        raise typer.BadParameter(f"{text!r} is nothing that an envelope can call a key")
    return text


@app.command()
def resolve(
    key: Annotated[str, typer.Argument(parser=parse_key_name, metavar="KEY", help="A key's id, or a name of one.")],
    *,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Show whose key it is that envelopes name so. Only services may ask; what is revoked is not there."""
    caller = require_named(find_caller(credentials, data, who, tls_roots), "ResolveKey")
    found = answer_to(caller, lambda authority: authority.resolve_key(key))
    if as_json:
        emit(_row(found))
    else:
        say(f"{found.key_id} of {_owner(found)}, a {found.principal_kind}, since {_registered(found)}")


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A signed action envelope, as JSON.")],
    *,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> int:
    """Check who signed an envelope, and have the authority say what policy and capability hold of it.

    Nothing is used up. Only services may ask. Whether it is fresh, and for whom, is for whoever is to accept it. The
    exit code is 1 for an envelope whose signature does not hold, or which either side denies.
    """
    envelope = _opened(file)
    caller = require_named(find_caller(credentials, data, who, tls_roots), "VerifyActionEnvelope")

    async def ask(authority: CapabilityAuthority) -> tuple[ResolvedKey | None, EnvelopeVerdicts]:
        verdicts = await authority.verify_action_envelope(envelope.canonical, key_id=envelope.key_name)
        try:
            return await authority.resolve_key(envelope.key_name), verdicts
        except NotFound:
            return None, verdicts

    key, verdicts = answer_to(caller, ask)
    is_signed = key is not None and SignedEnvelopeReader().is_signed_by(envelope, key.public_key.raw)
    if as_json:
        emit(
            {
                "key": _row(key) if key else None,
                "signed": is_signed,
                "policy": _verdict_row(verdicts.policy),
                "capability": _verdict_row(verdicts.capability),
                "receipt_id": verdicts.receipt_id or None,
            }
        )
    else:
        say(f"signature: {_signature(envelope, key, is_signed=is_signed)}")
        say(f"policy: {_said(verdicts.policy)}")
        say(f"capability: {_said(verdicts.capability)}")
    return 0 if is_signed and verdicts.policy.allowed and verdicts.capability.allowed else REFUSED


def _registered(key: ResolvedKey) -> str:
    return key.create_time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _owner(key: ResolvedKey) -> str:
    return "|".join(key.principal)


def _opened(file: Path) -> OpenedEnvelope:
    """Raises Refused for what is no signed envelope, OSError for a file that cannot be read."""
    with file.open("rb") as opened:
        text = opened.read(limits.ACTION_ENVELOPE_BYTES + _WRAPPER_BYTES)
    envelope = SignedEnvelopeReader().read(text)
    if isinstance(envelope, Refusal):
        told = ", ".join(printable(fact) for fact in envelope.facts.values())
        raise Refused(f"{file} is no signed action envelope: {told}")
    return envelope


def _signature(envelope: OpenedEnvelope, key: ResolvedKey | None, *, is_signed: bool) -> str:
    if key is None:
        return f"no active key is called {envelope.key_name}"
    holds = "holds" if is_signed else "does NOT hold"
    return f"{holds}, by {envelope.key_name} of {_owner(key)}"


def _said(verdict: ActionVerdict) -> str:
    if verdict.allowed:
        return "allowed"
    facts = ", ".join(f"{name} {printable(fact)}" for name, fact in sorted(verdict.facts.items()))
    return f"denied: {verdict.reason}{f' ({facts})' if facts else ''}; authority explain {verdict.reason}"


def _verdict_row(verdict: ActionVerdict) -> dict[str, Any]:
    return {"allowed": verdict.allowed, "reason": verdict.reason or None, "facts": verdict.facts}


def _row(key: ResolvedKey) -> dict[str, Json]:
    return {
        "key_id": key.key_id,
        "public_key": key.public_key.raw.hex(),
        "principal": _owner(key),
        "kind": key.principal_kind,
        "create_time": _registered(key),
    }
