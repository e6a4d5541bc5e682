"""What the TypeScript client does without a server: each of its test files is one test here."""

from pathlib import Path

import pytest

from tests.typescript.conftest import CLIENT, run_node_tests

ALONE = sorted(path.name.removesuffix(".test.ts") for path in (CLIENT / "test").glob("*.test.ts"))


@pytest.mark.parametrize("name", ALONE)
def test_the_typescript_client_alone(node: str, typescript_client: Path, name: str) -> None:
    run_node_tests(node, typescript_client, name)
