"""One served authority for all tests of the operator's commands."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from authority.cli.child import served as served_in_a_child
from tests.e2e.operator.operating import Run
from tests.unit.cli.running import ran


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of an authority that is served from it."""
    folder = tmp_path_factory.mktemp("operated")
    with served_in_a_child(folder):
        yield folder


@pytest.fixture
def run(data: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs an operator's command on that authority."""
    return lambda *arguments: ran(capsys, *arguments, "--data", str(data))
