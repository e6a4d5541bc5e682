"""What the commands tell of a tenant that nobody knows, and how one begins."""

from pathlib import Path

import pytest

from capability_authority.client import Credentials
from tests.e2e.operator.operating import ABSENT, Run, told
from tests.installation.documented import examples
from tests.unit.cli.running import ran


@pytest.mark.parametrize(
    "command",
    [
        ("principals", "revoke", "--principal", "desk|reader", "--yes"),
        ("namespaces", "mode", "clients/rules", "observe", "--yes"),
        ("policies", "activate", f"sha256:{ABSENT}", "--namespace", "clients/rules"),
        ("keys", "rotate", "capability"),
    ],
)
def test_a_tenant_that_nobody_knows_is_told(command: tuple[str, ...], run: Run) -> None:
    result = run(*command, "--tenant", "cognitum-tenant|harbor-books")

    assert result.code == 1
    assert result.sentence.startswith("nobody knows a tenant cognitum-tenant|harbor-books")


def test_a_tenant_begins_with_what_is_added_to_it_first(run: Run) -> None:
    for group in ("principals", "namespaces"):
        empty = run(group, "list", "--tenant", "new|tenant")
        assert (empty.code, empty.out) == (0, "none\n")
        assert empty.err.startswith("nobody knows a tenant new|tenant")

    first = run("namespaces", "add", "first", "--tenant", "new|tenant")
    second = run("namespaces", "add", "second", "--tenant", "new|tenant")

    assert first.out.startswith("added first of the new tenant new|tenant in mode enforce\n")
    assert second.out.startswith("added second of new|tenant in mode enforce\n")
    empty = run("principals", "list", "--tenant", "new|tenant")
    assert (empty.out, empty.err) == ("none\n", "")


def test_whole_tenants_are_made_and_can_be_called_as(run: Run, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for example in examples("docs/operating.md", "A tenant to try things with"):
        done = ran(capsys, *example.arguments(), "--data", str(data))
        assert example.difference(done.out + done.err) == ""

    (row,) = told(run, "tenants", "add", "orchard-2", "--namespace", "harvest", "--privileged", "payroll")
    assert row["memory_namespaces"] == ["harvest", "payroll"]
    assert sorted(row["credentials"]) == ["admin", "agent", "observer", "service", "user"]
    assert Credentials.from_file(row["credentials"]["agent"]).tenant.id == "orchard-2"


@pytest.mark.parametrize(
    ("name", "code", "says"), [("harbour-books", 1, "is there already"), ("../up", 2, "no name of a tenant")]
)
def test_a_tenant_that_is_there_or_has_no_good_name_is_refused(run: Run, name: str, code: int, says: str) -> None:
    refused = run("tenants", "add", name)

    assert (refused.code, says in refused.sentence) == (code, True)
