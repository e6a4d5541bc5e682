"""`authority call`: requests from anywhere, refusals for people and machines."""

import base64
import copy
import dataclasses
import json
import re
from pathlib import Path
from typing import Any

from capability_authority.client import Credentials
from capability_authority.offline import PrivateKey
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


def committable(run: Run, text: bytes, key: str) -> dict[str, Any]:
    """A request of CommitValidated for the tenant's service."""
    content = base64.b64encode(text).decode()
    proposal = proposed(run, content)
    question = {"proposal_id": proposal["proposal_id"], "proposal_revision": 1, "commit_idempotency_key": key}
    validation = called(run, "ValidateProposal", "user", proposal).document["validation_receipt"]
    asked = {name: question[name] for name in ("proposal_id", "proposal_revision")}
    decision = called(run, "EvaluatePolicy", "service", asked).document["decision_receipt"]
    receipts = {"validation_receipt": validation, "decision_receipt": decision}
    issued = called(run, "IssueCapability", "service", {**question, **receipts}).document
    presentation = {"content": content, "media_type": "text/plain", "commit_idempotency_key": key}
    return {"capability": issued["capability"], "presentation": presentation}


def test_commits_are_streamed_line_by_line_each_with_an_outcome(run: Run, data: Path, tmp_path: Path) -> None:
    # Given two capabilities, one of them shown again under another key
    lines = [{"commit": committable(run, f"By hand {key}.".encode(), key)} for key in ("hand-1", "hand-2")]
    changed = copy.deepcopy(lines[0]["commit"])
    changed["presentation"]["commit_idempotency_key"] = "another"
    tagged = {"tag": 77, "commit": changed}

    # When they come on standard input, with empty lines between
    command = ["call", "StreamCommitValidated", "--data", str(data), "--as", "harbour-books/service"]
    done = authority(*command, cwd=tmp_path, text="\n\n".join(map(json.dumps, [*lines, tagged])))

    # Then each has an outcome under its tag, or the number of its line, and the exit code tells that one was refused
    assert (done.returncode, done.stderr) == (1, "")
    outcomes = {one["tag"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert outcomes.keys() == {1, 3, 77}
    assert outcomes[1]["result"]["record_id"] != outcomes[3]["result"]["record_id"]
    assert outcomes[77]["error"]["reason"] == "BINDING_MISMATCH"
    # And the same lines again are replays
    again = authority(*command, "--json", "-", cwd=tmp_path, text="\n".join(map(json.dumps, lines)))
    assert again.returncode == 0
    assert [one["result"]["replayed"] for one in map(json.loads, again.stdout.splitlines())] == [True, True]


def test_a_stream_whose_caller_nobody_knows_is_refused_as_a_call_is(run: Run, data: Path, tmp_path: Path) -> None:
    # Given credentials whose key was never registered
    known = Credentials.from_file(data / "credentials" / "harbour-books-service.json")
    stranger = tmp_path / "stranger.json"
    dataclasses.replace(known, private_key=PrivateKey.generate()).save(stranger)

    command = ["call", "StreamCommitValidated", "--data", str(data), "--credentials", str(stranger)]
    refused = authority(*command, cwd=tmp_path, text='{"commit": {}}')

    # What was taken from standard input before the refusal came is told of as well, on a line of its own.
    assert refused.returncode == 1
    *lines, document = re.split(r"\n(?=\{$)", refused.stdout, flags=re.MULTILINE)
    assert len(lines) <= 1
    for answer in (*lines, document):
        assert json.loads(answer)["error"]["reason"] == "CALLER_UNAUTHENTICATED"
