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
    Committed,
    Credentials,
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


def test_what_is_shown_of_identities_works(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given the documented commands: the principal calls by its certificate, and is revoked only in the end
    _, add, call, revoke = examples("docs/identities.md", "On one machine")
    for example in (add, call):
        assert not example.difference(desk.operator(*example.arguments()).out)

    # When it commits, then by the certificate alone
    user = Credentials.from_file(desk.folder / "data" / "credentials" / "harbour-books-user.json")
    proxy, loader = desk.credentials("proxy"), desk.credentials("loader")
    with desk.connected(user, proxy.tls) as proposer, desk.connected(loader) as holder:
        proposal = proposer.propose(
            memory_namespace="office/workflow",
            memory_type="snapshot",
            content="The harbour office opens at eight.",
        )
        validation, decision = holder.validate(proposal), holder.evaluate_policy(proposal)
        assert decision.outcome == "allow", decision
        capability = holder.issue(
            proposal,
            validation_receipt=validation.receipt,
            decision_receipt=decision.receipt,
            commit_idempotency_key="certified",
        )
        committed = holder.commit(capability, content="The harbour office opens at eight.")
        assert isinstance(committed, Committed)

    # When tokens are bound as shown, then their bearers call, over connections that a proxy opened
    monkeypatch.setenv("AUTHORITY_TOKEN_ISSUERS", "issuers.toml")
    for example in examples("docs/identities.md", "Bearer tokens"):
        at = ("--data", "data") if "principals" in example.command else ()
        assert not example.difference(desk.ran(*example.arguments(), *at).out)
    assert desk.operator("principals", "bind", "--tenant", TENANT, "--principal", "desk|loader", "--token-subject",
                         ISSUER, "loader-7").code == 0  # fmt: skip
    with desk.connected(proxy, token=desk.token("user-7")) as bearer:
        assert (bearer.get_proposal(proposal.proposal_id)).proposal_id == proposal.proposal_id
    # but what a holder was issued is not a token's, though its receipt is
    with desk.connected(proxy, token=desk.token("loader-7")) as bearer:
        assert (bearer.commit(capability, content="The harbour office opens at eight.")).replayed
    with desk.connected(loader, token=desk.token("user-7")) as two, pytest.raises(CallerUnauthenticated):
        two.get_proposal(proposal.proposal_id)

    # Given a probe, then it shows a certificate, too
    asked = ("health", desk.address, "--tls-certificate", "dev-certs/ca.pem", "--timeout")
    shown = ("--client-certificate", "dev-certs/desk-proxy.pem", "--client-key", "dev-certs/desk-proxy-key.pem")
    assert (desk.ran(*asked, "30", *shown).code, desk.ran(*asked, "2").code) == (0, 1)
    assert desk.ran(*asked, "2", *shown[:2]).code == 2

    # When it is revoked, then its certificate is nobody's
    assert not revoke.difference(desk.operator(*revoke.arguments()).out)
    with desk.connected(loader) as gone, pytest.raises(CallerUnauthenticated):
        gone.get_proposal(proposal.proposal_id)
    # and nothing of a token or key is in the log
    log = (desk.folder / "serve.log").read_text()
    assert desk.token("user-7").split(".")[0] not in log
    assert "PRIVATE KEY" not in log

    # Given links, then as they are shown
    for example in examples("docs/identities.md", "One person"):
        assert not example.difference(desk.operator(*example.arguments()).out), example.command
