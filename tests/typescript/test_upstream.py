"""The published verifier of upstream asks a real service: what is authorised passes, nothing else does."""

from pathlib import Path

import pytest

from tests.e2e.commands import AUTHORITY
from tests.installation.installation import Installation
from tests.typescript.conftest import run_node_tests
from tests.typescript.upstream_module import published_module

pytestmark = pytest.mark.timeout(600)  # Whoever is first has upstream's module fetched.


@pytest.fixture
def upstream_module(node: str, request: pytest.FixtureRequest) -> Path:
    """Only where Node.js is there to run it."""
    return published_module(request.config.cache.mkdir("upstream"))


def test_the_published_verifier_asks_the_service(
    node: str, typescript_client: Path, upstream_module: Path, place: dict[str, str], installation: Installation
) -> None:
    run_node_tests(
        node,
        typescript_client,
        "with-service/upstream/verifier",
        UPSTREAM_MODULE=str(upstream_module),
        AUTHORITY_PROGRAM=AUTHORITY,
        AUTHORITY_ADMIN_DATABASE_URL=installation.admin_url,
        **place,
    )
