"""What the TypeScript client does with a real service: each file of test/with-service is one test here.

A file finds in its environment the service's address (AUTHORITY_TARGET) and a folder of credentials files
(AUTHORITY_CREDENTIALS_FOLDER), one for each member of a tenant of its own.
"""

from pathlib import Path

import pytest

from tests.typescript.conftest import CLIENT, run_node_tests

WITH_SERVICE = sorted(path.name.removesuffix(".test.ts") for path in (CLIENT / "test/with-service").glob("*.test.ts"))


@pytest.mark.parametrize("name", WITH_SERVICE)
def test_the_typescript_client_with_a_service(
    node: str, typescript_client: Path, place: dict[str, str], name: str
) -> None:
    run_node_tests(node, typescript_client, f"with-service/{name}", **place)
