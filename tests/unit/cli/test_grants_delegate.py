"""`authority grants delegate`: offline, with a credentials file and a grant in any form."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from authority.cli.failures import Misused
from authority.cli.grants.terms import DIMENSIONS, parse_terms
from capability_authority.client import Credentials, Reference
from capability_authority.offline import (
    KeyRecord,
    KeySet,
    Narrower,
    PrivateKey,
    parse_statement,
    sign,
    timestamp,
    verify_grant_chain,
)
from capability_authority.v1.statements_pb2 import Grant, SignedStatement
from capability_authority.v1.types_pb2 import KEY_PURPOSE_GRANT, KEY_STATE_ACTIVE
from tests.unit.cli.running import Ran, ran
from tests.unit.offline.builders import ISSUER, NOW_MS
from tests.unit.offline.test_grants import AGENT, GRANT_KEY, ORCHESTRATOR, root_terms

KEY_SET = KeySet.of(
    ISSUER, KeyRecord(public_key=GRANT_KEY.public_key, purpose=KEY_PURPOSE_GRANT, state=KEY_STATE_ACTIVE)
)


@dataclass(frozen=True)
class Desk:
    """Where a holder works: its grant and its credentials in files."""

    capsys: pytest.CaptureFixture[str]
    grant: Path
    credentials: Path
    parent: SignedStatement

    def delegate(self, *options: str, key: str = AGENT.public_key.raw.hex()) -> Ran:
        """Hands the grant on to an agent."""
        to = ("--credentials", str(self.credentials), "--to", "agents|a1", "--to-key", key)
        return ran(self.capsys, "grants", "delegate", str(self.grant), *to, *options)

    def presented(self, data: bytes) -> Grant:
        """What the child says, below the parent, to whoever verifies."""
        return verify_grant_chain([self.parent, parse_statement(data)], KEY_SET, now_ms=NOW_MS).presented


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    parent = sign(root_terms(), GRANT_KEY)
    (tmp_path / "root.grant").write_bytes(parent.SerializeToString())
    credentials = Credentials(
        target="127.0.0.1:1",
        issuer=ISSUER,
        audience="memory.example",
        tenant=Reference("acme", "t1"),
        principal=Reference("workload", "orchestrator"),
        private_key=ORCHESTRATOR,
    )
    credentials.save(tmp_path / "me.json")
    return Desk(capsys, tmp_path / "root.grant", tmp_path / "me.json", parent)


def test_a_grant_is_handed_on_narrower_and_printed_in_base64(desk: Desk) -> None:
    # When a holder hands its grant on, with less
    done = desk.delegate(
        *("--only", "actions=memory.propose", "--only", "uses=3", "--only", "tools=", "--only", "network=no"),
        *("--only", "delegation_depth=0", "--expires", "2026-09-21T14:14:20Z"),
    )

    # Then what is printed verifies below it, and says just that
    assert done.code == 0
    child = desk.presented(base64.b64decode(done.out))
    assert list(child.actions.names) == ["memory.propose"]
    assert (list(child.tools.names), child.uses.most, child.network.allowed) == ([], 3, False)
    assert (child.delegation_depth, child.holder.id, child.destructive.allowed) == (0, "a1", True)
    assert child.expire_time == timestamp(NOW_MS + 60_000)
    assert done.err.startswith("sha256:")
    assert "for agents|a1 until 2026-09-21T14:14:20.000Z" in done.err


def test_it_is_written_to_a_new_file_and_never_over_one(desk: Desk, tmp_path: Path) -> None:
    out = tmp_path / "child.grant"

    assert desk.delegate("--out", str(out)).out == f"written to {out}\n"
    assert desk.presented(out.read_bytes()).holder.id == "a1"
    kept = out.read_bytes()
    again = desk.delegate("--out", str(out))
    assert (again.code, "is there already" in again.err) == (1, True)
    assert out.read_bytes() == kept


def test_for_machines_it_is_one_document(desk: Desk) -> None:
    document = desk.delegate("--json").document

    assert document["says"]["holder"] == {"namespace": "agents", "id": "a1"}
    assert document["digest"].startswith("sha256:")
    assert document["file"] is None
    # And it is a form in which any command takes it again.
    assert ran(desk.capsys, "inspect", base64.b64encode(b"x").decode()).code == 1
    assert set(document["grant"]) == {"payloadType", "payload", "signature"}


def test_what_a_grant_denies_is_shown_when_it_is_inspected(desk: Desk, tmp_path: Path) -> None:
    # Given a child that denies what is there to be denied
    out = tmp_path / "child.grant"
    desk.delegate("--out", str(out), "--only", "tools=", "--only", "uses=0", "--only", "network=no")

    # When it is inspected, then each is said, and a key is not shown as a digest
    shown = " ".join(ran(desk.capsys, "inspect", str(out)).out.split())
    says = ran(desk.capsys, "inspect", str(out), "--json").document["says"]
    assert "tools none" in shown
    assert "uses 0 network no destructive yes" in shown
    assert (says["tools"], says["uses"], says["network"], says["models"]) == ([], 0, False, ["small/*"])
    assert says["holder_public_key"] == AGENT.public_key.raw.hex()


def test_who_is_bound_to_another_credential_gets_no_key_to_hand_on_with(desk: Desk) -> None:
    child = desk.presented(base64.b64decode(desk.delegate(key=f"sha256:{'5a' * 32}").out))

    assert (child.holder_key.hex(), child.holder_public_key) == ("5a" * 32, b"")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--only", "uses=6"), "uses as the parent has it, or narrower"),
        (("--only", "write_memory_namespaces=team/*"), "write_memory_namespaces as the parent has it, or narrower"),
        (("--only", "actions=policy.promote"), "what a grant can say as actions"),
        (("--expires", "2027-01-01T00:00:00Z"), "expire_time"),
    ],
)
def test_e17_what_would_be_wider_is_refused_by_its_dimension(desk: Desk, options: Sequence[str], says: str) -> None:
    refused = desk.delegate(*options)

    assert (refused.code, refused.out) == (1, "")
    assert refused.sentence.startswith("not handed on: ")
    assert says in refused.sentence


@pytest.mark.parametrize("key", ["", "00", "zz" * 32, "00" * 32, "sha256:00", "sha256:" + "5A" * 32])
def test_a_key_that_is_none_is_refused(desk: Desk, key: str) -> None:
    refused = desk.delegate(key=key)

    assert (refused.code, refused.out) == (1, "")


def test_another_key_than_the_bound_one_hands_nothing_on(desk: Desk, tmp_path: Path) -> None:
    other = Credentials.from_file(desk.credentials)
    stranger = Credentials(
        **{name: getattr(other, name) for name in ("target", "issuer", "audience", "tenant", "principal")},
        private_key=PrivateKey.generate(),
    )
    stranger.save(tmp_path / "stranger.json")

    refused = desk.delegate("--credentials", str(tmp_path / "stranger.json"))

    assert refused.code == 1
    assert "the signature is not valid" in refused.sentence
    assert "expected the holder key of the parent, sha256:" in refused.sentence


def test_what_is_no_grant_is_not_handed_on(desk: Desk, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for content in (b"", b"random", b"{}"):
        (tmp_path / "other").write_bytes(content)
        refused = ran(
            capsys, "grants", "delegate", str(tmp_path / "other"), "--credentials", str(desk.credentials),
            "--to", "agents|a1", "--to-key", "00" * 32,
        )  # fmt: skip
        assert (refused.code, refused.out) == (1, "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("uses", "not DIMENSION=VALUE"),
        ("users=1", "not DIMENSION=VALUE"),
        ("uses=-1", "a whole number from 0"),
        ("uses=", "a whole number from 0"),
        ("uses=\u0661", "a whole number from 0"),
        (f"uses={2**63}", "a whole number from 0"),
        ("delegation_depth=9", "from 0 to 8"),
        ("network=maybe", "yes or no"),
        ("network=True", "yes or no"),
    ],
)
def test_a_term_that_is_none_is_told_in_words(text: str, says: str) -> None:
    with pytest.raises(Misused, match=says):
        parse_terms([text])


def test_terms_are_read_by_their_dimension() -> None:
    given = ["tools=a,b/*", "tools=c", "models=", f"uses={2**63 - 1}", "network=yes", "delegation_depth=8"]

    assert parse_terms(given) == {
        "tools": ["a", "b/*", "c"],
        "models": [],
        "uses": 2**63 - 1,
        "network": True,
        "delegation_depth": 8,
    }
    with pytest.raises(Misused, match="uses is given twice"):
        parse_terms(["uses=1", "uses=1"])


def test_every_dimension_can_be_named() -> None:
    assert set(DIMENSIONS) | {"not_before_ms", "expire_ms", "correlation_id"} == set(Narrower.__dataclass_fields__)
