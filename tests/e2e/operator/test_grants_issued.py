"""`authority grants issue`, `exchange`, `show` and `revoke`, as the documentation shows them."""

import json
from pathlib import Path

import pytest

from tests.e2e.operator.operating import Run
from tests.installation.documented import Example, examples
from tests.unit.cli.running import Ran


@pytest.fixture
def words(data: Path, tmp_path: Path) -> dict[str, str]:
    """What the documentation's words stand for."""

    def key_of(name: str) -> str:
        key_id: str = json.loads((data / "credentials" / f"harbour-books-{name}.json").read_text())["key_id"]
        return key_id

    return {
        "ISSUED": str(tmp_path / "issued.grant"),
        "EXCHANGED": str(tmp_path / "exchanged.grant"),
        "USER_KEY": key_of("user"),
        "AGENT_KEY": key_of("agent"),
    }


def shown(run: Run, words: dict[str, str], example: Example, code: int = 0) -> Ran:
    """The command prints what stands below it."""
    result = run(*example.arguments(**words))
    assert (result.code, example.difference(result.err + result.out)) == (code, ""), result
    return result


def test_a_grant_is_issued_exchanged_shown_and_revoked_as_documented(run: Run, words: dict[str, str]) -> None:
    (issue,) = examples("docs/grants.md", "Issue a grant")
    wider, narrower = examples("docs/grants.md", "Exchange it for a narrower one")
    active, revoke, revoked = examples("docs/grants.md", "See what became of a grant, and end it")

    shown(run, words, issue)
    shown(run, words, wider, code=1)
    shown(run, words, narrower)
    shown(run, words, active)
    shown(run, words, revoke)
    shown(run, words, revoked)


def test_machines_get_documents(run: Run, words: dict[str, str]) -> None:
    # Given a grant that is printed
    to = ("--to", "demo|user", "--to-key", words["USER_KEY"])
    issue = ("grants", "issue", "--as", "harbour-books/admin", "--subject", "demo|service", *to)
    made = run(*issue, "--allow", "uses=3", "--json").document
    assert (made["holder"], made["file"]) == ({"namespace": "demo", "id": "user"}, None)

    # (and whoever gives no use is told that it is for nothing; the document stays a document)
    assert "`--allow uses=N`" in run(*issue, "--allow", "actions=memory.recall").err
    assert run(*issue, "--allow", "actions=memory.recall", "--json").err == ""

    # When it is shown by its digest, then that says everything
    show = ("grants", "show", made["digest"], "--as", "harbour-books/user", "--json")
    document = run(*show).document
    assert (document["state"], document["subject"], document["actors"]) == ("active", "demo|service", [])
    assert document["most"] == {"uses": 3, "tokens": 0, "usd_micros": 0, "concurrency": 0}
    assert document["spent"] == {"uses": 0, "tokens": 0, "usd_micros": 0, "live_capabilities": 0}

    # And revoked twice, the second time tells the first
    revoke = ("grants", "revoke", made["grant"], "--as", "harbour-books/user", "--yes", "--json")
    first, second = run(*revoke).document, run(*revoke).document
    assert (first["digest"], first["replayed"], second) == (made["digest"], False, {**first, "replayed": True})
    assert run(*show).document["revoke_time"] == first["revoke_time"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("issue", "--subject", "demo|service", "--to", "demo|user", "--to-key", "KEY"), 2, "--as TENANT/NAME"),
        (("show", f"sha256:{'0' * 64}", "--as", "harbour-books/user"), 1, "NOT_FOUND"),
        (("show", "sha256:00", "--as", "harbour-books/user"), 2, "is not sha256:"),
        (("revoke", f"sha256:{'0' * 64}", "x", "--as", "harbour-books/user", "--yes"), 2, "one digest"),
    ],
)
def test_what_cannot_be_is_told_in_words(run: Run, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    result = run("grants", *arguments)

    assert (result.code, sentence in result.err) == (code, True), result
