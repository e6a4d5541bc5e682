"""The pytest plugin: a real authority for tests, as the fixtures `capability_authority` and `authority_tenant`.

pytest loads it by itself where this package is installed. Nothing is started before a test asks for a fixture.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from capability_authority.testing import EmbeddedAuthority, TenantForTests

__all__ = ["authority_tenant", "capability_authority"]

_OPTION = "--capability-authority-data"
_RUNNING = pytest.StashKey["EmbeddedAuthority"]()
_LOGGED = pytest.StashKey[int]()
_MOST_LOGGED = 20_000
"""Characters of the log that a failed test is shown."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option: an authority that is served already, for all workers of pytest-xdist, or to look into afterwards."""
    group = parser.getgroup("capability-authority", "Capability Authority")
    group.addoption(
        _OPTION,
        metavar="DIR",
        default=None,
        help="Use the authority that `authority serve --data DIR` serves, instead of starting one.",
    )


@pytest.fixture(scope="session")
def capability_authority(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[EmbeddedAuthority]":
    """A real embedded authority for the whole run, started for the first test that asks for it.

    With pytest-xdist each worker has its own, unless `--capability-authority-data` names one for all.
    """
    # Only here: a run that asks for nothing loads neither gRPC nor cryptography.
    from capability_authority.testing import AuthorityUnavailable, EmbeddedAuthority  # noqa: PLC0415

    served = pytestconfig.getoption(_OPTION)
    if served is not None:
        yield EmbeddedAuthority.served(Path(served).absolute())
        return
    folder = tmp_path_factory.mktemp("capability-authority")
    try:
        with EmbeddedAuthority.started(folder / "data") as authority:
            pytestconfig.stash[_RUNNING] = authority
            yield authority
            del pytestconfig.stash[_RUNNING]
    except AuthorityUnavailable as error:
        pytest.fail(str(error), pytrace=False)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def authority_tenant(capability_authority: "EmbeddedAuthority") -> "Iterator[TenantForTests]":
    """A tenant of this test's own, with its memory namespaces, and a principal of every role."""
    with capability_authority.new_tenant() as tenant:
        yield tenant


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remembers where the log is when the test begins."""
    log = _log(item.config)
    item.stash[_LOGGED] = log.stat().st_size if log is not None else 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Shows with a failed test what the authority logged meanwhile."""
    report: pytest.TestReport = yield  # type: ignore[assignment] # what the wrapped hooks made
    log = _log(item.config)
    if report.failed and log is not None:
        with log.open("rb") as file:
            file.seek(item.stash.get(_LOGGED, 0))
            text = file.read().decode(errors="replace")
        if text.strip():
            report.sections.append(("Capability Authority log", text[-_MOST_LOGGED:]))
    return report  # type: ignore[return-value]


def _log(config: pytest.Config) -> Path | None:
    authority = config.stash.get(_RUNNING, None)
    return None if authority is None else authority.log
