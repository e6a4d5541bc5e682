"""Bad input to the operator's acts: keys that anybody can sign for are not registered (case E03)."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.commands import authority
from tests.installation.installation import Installation, Tenant
from tests.installation.storage import Storage

IDENTITY = "01" + "00" * 31
NOT_CANONICAL = "ed" + "ff" * 30 + "7f"
"""y = p: zero, in another spelling."""
HOLDS_FOR_EVERYTHING = IDENTITY + "00" * 32
"""A signature that pyca/cryptography accepts for the identity under every message."""


@pytest.mark.parametrize("public_key", [IDENTITY, NOT_CANONICAL], ids=["small_order", "not_canonical"])
async def test_e03_a_weak_key_is_not_registered_whatever_proof_comes_with_it(
    installation: Installation, tenant: Tenant, storage: Storage, tmp_path: Path, public_key: str
) -> None:
    # Given a key that anybody can sign for, or one in a second spelling
    before = storage.dump()
    arguments = ["--tenant", str(tenant.ref), "--principal", "test|weak", "--kind", "service"]
    # When the operator registers it with a signature that holds for every message
    done = await asyncio.to_thread(
        authority,
        *["principals", "add", *arguments, "--public-key", public_key, "--proof", HOLDS_FOR_EVERYTHING],
        cwd=tmp_path,
        AUTHORITY_ADMIN_DATABASE_URL=installation.admin_url,
    )
    # Then it is refused in a sentence, and nothing is registered
    assert (done.returncode, done.stdout) == (1, "")
    assert "public key" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert storage.dump() == before
