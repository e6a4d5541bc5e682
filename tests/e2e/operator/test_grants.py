"""`authority grants delegate` and `verify` on a served authority, as the documentation shows them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.operator.operating import Run, called
from tests.installation.documented import Example, examples
from tests.unit.cli.running import Ran, ran

AUDIENCE = "capability-authority"


def root_terms() -> dict[str, Any]:
    """To recall and to propose in one memory namespace, a hundred times."""
    names = {
        "audiences": [AUDIENCE],
        "actions": ["memory.recall", "memory.propose"],
        "resources": [],
        "read_memory_namespaces": ["office/*"],
        "write_memory_namespaces": ["office/workflow"],
        "tools": [],
        "providers": [],
        "models": [],
    }
    amounts = {"usd_micros": 0, "tokens": 0, "latency_ms": 0, "concurrency": 0, "uses": 100}
    return {
        **{name: {"names": said} for name, said in names.items()},
        **{name: {"most": most} for name, most in amounts.items()},
        "network": {"allowed": False},
        "destructive": {"allowed": False},
        "delegation_depth": 2,
    }


@dataclass(frozen=True)
class Desk:
    """The root that the service holds for the user, in a file, and what the documentation's words stand for."""

    run: Run
    capsys: pytest.CaptureFixture[str]
    words: dict[str, str]

    def delegate(self, example: Example) -> Ran:
        """Offline: no data folder is named."""
        return ran(self.capsys, *example.arguments(**self.words))

    def verify(self, example: Example) -> Ran:
        """By a principal of the served authority."""
        return self.run(*example.arguments(**self.words))


@pytest.fixture
def desk(run: Run, data: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Desk:
    credentials = data / "credentials" / "harbour-books-service.json"
    agent = json.loads((data / "credentials" / "harbour-books-agent.json").read_text())
    service = json.loads(credentials.read_text())
    asked = {
        "subject": {"namespace": "demo", "id": "user"},
        "holder": service["principal"],
        "holder_key_id": service["key_id"],
        "terms": root_terms(),
    }
    (tmp_path / "root.json").write_text(called(run, "IssueGrant", "admin", asked).out)
    return Desk(
        run,
        capsys,
        {
            "ROOT": str(tmp_path / "root.json"),
            "CHILD": str(tmp_path / "child.grant"),
            "CREDENTIALS": str(credentials),
            "KEY": agent["key_id"],
        },
    )


def test_a_grant_is_handed_on_and_judged_as_documented(desk: Desk) -> None:
    # Given a root that the service holds
    handed_on, wider = examples("docs/grants.md", "Hand a grant on without a server")
    good, other_use, alone = examples("docs/grants.md", "Ask whether a grant is good")

    # When it is handed on, then a child that is wider is not made, and each command prints what is shown
    done = desk.delegate(handed_on)
    assert (done.code, handed_on.difference(done.err + done.out)) == (0, "")
    refused = desk.delegate(wider)
    assert (refused.code, wider.difference(refused.err)) == (1, "")

    # And the authority judges the chain, for a use too; of the child alone it keeps the root
    for example, code in ((good, 0), (other_use, 1), (alone, 0)):
        judged = desk.verify(example)
        assert (judged.code, example.difference(judged.out)) == (code, ""), judged.err


def test_a_revoked_root_ends_its_child_and_machines_get_a_document(desk: Desk) -> None:
    # Given a chain that is good
    handed_on, _ = examples("docs/grants.md", "Hand a grant on without a server")
    assert desk.delegate(handed_on).code == 0
    root, child = desk.words["ROOT"], desk.words["CHILD"]
    verify = ("grants", "verify", root, child, "--as", "harbour-books/agent", "--json")
    assert desk.run(*verify).document == {"granted": True, "reason": None, "facts": {}}

    # When its root is revoked, then the child is refused at once
    digest = json.loads(Path(root).read_text())["grant_digest"]
    assert called(desk.run, "RevokeGrant", "admin", {"grant_digest": digest}).code == 0
    refused = desk.run(*verify)
    assert (refused.code, refused.document["granted"], refused.document["reason"]) == (1, False, "REVOKED")


@pytest.mark.parametrize(
    ("use", "sentence"),
    [
        (["--use", "action"], "is not NEED=VALUE"),
        (["--use", "uses=1"], "is not NEED=VALUE"),
        (["--use", "tokens=1"], "name the action too"),
        (["--use", "action=a", "--use", "action=b"], "action is given twice"),
        (["--use", "action=a", "--use", "tokens=x"], "tokens is a whole number"),
        (["--use", "action=a", "--use", "network=true"], "network is yes or no"),
    ],
)
def test_a_use_that_is_none_is_told_in_words(desk: Desk, use: list[str], sentence: str) -> None:
    result = desk.run("grants", "verify", desk.words["ROOT"], "--as", "harbour-books/agent", *use)

    assert (result.code, sentence in result.sentence) == (2, True), result


def test_who_asks_must_be_known_and_a_grant_must_be_one(desk: Desk, tmp_path: Path) -> None:
    nobody = desk.run("grants", "verify", desk.words["ROOT"])
    assert (nobody.code, "--as TENANT/NAME" in nobody.sentence) == (2, True)

    (tmp_path / "noise").write_bytes(b"\xff\xfe\xfd")
    noise = desk.run("grants", "verify", str(tmp_path / "noise"), "--as", "harbour-books/agent")
    assert noise.code == 1
