"""What the commands tell of a tenant that nobody knows, and how one begins."""

import pytest

from tests.e2e.operator.operating import ABSENT, Run


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
