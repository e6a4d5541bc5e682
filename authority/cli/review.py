"""`authority review …`: what waits for a person, and what persons decide."""

from typing import Annotated

import typer

from authority.cli.arguments import AsJson, parse_principal
from authority.cli.asking import answer_to, ask_as
from authority.cli.connecting import As, Caller, CredentialsFile, Roots, ServedFolder, find_caller, require_named
from authority.cli.failures import REFUSED, Misused
from authority.cli.output import Json, emit, note, printable, say
from authority.cli.review_page import awaited_document, awaited_rows, decided_rows, proposal_document, proposal_rows
from authority.cli.tables import table
from authority.domain.references import PrincipalRef
from capability_authority.client import (
    AuthorityError,
    AwaitedReview,
    CapabilityAuthority,
    Decision,
    Proposal,
    Reference,
    Review,
)
from capability_authority.client.words import ReviewVerdict

app = typer.Typer(no_args_is_help=True, help="See what waits for a person, and decide as one.")

Proposals = Annotated[
    list[str], typer.Argument(metavar="PROPOSAL…", help="Ids; PROPOSAL:REVISION for a revision that was looked at.")
]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="Why, for whoever reads it later.")]


@app.command("list")
def list_(
    memory_namespace: Annotated[str, typer.Argument(metavar="NAMESPACE", help="The memory namespace.")],
    *,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """List what waits for persons, the oldest first: why, how many must approve, and how many do.

    An admin sees all of it, another who decides what is not their own matter.
    """

    async def ask(authority: CapabilityAuthority) -> list[AwaitedReview]:
        return [it async for it in authority.list_reviews(memory_namespace=memory_namespace)]

    found = ask_as(credentials, data, who, tls_roots, ask)
    if as_json:
        emit([awaited_document(it) for it in found])
        return
    table(("PROPOSAL", "TYPE", "PROPOSED BY", "APPROVE", "WHY"), map(awaited_rows, found), none="nothing waits")


@app.command()
def show(
    proposal: Annotated[str, typer.Argument(metavar="PROPOSAL", help="Its id, or PROPOSAL:REVISION.")],
    *,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Show a proposal with its content, and what was decided on it, by persons and by policy alone."""
    found = ask_as(credentials, data, who, tls_roots, lambda authority: _read(authority, proposal))
    if as_json:
        emit(proposal_document(found))
        return
    for label, value in proposal_rows(found):
        say(f"{label:<12}{value}")
    say("")
    table(("DECIDED", "BY", "AT (UTC)", "NOTE"), map(decided_rows, found.decisions), none="nothing was decided on it")


@app.command()
def approve(  # noqa: PLR0913 - each option by its name
    proposals: Proposals,
    *,
    note_: Note = "",
    holder: Annotated[
        PrincipalRef | None,
        typer.Option("--for", parser=parse_principal, metavar="NS|ID", help="Who alone may commit under it."),
    ] = None,
    uses: Annotated[
        int, typer.Option("--uses", min=0, max=1000, help="How many decisions of policy may rest on it; 0: any number.")
    ] = 0,
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> int:
    """Approve exactly what stands there now, one or many. Policy is asked again before anything is issued."""
    caller = find_caller(credentials, data, who, tls_roots)
    named = None if holder is None else Reference(holder.namespace, holder.id)
    return _decided(caller, proposals, "approve", note_, as_json=as_json, holder=named, uses=uses)


@app.command()
def reject(
    proposals: Proposals,
    *,
    note_: Note = "",
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> int:
    """Turn them down: only a new revision comes back."""
    return _decided(find_caller(credentials, data, who, tls_roots), proposals, "reject", note_, as_json=as_json)


@app.command("request-changes")
def request_changes(
    proposals: Proposals,
    *,
    note_: Note = "",
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> int:
    """Ask for another revision."""
    caller = find_caller(credentials, data, who, tls_roots)
    return _decided(caller, proposals, "request_changes", note_, as_json=as_json)


@app.command()
def revoke(
    proposals: Proposals,
    *,
    note_: Note = "",
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> int:
    """Take every approval back; and what policy allowed without a person, with its record, until one has adopted it."""
    return _decided(find_caller(credentials, data, who, tls_roots), proposals, "revoke", note_, as_json=as_json)


@app.command()
def adopt(
    proposals: Proposals,
    *,
    note_: Note = "",
    credentials: CredentialsFile = None,
    data: ServedFolder = None,
    who: As = None,
    tls_roots: Roots = None,
    as_json: AsJson = False,
) -> int:
    """Make final what policy allowed without a person."""
    return _decided(find_caller(credentials, data, who, tls_roots), proposals, "adopt", note_, as_json=as_json)


def _decided(
    caller: Caller,
    named: list[str],
    verdict: ReviewVerdict,
    why: str,
    *,
    as_json: bool,
    holder: Reference | None = None,
    uses: int = 0,
) -> int:
    """Reads each and decides on what was read; 1 when any was refused."""

    async def ask(authority: CapabilityAuthority) -> list[tuple[Proposal, Review | AuthorityError]]:
        read = [await _read(authority, one) for one in named]
        decisions = [Decision(one, verdict, why, holder=holder, max_uses=uses) for one in read]
        return list(zip(read, await authority.decide_many(decisions), strict=True))

    answers = answer_to(require_named(caller, "a decision"), ask)
    if as_json:
        emit([_document(proposal, answer) for proposal, answer in answers])
    else:
        for proposal, answer in answers:
            _tell(proposal, verdict, answer)
    return REFUSED if any(isinstance(answer, AuthorityError) for _, answer in answers) else 0


def _tell(proposal: Proposal, verdict: ReviewVerdict, answer: Review | AuthorityError) -> None:
    name = f"{proposal.proposal_id}, revision {proposal.revision}"
    if isinstance(answer, AuthorityError):
        note(printable(f"{name}: {answer}"))
    else:
        say(f"{name} {_became(verdict, answer.state)}; the decision is {answer.approval_reference}")


def _became(verdict: ReviewVerdict, state: str) -> str:
    """What was done to it. Committed content stays committed: what became of its record is what is asked then."""
    if verdict == "adopt":
        return "is adopted: its record is revoked by RevokeRecord alone" if state == "committed" else "is adopted"
    if verdict == "revoke":
        return "is taken back, and its record is revoked" if state == "committed" else f"is taken back: it is {state}"
    return f"is {state}"


def _document(proposal: Proposal, answer: Review | AuthorityError) -> dict[str, Json]:
    named: dict[str, Json] = {"proposal_id": proposal.proposal_id, "revision": proposal.revision}
    if isinstance(answer, AuthorityError):
        return named | {"refused": answer.reason or "UNKNOWN", "message": str(answer)}
    return named | {"state": answer.state, "approval_reference": answer.approval_reference}


async def _read(authority: CapabilityAuthority, named: str) -> Proposal:
    proposal_id, _, revision = named.partition(":")
    if revision and not (revision.isascii() and revision.isdigit()):
        raise Misused(f"{printable(named)}: after the colon stands the number of a revision")
    return await authority.get_proposal(proposal_id, revision=int(revision or 0))
