"""Every operator's command on a served authority, and what the service makes of it."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
import pytest

from authority.cli.child import served as served_in_a_child
from authority.cli.endpoint import find_endpoint
from authority.domain.references import PrincipalRef, TenantRef
from authority.policy.bundle import default_bundle
from authority.postgres.provision import ensure_database
from authority.signing.possession import registration_message
from capability_authority.client import Credentials
from tests.e2e.commands import authority
from tests.unit.cli.running import Ran, ran

TENANT = "cognitum-tenant|harbour-books"
ABSENT = "0" * 64

Run: TypeAlias = Callable[..., Ran]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of an authority that is served from it."""
    folder = tmp_path_factory.mktemp("operated")
    with served_in_a_child(folder):
        yield folder


@pytest.fixture
def run(data: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs an operator's command on that authority."""
    return lambda *arguments: ran(capsys, *arguments, "--data", str(data))


def told(run: Run, *arguments: str) -> Any:
    """The document that a command answers with; it must succeed, quietly."""
    result = run(*arguments, "--json")
    assert (result.code, result.err) == (0, ""), arguments
    return result.document


def keys_of(run: Run, purpose: str) -> dict[str, str]:
    """The state of every key of the purpose, oldest first."""
    return {key["key_id"]: key["state"] for key in told(run, "keys", "list") if key["purpose"] == purpose}


def called(run: Run, rpc: str, who: str, request: dict[str, Any]) -> Ran:
    return run("call", rpc, "--as", f"harbour-books/{who}", "--json", json.dumps(request))


def proposed(run: Run, content: str, namespace: str = "office/workflow") -> dict[str, Any]:
    request = {
        "memory_namespace": namespace,
        "memory_type": "MEMORY_TYPE_PREFERENCE",
        "content": content,
        "media_type": "text/plain",
        "source_refs": ["note:1"],
    }
    proposal: dict[str, Any] = called(run, "CreateProposal", "user", request).document["proposal"]
    return {"proposal_id": proposal["proposal_id"], "revision": 1}


def test_migrating_again_changes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given the URL of some other authority in the environment, then the login of this one's service is left alone
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", "postgresql://authority_service:another@127.0.0.1:1/another")
    assert told(run, "migrate") == {"applied": [], "service": None}
    assert run("migrate").out == "the database was at this version already\n"


def test_a_new_database_is_made_ready_by_migrate_alone(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Given an empty database of the operator's own
    url = ensure_database(find_endpoint(data).admin_database_url, "empty")
    monkeypatch.setenv("AUTHORITY_ADMIN_DATABASE_URL", url)
    monkeypatch.chdir(data)

    # When it is used too early, then the remedy is named
    early = ran(capsys, "keys", "list")
    assert early.code == 1
    assert "has `authority migrate` been run on it" in early.sentence

    # When it is migrated, then it can be used, and migrating again changes nothing
    first, second = ran(capsys, "migrate", "--json"), ran(capsys, "migrate", "--json")
    assert first.document["applied"]
    assert second.document == {"applied": [], "service": None}
    assert "nobody was let in to serve: set AUTHORITY_DATABASE_URL" in ran(capsys, "migrate").out
    assert ran(capsys, "keys", "list", "--json").document == []
    made = ran(capsys, "keys", "rotate", "receipt", "--json").document
    assert Path(made["folder"]) == Path("keys")
    assert [key["key_id"] for key in ran(capsys, "keys", "list", "--json").document] == [made["key"]["key_id"]]


def test_migrate_lets_the_user_of_the_service_in(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Given a database of the operator's own, and a login that was made for the service
    url = ensure_database(find_endpoint(data).admin_database_url, "own")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create role application login password 'kept to itself'")
    server = url.rpartition("@")[2]
    monkeypatch.setenv("AUTHORITY_ADMIN_DATABASE_URL", url)
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", f"postgresql://application:kept%20to%20itself@{server}")

    # When it is migrated, then that login may take on the powers, and no password is told
    done = ran(capsys, "migrate")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("application, the user of AUTHORITY_DATABASE_URL, may take on the powers of the service\n")
    assert ran(capsys, "migrate", "--json").document == {"applied": [], "service": "application"}
    service = psycopg.connect(f"postgresql://application:kept%20to%20itself@{server}", autocommit=True)
    with service:
        service.execute("set role authority_commit")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            service.execute("set role authority_admin")

    # When the URL is none, then it is told without the text of it
    monkeypatch.setenv("AUTHORITY_DATABASE_URL", "postgresql://application:kept[@host/own")
    wrong = ran(capsys, "migrate")
    assert wrong.code == 2
    assert wrong.sentence.startswith("AUTHORITY_DATABASE_URL: is no URL; ")
    assert "kept" not in wrong.out + wrong.err


# --- principals ------------------------------------------------------------------------------------------------------


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
        "key_ids": [added["key_id"]],
    }  # fmt: skip
    assert run("principals", "revoke", *principal, "--yes").sentence == f"no active principal desk|reader in {TENANT}"


def test_a_key_made_elsewhere_is_registered_by_its_proof(run: Run, tmp_path: Path) -> None:
    # Given a key of another machine
    elsewhere = tmp_path / "elsewhere.json"
    told(run, "principals", "add", "--tenant", TENANT, "--principal", "desk|lender", "--kind", "agent",
         "--out", str(elsewhere))  # fmt: skip
    key = Credentials.from_file(elsewhere).private_key
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


# --- memory namespaces -----------------------------------------------------------------------------------------------


def test_a_memory_namespace_is_added_in_enforce_and_lowered_only_on_purpose(run: Run) -> None:
    newest = told(run, "policies", "list")[-1]["version"]
    added = told(run, "namespaces", "add", "new/place", "--tenant", TENANT, "--privileged")
    assert (added["mode"], added["policy_version"]) == ("enforce", newest)
    shown = run("namespaces", "add", "other/place", "--tenant", TENANT)
    assert shown.out.endswith(f"it is decided by policy {newest}, the newest that is loaded\n")
    again = run("namespaces", "add", "new/place", "--tenant", TENANT)
    assert again.sentence == f"memory namespace new/place exists already in {TENANT}"

    lower = ("namespaces", "mode", "new/place", "observe", "--tenant", TENANT)
    assert told(run, *lower, "--yes") == {
        "tenant": TENANT, "name": "new/place", "previous": "enforce", "mode": "observe"
    }  # fmt: skip
    raised = ("namespaces", "mode", "new/place", "enforce", "--tenant", TENANT)
    assert told(run, *raised)["previous"] == "observe"

    row = next(row for row in told(run, "namespaces", "list", "--tenant", TENANT) if row["name"] == "new/place")
    assert (row["mode"], row["privileged"], row["default_visibility"]) == ("enforce", True, "workspace")
    assert run("namespaces", "mode", "nowhere", "enforce", "--tenant", TENANT).code == 1


def test_what_cannot_be_undone_is_asked_first(data: Path, tmp_path: Path, run: Run) -> None:
    told(run, "namespaces", "add", "asked/first", "--tenant", TENANT)
    command = ["namespaces", "mode", "asked/first", "legacy", "--tenant", TENANT, "--data", str(data)]

    silent = authority(*command, cwd=tmp_path)
    refused = authority(*command, cwd=tmp_path, text="n\n")
    agreed = authority(*command, cwd=tmp_path, text="y\n")

    for done in (silent, refused):
        assert done.returncode == 1
        assert "will accept writes that nobody validated (enforce → legacy)" in done.stderr
        assert done.stderr.endswith("authority: nothing was changed; --yes agrees without a question\n")
    assert agreed.returncode == 0
    assert agreed.stdout == f"asked/first of {TENANT}: enforce → legacy\n"


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


# --- policies --------------------------------------------------------------------------------------------------------


def test_a_loaded_bundle_decides_once_it_is_activated(run: Run, tmp_path: Path) -> None:
    # Given a validated proposal in a memory namespace of its own
    told(run, "namespaces", "add", "decided/anew", "--tenant", TENANT)
    proposal = proposed(run, "aGFsbG8=", "decided/anew")
    called(run, "ValidateProposal", "user", proposal)
    question = {"proposal_id": proposal["proposal_id"], "proposal_revision": 1}
    before = called(run, "EvaluatePolicy", "service", question).document
    assert before["outcome"] == "DECISION_OUTCOME_ALLOW"

    # When a bundle that denies everything is loaded and activated
    file = tmp_path / "none.cedar"
    file.write_text('@id("nothing")\nforbid (principal, action, resource);\n')
    version = told(run, "policies", "load", str(file))["version"]
    assert version in {row["version"] for row in told(run, "policies", "list")}
    active = ("policies", "activate", version, "--namespace", "decided/anew", "--tenant", TENANT)
    assert told(run, *active) == {"tenant": TENANT, "namespace": "decided/anew", "version": version}

    # Then it decides
    after = called(run, "EvaluatePolicy", "service", question).document
    assert after["outcome"] == "DECISION_OUTCOME_DENY"
    assert after["policy_version"] == version


def test_a_bundle_that_is_bad_or_absent_is_not_taken(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.cedar"
    bad.write_text(default_bundle().replace('@id("', '@name("', 1))
    number = len(told(run, "policies", "list"))

    refused = run("policies", "load", str(bad))
    absent = run("policies", "activate", f"sha256:{ABSENT}", "--namespace", "clients/rules", "--tenant", TENANT)

    assert refused.code == 1
    assert re.search(r"bad\.cedar: line \d+: .*has no name", refused.err)
    assert refused.err.endswith(f"{bad} was not loaded\n")
    assert absent.sentence == f"policy version sha256:{ABSENT} is not loaded"
    assert len(told(run, "policies", "list")) == number


# --- keys ------------------------------------------------------------------------------------------------------------


def test_a_rotated_key_still_verifies_and_a_revoked_one_does_not(run: Run, tmp_path: Path) -> None:
    # Given a statement of the first validation key
    (first,) = keys_of(run, "validation")
    validation = tmp_path / "validation.json"
    validation.write_text(called(run, "ValidateProposal", "user", proposed(run, "ZWlucw==")).out)
    inspection = ("inspect", str(validation), "--json")
    assert run(*inspection).document["key_id"] == first

    # When another takes its place, then it retires and its statement stays valid
    rotated = told(run, "keys", "rotate", "validation")
    second = rotated["key"]["key_id"]
    assert rotated["retired"] == [first]
    assert keys_of(run, "validation") == {first: "retiring", second: "active"}
    verified = run(*inspection)
    assert (verified.code, verified.document["verdict"]) == (0, "valid")

    # When it is revoked as stolen, then every operator sees since when
    since = "2026-01-01T00:00:00.000Z"
    revoked = told(run, "keys", "revoke", first, "--compromised-since", since, "--yes")
    assert revoked == {
        "revoked": first, "purpose": "validation", "compromised_since": since, "another_is_active": True
    }  # fmt: skip
    assert keys_of(run, "validation") == {first: "revoked", second: "active"}
    assert run("keys", "revoke", first, "--yes").code == 1


def test_revoking_says_what_it_breaks(data: Path, run: Run, tmp_path: Path) -> None:
    (only,) = keys_of(run, "decision")

    done = authority("keys", "revoke", only, "--data", str(data), cwd=tmp_path, text="n\n")

    assert done.returncode == 1
    assert f"Revoking the active decision key {only}: what it signed must be decided again" in done.stderr
    assert "No other active key signs in its place" in done.stderr
    assert keys_of(run, "decision") == {only: "active"}
    assert run("keys", "revoke", f"sha256:{ABSENT}", "--yes").sentence.startswith("no key of the authority is sha256:0")


def test_who_revokes_the_last_key_is_told_how_to_make_another(run: Run) -> None:
    (only,) = keys_of(run, "decision")

    done = run("keys", "revoke", only, "--yes")
    remedy = "authority keys rotate decision"
    assert done.out == f"revoked {only}\nNo active decision key is left in its place: `{remedy}` makes one\n"

    assert told(run, *remedy.split()[1:])["retired"] == []


def test_a_key_of_one_memory_namespace_leaves_the_others_alone(run: Run) -> None:
    (everywhere,) = keys_of(run, "capability")

    scoped = told(run, "keys", "rotate", "capability", "--tenant", TENANT, "--namespace", "clients/rules")

    assert scoped["retired"] == []
    assert (scoped["key"]["tenant"], scoped["key"]["memory_namespace"]) == (TENANT, "clients/rules")
    assert keys_of(run, "capability")[everywhere] == "active"


# --- calling and inspecting ------------------------------------------------------------------------------------------


def test_a_refusal_is_a_sentence_for_people_and_json_for_machines(run: Run) -> None:
    result = called(run, "GetProposal", "user", {"proposal_id": "not one"})

    assert result.code == 1
    assert result.err == (
        "refused: GetProposal: the request is malformed (MALFORMED); field: proposal_id, problem: must be a lowercase"
        " UUID\n"
    )
    assert result.document["error"] == {
        "code": "INVALID_ARGUMENT", "reason": "MALFORMED", "message": "the request is malformed",
        "metadata": {"field": "proposal_id", "problem": "must be a lowercase UUID"}, "retryable": False,
    }  # fmt: skip


def test_requests_come_from_files_and_standard_input_too(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text('{"memory_namespace": "clients/rules"}')
    command = ["call", "ListMemoryRecords", "--data", str(data), "--as", "harbour-books/user", "--json"]

    from_file = authority(*command, str(file), cwd=tmp_path)
    from_input = authority(*command, "-", cwd=tmp_path, text=file.read_text())

    assert from_file.returncode == from_input.returncode == 0
    assert json.loads(from_file.stdout) == json.loads(from_input.stdout)


def test_statements_can_be_verified_against_a_stored_key_set(run: Run, data: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(run("call", "GetKeySet").out)
    answer = called(run, "ValidateProposal", "user", proposed(run, "endlaQ==")).out

    done = authority("inspect", "-", "--key-set", str(keys), cwd=tmp_path, text=answer)

    assert done.returncode == 0
    assert "VALID: signed by a key of capability-authority" in done.stdout
    assert "Nothing of this is proved" not in done.stdout


def test_statements_are_verified_by_the_authority_that_is_served_here(run: Run, data: Path, tmp_path: Path) -> None:
    # Given a folder with a served .authority, and one without
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    (here / ".authority").symlink_to(data)
    answer = called(run, "ValidateProposal", "user", proposed(run, "aGVyZQ==")).out

    served = authority("inspect", "-", cwd=here, text=answer)
    alone = authority("inspect", "-", cwd=elsewhere, text=answer)

    assert (served.returncode, alone.returncode) == (0, 0)
    assert "VALID: signed by a key of capability-authority" in served.stdout
    assert "UNKNOWN: not verified: no key set was given; --data DIR or --key-set FILE would verify it" in alone.stdout


def test_a_capability_without_a_holder_is_its_callers(run: Run, data: Path) -> None:
    # Given a proposal that was validated and allowed
    proposal = proposed(run, "Zm9yIG1l")
    proposal_id = proposal["proposal_id"]
    validation = called(run, "ValidateProposal", "user", proposal).document["validation_receipt"]
    question = {"proposal_id": proposal_id, "proposal_revision": 1}
    decision = called(run, "EvaluatePolicy", "service", question).document["decision_receipt"]

    # When a capability is asked for without a word on who may use it
    request = {
        **question,
        "commit_idempotency_key": "k",
        "validation_receipt": validation,
        "decision_receipt": decision,
    }
    issued = called(run, "IssueCapability", "service", request)

    # Then it is the caller's, with the key by which it calls
    assert (issued.code, issued.err) == (0, "")
    says = told(run, "inspect", issued.out)["says"]
    caller = Credentials.from_file(data / "credentials" / "harbour-books-service.json")
    assert says["holder"] == {"namespace": caller.principal.namespace, "id": caller.principal.id}
    assert (says["holder_key"], says["audience"]) == (caller.key_id, caller.audience)

    # And its caller can take it back, once for ever
    named = {"capability_id": issued.document["capability_id"]}
    first, again = [called(run, "RevokeCapability", "service", named).document for _ in range(2)]
    assert (first.get("replayed", False), again["replayed"]) == (False, True)
    assert first["revoke_time"] == again["revoke_time"]
    refused = called(run, "RevokeCapability", "agent", named)
    assert (refused.code, "NOT_FOUND" in refused.err) == (1, True)
