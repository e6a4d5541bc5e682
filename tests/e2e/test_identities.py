"""What docs/identities.md shows, run as it is shown: certificates on one machine, tokens, and one person."""

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from authority.bootstrap.system import SystemClock
from authority.cli.child import Child
from authority.domain.references import TenantRef
from capability_authority.client import (
    CallerUnauthenticated,
    Credentials,
    IssuedCapability,
    TlsRoots,
)
from capability_authority.sync import CapabilityAuthority
from tests.installation.documented import examples
from tests.unit.cli.running import Ran
from tests.unit.cli.running import ran as run_here
from tests.world.token_issuers import ISSUER, TestIssuer

TENANT = "cognitum-tenant|harbour-books"
AUDIENCE = "capability-authority"
TLS = {
    "AUTHORITY_TLS_CERTIFICATE": "dev-certs/server.pem",
    "AUTHORITY_TLS_PRIVATE_KEY": "dev-certs/server-key.pem",
    "AUTHORITY_TLS_CLIENT_CA": "dev-certs/ca.pem",
    "AUTHORITY_TLS_TRUST_DOMAINS": "dev.local",
    "AUTHORITY_TOKEN_ISSUERS": "issuers.toml",
}
ISSUERS = """
[[issuer]]
issuer = "https://login.example"
audience = "capability-authority"
algorithms = ["ES256"]
jwks_file = "jwks.json"
"""


class Desk:
    """A folder with certificates and issuers, from which an authority is served over mutual TLS."""

    def __init__(self, folder: Path, ran: Callable[..., Ran]) -> None:
        self.folder, self.ran = folder, ran
        self.issuer = TestIssuer(SystemClock().now())
        (folder / "issuers.toml").write_text(ISSUERS)
        (folder / "jwks.json").write_bytes(self.issuer.published)
        self.address = ""

    def operator(self, *arguments: str) -> Ran:
        """An operator's command on the served folder."""
        return self.ran(*arguments, "--data", "data")

    def credentials(self, name: str) -> Credentials:
        """Of a client of dev-certs."""
        return Credentials.from_file(self.folder / "dev-certs" / f"desk-{name}.json")

    def connected(
        self, credentials: Credentials, tls: TlsRoots | None = None, token: str | None = None
    ) -> CapabilityAuthority:
        """A client of the served authority."""
        return CapabilityAuthority.connect(self.address, credentials=credentials, tls=tls, bearer_token=token)

    def token(self, subject: str) -> str:
        """For the tenant."""
        return self.issuer.token(self.issuer.claims(TenantRef(*TENANT.split("|")), subject, aud=AUDIENCE))


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    desk = Desk(tmp_path, lambda *arguments: run_here(capsys, *arguments))
    # Given certificates as they are shown to be made, and one more client that nobody registers
    made, *_ = examples("docs/identities.md", "On one machine")
    assert not made.difference(desk.ran(*made.arguments()).out)
    assert desk.ran("dev-certs", "--tenant", TENANT, "--principal", "desk|proxy").code == 0
    files = [*(tmp_path / "dev-certs").iterdir()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    (tmp_path / "data").mkdir(mode=0o700)
    child = Child.start(["--data", "data", "--listen", "127.0.0.1:0"], tmp_path / "serve.log", TLS)
    try:
        desk.address = child.address
        yield desk
    finally:
        child.end()


CONTENT = "The harbour office opens at eight."


def test_what_is_shown_of_identities_works(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given the documented commands: the principal calls by its certificate, and is revoked only in the end
    _, add, call, revoke = examples("docs/identities.md", "On one machine")
    for example in (add, call):
        assert not example.difference(desk.operator(*example.arguments()).out)
    assert_listed(desk)

    proposal_id, capability = commit_by_certificate(desk)
    monkeypatch.setenv("AUTHORITY_TOKEN_ISSUERS", "issuers.toml")
    bind_tokens_as_shown(desk)
    assert_bearers_call(desk, proposal_id, capability)
    assert_probes_show_certificates(desk)

    # When it is revoked, then its certificate is nobody's
    assert not revoke.difference(desk.operator(*revoke.arguments()).out)
    with desk.connected(desk.credentials("loader")) as gone, pytest.raises(CallerUnauthenticated):
        gone.get_proposal(proposal_id)
    # and nothing of a token or key is in the log
    log = (desk.folder / "serve.log").read_text()
    assert desk.token("user-7").split(".")[0] not in log
    assert "PRIVATE KEY" not in log

    # Given links, then as they are shown
    for example in examples("docs/identities.md", "One person"):
        assert not example.difference(desk.operator(*example.arguments()).out), example.command


def assert_listed(desk: Desk) -> None:
    """The operator sees what the principal shows, and what binds it, which its own file names, too."""
    found = desk.operator("principals", "list", "--tenant", TENANT, "--json").document
    (listed,) = (one for one in found if one["principal"] == "desk|loader")
    (shows,) = listed["shows"]
    assert listed["key_ids"] == [shows["key_id"]] == [desk.credentials("loader").key_id]
    assert (shows["form"], shows["shown"].rsplit("/", 1)[1]) == ("spiffe", "loader")


def commit_by_certificate(desk: Desk) -> tuple[str, IssuedCapability]:
    """A user proposes, who signs over a proxy's connection; the holder does all the rest and signs nothing."""
    user = Credentials.from_file(desk.folder / "data" / "credentials" / "harbour-books-user.json")
    proxy, loader = desk.credentials("proxy"), desk.credentials("loader")
    with desk.connected(user, proxy.tls) as proposer, desk.connected(loader) as holder:
        proposal = proposer.propose(memory_namespace="office/workflow", memory_type="snapshot", content=CONTENT)
        validation, decision = holder.validate(proposal), holder.evaluate_policy(proposal)
        assert decision.outcome == "allow", decision
        capability = holder.issue(
            proposal,
            validation_receipt=validation.receipt,
            decision_receipt=decision.receipt,
            commit_idempotency_key="certified",
        )
        assert not holder.commit(capability, content=CONTENT).replayed
    return proposal.proposal_id, capability


def bind_tokens_as_shown(desk: Desk) -> None:
    """The user's token, by the documented commands, and one for the holder."""
    for example in examples("docs/identities.md", "Bearer tokens"):
        at = ("--data", "data") if "principals" in example.command else ()
        assert not example.difference(desk.ran(*example.arguments(), *at).out)
    loader = ("--tenant", TENANT, "--principal", "desk|loader", "--token-subject", ISSUER, "loader-7")
    assert desk.operator("principals", "bind", *loader).code == 0


def assert_bearers_call(desk: Desk, proposal_id: str, capability: IssuedCapability) -> None:
    """Over connections that a proxy opened, or whose certificate is theirs; a holder's bearer has its receipt."""
    proxy, loader = desk.credentials("proxy"), desk.credentials("loader")
    with desk.connected(proxy, token=desk.token("user-7")) as bearer:
        assert bearer.get_proposal(proposal_id).proposal_id == proposal_id
    with desk.connected(proxy, token=desk.token("loader-7")) as bearer:
        assert bearer.commit(capability, content=CONTENT).replayed
    with desk.connected(loader, token=desk.token("user-7")) as two, pytest.raises(CallerUnauthenticated):
        two.get_proposal(proposal_id)


def assert_probes_show_certificates(desk: Desk) -> None:
    """Health needs no proof, but a connection."""
    asked = ("health", desk.address, "--tls-certificate", "dev-certs/ca.pem", "--timeout")
    shown = ("--client-certificate", "dev-certs/desk-proxy.pem", "--client-key", "dev-certs/desk-proxy-key.pem")
    assert (desk.ran(*asked, "30", *shown).code, desk.ran(*asked, "2").code) == (0, 1)
    assert desk.ran(*asked, "2", *shown[:2]).code == 2
