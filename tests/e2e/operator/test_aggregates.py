"""`authority aggregates`: which figures may be told across tenants."""

import pytest

from tests.e2e.operator.operating import TENANT, Run, told
from tests.installation.documented import examples

COUNTED = tuple(f"cognitum-tenant|{name}" for name in ("lantern-software", "meadow-clinic", "quay-research"))


@pytest.fixture(scope="module", autouse=True)
def _fourth_tenant(request: pytest.FixtureRequest) -> None:
    """The demo has three firms: one more asks for their figures."""
    from authority.cli.app import run as command  # noqa: PLC0415 - the fixture `run` is a test's own

    data = request.getfixturevalue("data")
    assert command(["tenants", "add", "quay-research", "--data", str(data)]) == 0


def test_what_the_documentation_shows_of_aggregates_is_printed(run: Run) -> None:
    for example in examples("docs/recall.md", "Across tenants: figures only"):
        shown = run(*example.arguments())
        assert shown.code == 0, shown.err
        assert not (difference := example.difference(shown.out + shown.err)), difference


def added(run: Run, name: str, *counted: str, **changed: str) -> object:
    """What came of an aggregate over these tenants, by name; its exit code and sentence when it was refused."""
    options = {
        "memory-namespace": "lessons",
        "least-tenants": "3",
        "reviewed-by": "Ada",
        "review": "minutes:1",
    } | changed
    given = [word for option, value in options.items() for word in (f"--{option}", value)]
    tenants = [word for tenant in counted for word in ("--tenants", tenant)]
    answer = run("aggregates", "add", name, "--tenant", TENANT, *tenants, *given, "--json")
    return answer.document if answer.code == 0 else (answer.code, answer.sentence)


def test_aggregates_are_told_to_machines_and_what_would_tell_tenants_apart_is_refused(run: Run) -> None:
    document = {
        "tenant": TENANT, "name": "figures", "memory_namespace": "lessons", "tenants": list(COUNTED),
        "least_tenants": 3, "reviewed_by": "Ada", "review": "minutes:1",
    }  # fmt: skip
    assert added(run, "figures", *COUNTED) == document
    (row,) = told(run, "aggregates", "list", "--tenant", TENANT)
    assert row == document | {"state": "active", "add_time": row["add_time"]}
    assert added(run, "figures", *COUNTED) == (1, f"aggregate figures of {TENANT} was made already")
    assert added(run, "few", *COUNTED[:2]) == (1, "name 3 to 256 tenants")
    assert added(run, "own", *COUNTED, TENANT)[0] == 1  # type: ignore[index]
    assert added(run, "none", *COUNTED, review=" ") == (1, "say who reviewed it, and where that can be looked up")
    unknown = added(run, "unknown", *COUNTED, "no|body")
    assert unknown == (1, "nobody knows a tenant no|body: it has neither a principal nor a memory namespace")
    assert run("aggregates", "remove", "figures", "--tenant", TENANT).code == 1
    removed = told(run, "aggregates", "remove", "figures", "--tenant", TENANT, "--yes")
    assert removed == {"tenant": TENANT, "name": "figures", "state": "removed"}
