"""`authority why`: the story of a record on one screen, and whether it is proved."""

import asyncio
import json
import re
from pathlib import Path

import psycopg
import pytest

from authority.cli.connecting import credentials_file
from authority.cli.endpoint import find_endpoint
from capability_authority.client import CapabilityAuthority
from capability_authority.offline import KeySet, check_export
from capability_authority.v1.capability_service_pb2 import GetKeySetRequest, GetKeySetResponse
from capability_authority.v1.memory_service_pb2 import RecordExport
from capability_authority.v1.types_pb2 import Cost
from tests.e2e.operator.operating import Run, called
from tests.installation.documented import examples

WHOLE, CHANGED = examples("docs/inspecting.md", "Why is this remembered?")
LINES_OF_A_SCREEN = 50
TENANT = "harbour-books"
LEARNED = "The bakery on Quay Street pays within 14 days, when its invoice names the branch."


def client(data: Path, name: str) -> CapabilityAuthority:
    """The client of one of the firm's principals."""
    return CapabilityAuthority.connect(credentials=credentials_file(data, TENANT, name))


async def learned(data: Path, branch: str = "Quay Street") -> str:
    """The id of a record that an agent proposed twice, a person approved, and an answer cites."""
    async with client(data, "agent") as agent, client(data, "service") as service, client(data, "admin") as admin:
        said = {"memory_namespace": "clients/rules", "memory_type": "procedure", "visibility": "workspace"}
        first = await agent.propose(content={"lesson": "The bakery pays."}, **said)  # type: ignore[arg-type]
        proposal = await agent.propose(
            content={"lesson": LEARNED.replace("Quay Street", branch)},
            proposal_id=first.proposal_id,
            source_refs=["thread:inbox/2231#message-4", "invoice:2026/118"],
            subject_refs=["client:quay-street-bakery"],
            evidence_digests=[f"sha256:{'1f' * 32}"],
            costs=[
                Cost(stage="extraction", model="m-small", input_tokens=1_200, output_tokens=85, usd_micros=412),
                Cost(stage="critique", model="m-large", input_tokens=2_400, output_tokens=190, usd_micros=9_150),
            ],
            **said,  # type: ignore[arg-type]
        )
        validation = await service.validate(proposal)
        await admin.decide(proposal, "approve", note="Looked into the ledger: so it is.")
        decision = await service.evaluate_policy(proposal)
        capability = await service.issue(
            proposal, validation_receipt=validation.receipt, decision_receipt=decision.receipt
        )
        committed = await service.commit(capability, content=proposal.content)
        await agent.cite(committed.record_id, citing_kind="answer", citing_ref="chat/7, answer 3")
        return committed.record_id


@pytest.fixture(scope="module")
def record_id(data: Path) -> str:
    return asyncio.run(learned(data))


def test_the_story_of_a_record_is_what_the_documentation_shows(run: Run, record_id: str) -> None:
    done = run(*WHOLE.arguments(RECORD=record_id))

    assert (done.code, WHOLE.difference(done.out + done.err)) == (0, "")
    assert len(done.out.splitlines()) <= LINES_OF_A_SCREEN


def test_its_receipt_is_inspected_as_the_documentation_shows(run: Run, record_id: str, tmp_path: Path) -> None:
    (example,) = examples("docs/inspecting.md", "What does a statement say?")
    receipt = tmp_path / "receipt.json"
    receipt.write_text(called(run, "GetCommitReceipt", "service", {"record_id": record_id}).out)

    done = run(*example.arguments(STATEMENT=str(receipt)))

    assert (done.code, example.difference(done.out)) == (0, "")


def test_a_program_gets_all_of_it(run: Run, record_id: str) -> None:
    told = run("why", record_id, "--as", "harbour-books/admin", "--json").document

    assert (told["record_id"], told["state"], told["proved"]) == (record_id, "live", True)
    assert json.loads(told["content"]) == {"lesson": LEARNED}
    assert {check["verdict"] for check in told["checks"]} == {"holds"}
    assert [part["part"] for part in told["checks"]][-1] == "citations"
    assert told["approvals"][0]["decided_by"].endswith("|admin")
    assert told["decision"]["approval_references"] == [told["approvals"][0]["approval_reference"]]
    assert told["citations"][0]["citing_ref"] == "chat/7, answer 3"
    assert told["receipt"]["record_id"] == record_id
    assert (told["proposal"]["revision"], told["proposal"]["proposer_kind"]) == (2, "agent")


def test_what_is_kept_is_checked_again_without_the_authority(
    run: Run, data: Path, record_id: str, tmp_path: Path
) -> None:
    kept = tmp_path / "record.export"
    assert run("why", record_id, "--as", "harbour-books/user", "--keep", str(kept)).code == 0

    async def keys() -> KeySet:
        async with client(data, "user") as user:
            response = await user.call("GetKeySet", GetKeySetRequest())
        assert isinstance(response, GetKeySetResponse)
        return KeySet.from_response(response, pinned_issuer="capability-authority", pinned_key_ids=None)

    export = RecordExport.FromString(kept.read_bytes())
    checks = check_export(export, asyncio.run(keys()), tenant=("cognitum-tenant", TENANT))
    assert {check.verdict.value for check in checks} == {"holds"}


def test_what_was_changed_in_the_database_is_shown_and_ends_with_1(run: Run, data: Path) -> None:
    # Given a record whose provenance somebody who owns the database lifted, and whose cost he lowered
    record_id = asyncio.run(learned(data, "Mill Lane"))
    with psycopg.connect(_owner(data), autocommit=True) as connection:
        connection.execute(
            "update authority.memory_record set provenance = 'system_observation', costs = '[]' where record_id = %s",
            (record_id,),
        )

    # When it is asked why, then what does not hold is named
    done = run(*CHANGED.arguments(CHANGED=record_id))
    assert (done.code, CHANGED.difference(done.out + done.err)) == (1, "")
    document = run("why", record_id, "--as", "harbour-books/admin", "--json")
    assert (document.code, document.document["proved"]) == (1, False)


def test_what_was_revoked_is_told_to_admins_with_the_reason(run: Run, data: Path) -> None:
    # Given a revoked record
    record_id = asyncio.run(learned(data, "Hill Road"))

    async def revoke() -> None:
        async with client(data, "admin") as admin:
            await admin.revoke_record(record_id, note="The bakery has a new owner.")

    asyncio.run(revoke())

    # When others ask, then it is not there, and they are told who may; the admin gets all of it
    refused = run("why", record_id, "--as", "harbour-books/user")
    assert (refused.code, "told to admins alone" in refused.sentence) == (1, True)
    done = run("why", record_id, "--as", "harbour-books/admin")
    assert done.code == 0
    assert done.out.splitlines()[0].startswith(f"{record_id} REVOKED")
    assert re.search(r"NOW +revoked +\S+Z: The bakery has a new owner\.", done.out)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("not-an-id", "--as", "harbour-books/user"), 1, "record_id"),
        ((f"{'0' * 8}-0000-7000-8000-{'0' * 12}", "--as", "harbour-books/user"), 1, "absent, or not visible"),
        ((f"{'0' * 8}-0000-7000-8000-{'0' * 12}",), 2, "name the caller by --as"),
    ],
)
def test_what_cannot_be_told_says_why(run: Run, arguments: tuple[str, ...], code: int, says: str) -> None:
    refused = run("why", *arguments)

    assert (refused.code, says in refused.sentence) == (code, True), refused


def _owner(data: Path) -> str:
    """The URL of the database's owner."""
    return find_endpoint(data).admin_database_url
