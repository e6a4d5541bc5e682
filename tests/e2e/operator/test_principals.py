"""`authority principals`: keys made here and elsewhere, rights, revocation."""

import json
from pathlib import Path

import pytest

from authority.domain.references import PrincipalRef, TenantRef
from authority.signing.possession import registration_message
from capability_authority.client import Credentials
from tests.e2e.commands import authority
from tests.e2e.operator.operating import TENANT, Run, told


def test_a_new_principal_calls_with_its_file_until_it_is_revoked(run: Run, tmp_path: Path) -> None:
    # Given a principal that was added with a file for its key
    file = tmp_path / "reader.json"
    principal = ("--tenant", TENANT, "--principal", "desk|reader")
    added = told(run, "principals", "add", *principal, "--kind", "user", "--right", "read", "--out", str(file))
    assert added["rights"] == ["read"]
    assert Credentials.from_file(file).key_id == added["key_id"]
    listing = [
        "call",
        "ListMemoryRecords",
        "--credentials",
        str(file),
        "--json",
        '{"memory_namespace": "clients/rules"}',
    ]
    assert authority(*listing, cwd=tmp_path).returncode == 0

    # When it is revoked, then the next call is refused
    assert told(run, "principals", "revoke", *principal, "--yes") == {"tenant": TENANT, "revoked": "desk|reader"}
    refused = authority(*listing, cwd=tmp_path)
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["error"]["reason"] == "CALLER_UNAUTHENTICATED"
    assert refused.stderr.startswith("refused: ListMemoryRecords: no valid identity or Invocation")

    listed = {row["principal"]: row for row in told(run, "principals", "list", "--tenant", TENANT)}
    assert listed["desk|reader"] == {
        "tenant": TENANT, "principal": "desk|reader", "kind": "user", "rights": ["read"], "state": "revoked",
        "key_ids": [added["key_id"]], "shows": [],
    }  # fmt: skip
    assert run("principals", "revoke", *principal, "--yes").sentence == f"no active principal desk|reader in {TENANT}"


def test_a_key_made_elsewhere_is_registered_by_its_proof(run: Run, tmp_path: Path) -> None:
    # Given a key of another machine
    elsewhere = tmp_path / "elsewhere.json"
    told(run, "principals", "add", "--tenant", TENANT, "--principal", "desk|lender", "--kind", "agent",
         "--out", str(elsewhere))  # fmt: skip
    key = Credentials.from_file(elsewhere).signing_key
    told(run, "principals", "revoke", "--tenant", TENANT, "--key", key.public_key.key_id, "--yes")
    other = "cognitum-tenant|lantern-software"
    command = ("principals", "add", "--tenant", other, "--principal", "desk|owner", "--kind", "agent",
               "--public-key", key.public_key.raw.hex())  # fmt: skip

    # When it is asked for what is to be signed, then it is shown
    asked = run(*command)
    assert asked.code == 2
    message = asked.err.partition(":\n")[2].rstrip("\n").encode()
    assert message.decode().splitlines()[:3] == ["capability-authority/key-registration/v1", other, "desk|owner"]

    # Then only a signature over exactly that registers it
    wrong = run(*command, "--proof", key.sign(message + b"\n").hex())
    assert wrong.sentence == "the proof is no signature of this key over this registration"
    assert told(run, *command, "--proof", key.sign(message).hex())["key_id"] == key.public_key.key_id
    tenant, principal = TenantRef("cognitum-tenant", "lantern-software"), PrincipalRef("desk", "owner")
    assert message == registration_message(tenant, principal, key.public_key.raw)


def test_a_principal_is_added_once_and_its_file_never_overwritten(run: Run, tmp_path: Path) -> None:
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    command = ("principals", "add", "--tenant", TENANT, "--principal", "desk|twice", "--kind", "agent", "--out")
    told(run, *command, str(first))
    before = first.read_bytes()

    taken, again = run(*command, str(first)), run(*command, str(second))

    assert taken.sentence == f"{first} is there already, and a key is never overwritten: name another file by --out"
    assert again.sentence == f"principal desk|twice is registered already in {TENANT}"
    assert first.read_bytes() == before
    assert not second.exists()  # Its key is nobody's.


@pytest.mark.parametrize(("kind", "right"), [("agent", "commit"), ("model", "issue"), ("service", "decide")])
def test_adr328_07_rights_that_a_kind_can_never_have_are_refused(
    kind: str, right: str, run: Run, tmp_path: Path
) -> None:
    result = run(
        "principals", "add", "--tenant", TENANT, "--principal", "x|y", "--kind", kind, "--right", right,
        "--out", str(tmp_path / "x.json"),
    )  # fmt: skip

    assert result.code == 2
    assert result.sentence.startswith(f"--right: a principal of kind {kind} can never {right}; it can have ")
    assert list(tmp_path.iterdir()) == []
