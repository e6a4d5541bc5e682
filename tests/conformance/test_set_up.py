"""The suite's own keys and the set-up contract, and its copies of what the service says elsewhere."""

import json
import stat
from pathlib import Path

import pytest

from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef, TenantRef
from authority.rpc.errors import TABLE
from authority.signing.possession import require_possession
from capability_authority.offline import PrivateKey, save_private_key_file
from capability_authority_conformance.error_table import error_table
from capability_authority_conformance.problems import TargetUnusable
from capability_authority_conformance.set_up import load_callers, make_set_up


def test_keys_are_made_once_and_prove_their_possession(tmp_path: Path) -> None:
    # Given a folder that is made ready twice
    setup = make_set_up(tmp_path / "keys")
    first = setup.read_text()
    callers = load_callers(setup.parent)
    assert make_set_up(tmp_path / "keys").read_text() == first

    # Then every key is private, and its owner proves to hold it as the authority asks
    for tenant in json.loads(first)["tenants"]:
        for principal in tenant["principals"]:
            file = setup.parent / f"{principal['name']}.pem"
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            key_id = require_possession(
                TenantRef(tenant["namespace"], tenant["id"]),
                PrincipalRef(principal["namespace"], principal["id"]),
                bytes.fromhex(principal["public_key"]),
                bytes.fromhex(principal["proof"]),
            )
            assert key_id == callers[principal["name"]].private_key.public_key.key_id


def test_a_key_that_is_missing_or_exposed_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(TargetUnusable, match="set-up --keys") as refused:
        load_callers(tmp_path)
    assert "make conformance-set-up" in refused.value.remedy
    save_private_key_file(tmp_path / "agent.pem", PrivateKey.generate())
    (tmp_path / "agent.pem").chmod(0o644)
    with pytest.raises(TargetUnusable, match="`agent` cannot be used"):
        load_callers(tmp_path)


def test_the_suite_has_the_error_table_of_the_authority() -> None:
    ours = {reason.name: (TABLE[reason].code.name, TABLE[reason].retry_after_ms is not None) for reason in Reason}
    theirs = {reason: (row.code, row.retry) for reason, row in error_table().items()}
    assert list(theirs.items()) == list(ours.items())
