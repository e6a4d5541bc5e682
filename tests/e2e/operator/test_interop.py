"""`authority interop` and `authority principals alias`, as the documentation shows them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from capability_authority.client import Credentials
from capability_authority.offline.upstream import action_time, sign_action_envelope
from tests.e2e.operator.operating import TENANT, Run, told
from tests.installation.documented import examples
from tests.unit.rpc.requests import ENVELOPE_JSON

NAME = "loader/key-1"
ALIAS = ("principals", "alias")
NO_KEY = f"sha256:{'0' * 64}"


@pytest.fixture
def service(data: Path) -> Credentials:
    """Whose key it is."""
    return Credentials.from_file(data / "credentials" / "harbour-books-service.json")


def envelope_under_a_grant(run: Run, service: Credentials) -> bytes:
    """Signed by the service, for a recall that it was granted; the key is called by its name."""
    to = ("--to", "demo|service", "--to-key", service.key_id, "--as", "harbour-books/admin", "--subject", "demo|user")
    allowed = ("audiences=ruflo.memory", "actions=memory.recall", "read_memory_namespaces=office/workflow", "uses=5")
    flags = [word for one in allowed for word in ("--allow", one)]
    grant = told(run, "grants", "issue", *to, *flags)
    (policy,) = {it["policy_version"] for it in told(run, "namespaces", "list", "--tenant", TENANT)}
    tenant = {"namespace": service.tenant.namespace, "id": service.tenant.id}
    envelope = json.loads(ENVELOPE_JSON)
    now = datetime.now(UTC)
    envelope |= {
        "tenantRef": tenant,
        "authoritativeSource": envelope["authoritativeSource"] | {"tenantRef": tenant},
        "resourceRefs": ["office/workflow"],
        "capabilityId": grant["digest"],
        "policyReceiptId": policy,
        "occurredAt": action_time(int(now.timestamp() * 1000)),
        "expiresAt": action_time(int((now + timedelta(minutes=5)).timestamp() * 1000)),
    }
    return sign_action_envelope(envelope, service.signing_key, key_id=NAME)


def test_names_and_envelopes_are_as_documented(run: Run, service: Credentials, tmp_path: Path) -> None:
    file = tmp_path / "envelope.json"
    words = {"SERVICE_KEY": service.key_id, "ENVELOPE": str(file)}
    naming = examples("docs/upstream.md", "Names for keys")
    *asking, last = examples("docs/upstream.md", "Ask by hand")
    file.write_bytes(envelope_under_a_grant(run, service))

    for example in (*naming, *asking):
        shown = run(*example.arguments(**words))
        assert (shown.code, example.difference(shown.out)) == (0, ""), shown.err
    denied = run(*last.arguments(**words))
    assert (denied.code, last.difference(denied.out)) == (1, "")

    # and machines are told the same
    document = run("interop", "verify", str(file), "--as", "harbour-books/service", "--json").document
    assert (document["key"], document["signed"], document["policy"]["allowed"]) == (None, False, True)
    assert document["capability"] == {"allowed": False, "reason": "HOLDER_MISMATCH", "facts": {}}
    (row,) = [it for it in told(run, "principals", "alias", "list", "--tenant", TENANT) if it["alias"] == NAME]
    assert (row["key_id"], row["principal"], row["state"]) == (service.key_id, "demo|service", "revoked")


def test_an_envelope_that_was_changed_does_not_hold(run: Run, service: Credentials, tmp_path: Path) -> None:
    signed = json.loads(envelope_under_a_grant(run, service)) | {"keyId": service.key_id}
    signed["envelope"]["correlationId"] = "another"
    (tmp_path / "changed.json").write_text(json.dumps(signed))
    shown = run("interop", "verify", str(tmp_path / "changed.json"), "--as", "harbour-books/service")
    assert (shown.code, shown.out.splitlines()[0]) == (
        1,
        f"signature: does NOT hold, by {service.key_id} of demo|service",
    )


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("interop", "resolve", "nobodys", "--as", "harbour-books/service"), 1, "NOT_FOUND"),
        (("interop", "resolve", "nobodys", "--as", "harbour-books/agent"), 1, "NOT_ALLOWED"),
        (("interop", "resolve", "nobodys"), 2, "must be signed"),
        (("interop", "resolve", "a b", "--as", "harbour-books/service"), 2, "is nothing that an envelope can call"),
        ((*ALIAS, "add", "a b", "--tenant", TENANT, "--key", NO_KEY), 2, "is no name"),
        ((*ALIAS, "add", "sha256:x", "--tenant", TENANT, "--key", NO_KEY), 2, "is no name"),
        ((*ALIAS, "add", "k9", "--tenant", TENANT, "--key", "k9"), 2, "is not sha256:"),
        ((*ALIAS, "add", "k9", "--tenant", TENANT, "--key", NO_KEY), 1, "no active key"),
        ((*ALIAS, "revoke", "k9", "--tenant", TENANT, "--yes"), 1, "stands for no key"),
    ],
)
def test_what_cannot_be_is_told_in_words(run: Run, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    result = run(*arguments)
    assert (result.code, sentence in result.err) == (code, True), result


def test_what_is_no_envelope_is_said_so(run: Run, tmp_path: Path) -> None:
    for name, text in (("empty", b""), ("unsigned", ENVELOPE_JSON), ("large", b"[" * 100_000), ("binary", b"\xff\0")):
        (tmp_path / name).write_bytes(text)
        result = run("interop", "verify", str(tmp_path / name), "--as", "harbour-books/service")
        assert (result.code, "is no signed action envelope" in result.sentence) == (1, True), result
