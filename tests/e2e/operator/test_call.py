"""`authority call`: requests from anywhere, refusals for people and machines."""

import json
from pathlib import Path

from capability_authority.client import Credentials
from tests.e2e.commands import authority
from tests.e2e.operator.operating import Run, called, proposed, told


def test_a_refusal_is_a_sentence_for_people_and_json_for_machines(run: Run) -> None:
    result = called(run, "GetProposal", "user", {"proposal_id": "not one"})

    assert result.code == 1
    assert result.err == (
        "refused: GetProposal: the request is malformed (MALFORMED); field: proposal_id, problem: must be a lowercase"
        " UUID\n"
    )
    assert result.document["error"] == {
        "code": "INVALID_ARGUMENT", "reason": "MALFORMED", "message": "the request is malformed",
        "metadata": {"field": "proposal_id", "problem": "must be a lowercase UUID"}, "retryable": False,
    }  # fmt: skip


def test_requests_come_from_files_and_standard_input_too(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text('{"memory_namespace": "clients/rules"}')
    command = ["call", "ListMemoryRecords", "--data", str(data), "--as", "harbour-books/user", "--json"]

    from_file = authority(*command, str(file), cwd=tmp_path)
    from_input = authority(*command, "-", cwd=tmp_path, text=file.read_text())

    assert from_file.returncode == from_input.returncode == 0
    assert json.loads(from_file.stdout) == json.loads(from_input.stdout)


def test_a_capability_without_a_holder_is_its_callers(run: Run, data: Path) -> None:
    # Given a proposal that was validated and allowed
    proposal = proposed(run, "Zm9yIG1l")
    proposal_id = proposal["proposal_id"]
    validation = called(run, "ValidateProposal", "user", proposal).document["validation_receipt"]
    question = {"proposal_id": proposal_id, "proposal_revision": 1}
    decision = called(run, "EvaluatePolicy", "service", question).document["decision_receipt"]

    # When a capability is asked for without a word on who may use it
    request = {
        **question,
        "commit_idempotency_key": "k",
        "validation_receipt": validation,
        "decision_receipt": decision,
    }
    issued = called(run, "IssueCapability", "service", request)

    # Then it is the caller's, with the key by which it calls
    assert (issued.code, issued.err) == (0, "")
    says = told(run, "inspect", issued.out)["says"]
    caller = Credentials.from_file(data / "credentials" / "harbour-books-service.json")
    assert says["holder"] == {"namespace": caller.principal.namespace, "id": caller.principal.id}
    assert (says["holder_key"], says["audience"]) == (caller.key_id, caller.audience)

    # And its caller can take it back, once for ever
    named = {"capability_id": issued.document["capability_id"]}
    first, again = [called(run, "RevokeCapability", "service", named).document for _ in range(2)]
    assert (first.get("replayed", False), again["replayed"]) == (False, True)
    assert first["revoke_time"] == again["revoke_time"]
    refused = called(run, "RevokeCapability", "agent", named)
    assert (refused.code, "NOT_FOUND" in refused.err) == (1, True)


def test_many_capabilities_are_asked_for_by_hand_each_with_an_answer_of_its_own(run: Run) -> None:
    # Given a proposal that was validated and allowed
    proposal = proposed(run, "Zm9yIG1hbnk=")
    question = {"proposal_id": proposal["proposal_id"], "proposal_revision": 1}
    validation = called(run, "ValidateProposal", "user", proposal).document["validation_receipt"]
    decision = called(run, "EvaluatePolicy", "service", question).document["decision_receipt"]
    good = {**question, "validation_receipt": validation, "decision_receipt": decision}
    requests = [{**good, "commit_idempotency_key": key} for key in ("many-1", "", "many-1")]

    # When capabilities are asked for without a word on who may use them, and one without a commit key
    answer = called(run, "BatchIssueCapabilities", "service", {"requests": requests})

    # Then each has what it would have had alone
    assert (answer.code, answer.err) == (0, "")
    first, refused, twin = answer.document["outcomes"]
    assert twin["result"]["capability"] == first["result"]["capability"]
    assert (first["result"].get("replayed", False), twin["result"]["replayed"]) == (False, True)
    info = refused["status"]["details"][0]
    assert (info["reason"], info["metadata"]["field"]) == ("MALFORMED", "commit_idempotency_key")
