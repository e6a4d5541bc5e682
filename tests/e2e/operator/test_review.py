"""`authority review`: persons see what waits for them, and decide, as the documentation shows."""

import asyncio
from pathlib import Path

from authority.cli.connecting import credentials_file
from authority.policy.bundle import bundle_version, default_bundle
from capability_authority.client import CapabilityAuthority
from tests.e2e.operator.operating import TENANT, Run, told
from tests.installation.documented import Example, examples

DESK = "reviews/desk"
FIRM = "harbour-books"


def client(data: Path, name: str) -> CapabilityAuthority:
    """The client of one of the firm's principals."""
    return CapabilityAuthority.connect(credentials=credentials_file(data, FIRM, name))


async def asked(data: Path, content: str, memory_type: str = "procedure", by: str = "agent") -> str:
    """The id of a proposal that was validated and that policy was asked about."""
    async with client(data, by) as proposer, client(data, "service") as service:
        proposal = await proposer.propose(
            memory_namespace=DESK,
            memory_type=memory_type,  # type: ignore[arg-type]  # one of its words
            content=content,
            visibility="workspace",
            source_refs=["thread:desk/7"],
        )
        await service.validate(proposal)
        await service.evaluate_policy(proposal)
        return proposal.proposal_id


def shows(run: Run, example: Example, **values: str) -> None:
    """It prints what the documentation shows."""
    done = run(*example.arguments(**values))
    assert (done.code, example.difference(done.out + done.err)) == (0, "")


def test_persons_decide_as_the_documentation_shows(run: Run, data: Path) -> None:
    # given a memory namespace with the policy of a new installation, and proposals that it asks persons for
    version = f"sha256:{bundle_version(default_bundle()).hex()}"
    told(run, "namespaces", "add", DESK, "--tenant", TENANT, "--policy", version)
    first = asyncio.run(asked(data, "Call the bakery before the invoice is sent."))
    second = asyncio.run(asked(data, "Send every invoice twice."))

    # when a person looks and decides, then each command prints what the documentation shows
    for example in examples("docs/reviewing.md", "Decide on what waits"):
        shows(run, example, FIRST=first, SECOND=second)

    # and whoever proposed is refused, for machines too
    own = asyncio.run(asked(data, "Ask the owner first.", by="user"))
    refused = run("review", "approve", own, "--as", f"{FIRM}/user", "--json")
    assert (refused.code, refused.document[0]["refused"]) == (1, "NOT_ALLOWED")
    waiting = told(run, "review", "list", DESK, "--as", f"{FIRM}/admin")
    assert [(it["proposal_id"], it["persons_needed"], it["persons_approving"]) for it in waiting] == [(own, 1, 0)]
    assert told(run, "review", "list", DESK, "--as", f"{FIRM}/user") == []


def test_what_policy_allowed_is_adopted_or_taken_back_as_the_documentation_shows(run: Run, data: Path) -> None:
    # given a record that policy allowed without a person
    proposal = asyncio.run(committed(data, "The bakery closes at two on Fridays."))
    for example in examples("docs/reviewing.md", "Take back what policy allowed"):
        shows(run, example, PROPOSAL=proposal)
    kept = asyncio.run(committed(data, "The bakery opens at six."))
    for example in examples("docs/reviewing.md", "Adopt what policy allowed"):
        shows(run, example, PROPOSAL=kept)
    done = run("review", "revoke", kept, "--as", f"{FIRM}/admin")
    assert done.code == 1
    assert "ALREADY_COMMITTED" in done.err


async def committed(data: Path, content: str) -> str:
    """The id of a proposal by the user, which policy allows by itself, committed."""
    async with client(data, "user") as user, client(data, "service") as service:
        proposal = await user.propose(
            memory_namespace="office/workflow",
            memory_type="preference",
            content=content,
            visibility="workspace",
            source_refs=["note:1"],
        )
        validation = await service.validate(proposal)
        decision = await service.evaluate_policy(proposal)
        issued = await service.issue(proposal, validation_receipt=validation.receipt, decision_receipt=decision.receipt)
        await service.commit(issued, content=proposal.content)
        return proposal.proposal_id
