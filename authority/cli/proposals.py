"""`authority proposals …`: what was proposed, what became of it, and taking it back."""

from datetime import datetime
from typing import Annotated, Final

import typer
from google.protobuf.json_format import MessageToDict

from authority.cli.arguments import AsJson, Yes, parse_name
from authority.cli.asking import ask_as
from authority.cli.connecting import As, CredentialsFile, Roots, ServedFolder
from authority.cli.failures import Misused
from authority.cli.operating import confirm
from authority.cli.output import Json, emit, printable, say
from authority.cli.tables import table
from authority.domain.proposal import ProposalState
from capability_authority.client import CapabilityAuthority, Proposal, ProposalWithdrawal, Reference

app = typer.Typer(no_args_is_help=True, help="List and show proposals, and withdraw them.")

Id = Annotated[str, typer.Argument(metavar="PROPOSAL", help="The proposal's id.")]

_SHOWN_CHARACTERS: Final = 2_000
"""Of a content: the rest is in --json."""


@app.command("list")
def list_(
    memory_namespace: Annotated[
        str, typer.Argument(parser=parse_name, metavar="NAMESPACE", help="The memory namespace.")
    ],
    *,
    state: Annotated[ProposalState | None, typer.Option(help="Only those in this state; every state without.")] = None,
    most: Annotated[int, typer.Option("--most", min=1, max=10_000, help="Stop after so many.")] = 200,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """List the newest revisions of a memory namespace's proposals, as far as the caller sees them."""

    async def ask(authority: CapabilityAuthority) -> list[Proposal]:
        found: list[Proposal] = []
        # A page holds no more than is wanted: what would be thrown away need not be sent.
        size = min(most, 200)
        async for proposal in authority.list_proposals(
            memory_namespace=memory_namespace, state=state.value if state else None, page_size=size
        ):
            found.append(proposal)
            if len(found) == most:
                break
        return found

    found = ask_as(credentials, data, who, tls_roots, ask)
    if as_json:
        emit([_document(proposal) for proposal in found])
        return
    columns = ("PROPOSAL", "REVISION", "STATE", "TYPE", "PROVENANCE", "PROPOSER", "EXPIRES")
    table(columns, (_row(proposal) for proposal in found))


@app.command()
def show(
    proposal_id: Id,
    *,
    revision: Annotated[int, typer.Option(min=0, help="Which revision; the newest for 0.")] = 0,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Show one revision: where it comes from, what it says, and what became of it."""
    found = ask_as(
        credentials, data, who, tls_roots, lambda authority: authority.get_proposal(proposal_id, revision=revision)
    )
    if as_json:
        emit(_document(found))
        return
    for name, value in _lines(found):
        if value:
            say(f"{name:<12} {printable(value)}")
    if found.content_erased:
        say(f"{'says':<12} (content erased: it failed for secrets)")
        return
    text = found.content.decode("utf-8", "backslashreplace")
    say(f"{'says':<12} {printable(text[:_SHOWN_CHARACTERS])}{'…' if len(text) > _SHOWN_CHARACTERS else ''}")


@app.command()
def withdraw(
    proposal_id: Id,
    *,
    yes: Yes = False,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Take a proposal back for ever, with all its revisions, as its proposer or an admin.

    Nothing of it is committed from then on, whatever was issued for it. What is committed already can be revoked.
    """
    if not proposal_id:
        raise Misused("name the proposal by its id")
    confirm(f"{proposal_id} will be withdrawn for ever: no revision of it is committed, and none can follow.", yes=yes)
    done: ProposalWithdrawal = ask_as(
        credentials, data, who, tls_roots, lambda authority: authority.withdraw(proposal_id)
    )
    if as_json:
        emit({"proposal_id": proposal_id, "withdraw_time": _time(done.withdraw_time), "replayed": done.replayed})
    else:
        when = _time(done.withdraw_time)
        say(f"withdrawn before, at {when}" if done.replayed else f"withdrawn at {when}")


def _document(proposal: Proposal) -> Json:
    document: Json = MessageToDict(proposal.message, preserving_proto_field_name=True)
    assert isinstance(document, dict)
    return {**document, "content_erased": True} if proposal.content_erased else document


def _row(proposal: Proposal) -> tuple[str, ...]:
    return (
        proposal.proposal_id,
        str(proposal.revision),
        proposal.state,
        proposal.memory_type,
        proposal.provenance,
        _named(proposal.proposer),
        _expires(proposal)[:16].replace("T", " "),
    )


def _lines(proposal: Proposal) -> tuple[tuple[str, str], ...]:
    message = proposal.message
    return (
        ("proposal", f"{proposal.proposal_id}, revision {proposal.revision}"),
        ("state", proposal.state),
        ("expires", _expires(proposal)),
        ("in", proposal.memory_namespace),
        ("type", proposal.memory_type),
        ("provenance", proposal.provenance),
        ("by", _named(proposal.proposer)),
        ("through", ", ".join(f"{actor.namespace}|{actor.id}" for actor in message.actor_chain)),
        ("in name of", f"{message.subject.namespace}|{message.subject.id}" if message.HasField("subject") else ""),
        ("sources", ", ".join(message.source_refs)),
        ("about", ", ".join(message.subject_refs)),
        ("evidence", ", ".join(message.evidence_digests)),
        ("digest", message.proposal_digest),
    )


def _expires(proposal: Proposal) -> str:
    return _time(proposal.message.expire_time.ToDatetime()) if proposal.message.HasField("expire_time") else ""


def _time(moment: datetime) -> str:
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def _named(reference: Reference) -> str:
    return f"{reference.namespace}|{reference.id}"
