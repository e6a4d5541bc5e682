"""Who calls, by Invocation, certificate and token, over the registry of every store (semantics §2)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from authority.domain.certificate import spki
from authority.domain.credential import Credential, CredentialForm
from authority.domain.identity import Caller
from authority.domain.invocation import Call
from authority.domain.reasons import Reason
from authority.domain.references import HOUR, MINUTE, SECOND, Instant
from authority.domain.refusal import Refusal
from authority.signing.certificates import CertificateReader, read_certificate
from authority.tokens.verifier import TokenVerifier
from authority.usecases.admit import Admit
from authority.usecases.authenticate import Authenticate, Shown
from authority.usecases.commit import CommitAnswer
from authority.usecases.recheck import Recheck
from capability_authority.offline import make_invocation
from capability_authority.v1 import types_pb2
from tests.world.authority import HERE
from tests.world.certificates import Pair, TestAuthority
from tests.world.identities import Shower, bind
from tests.world.token_issuers import ISSUER, LIFE_S, TestIssuer
from tests.world.world import Person, World, must

NOBODY = Refusal(Reason.CALLER_UNAUTHENTICATED)
METHOD = "/capability_authority.v1.MemoryService/GetMemoryRecord"
CALL = Call(HERE.audience, METHOD, sha256(b"").digest(), is_read=True)
SPIFFE = "spiffe://harbour.example/svc/loader"
CLIENTS = TestAuthority()


class Desk:
    """The world's authentication, and what its people can show."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.issuer = TestIssuer(world.now())
        authority = world.authority
        self.tokens = TokenVerifier([self.issuer.trusted()], authority.clock)
        self.authenticate = Authenticate(
            authority.reader,
            authority.store.registry,
            authority.clock,
            CertificateReader(),
            frozenset({"harbour.example"}),
            self.tokens,
        )

    async def who(self, **shown: object) -> str:
        """The name of who calls; empty for nobody."""
        found = await self.ask(**shown)
        assert isinstance(found, Caller) or found == NOBODY
        return found.ref.id if isinstance(found, Caller) else ""

    async def ask(self, **shown: object) -> Caller | Refusal:
        """What is answered."""
        return await self.authenticate(Shown(**shown), CALL)  # type: ignore[arg-type] # said by name

    def certificate(self, *uris: str, common_name: str = "", **options: object) -> bytes:
        """One that is valid in the world's time."""
        return self.pair(*uris, common_name=common_name, **options).certificate

    def pair(self, *uris: str, **options: object) -> Pair:
        """The same with its key."""
        now = datetime.fromtimestamp(self.world.now() / SECOND, UTC)
        return CLIENTS.client(*uris, now=now, **options)  # type: ignore[arg-type] # passed on

    def proof(self, person: Person) -> bytes:
        """An Invocation of the call."""
        tenant, ref = person.principal.tenant, person.ref
        return make_invocation(
            private_key=person.key,
            tenant=types_pb2.TenantRef(namespace=tenant.namespace, id=tenant.id),
            principal=types_pb2.PrincipalRef(namespace=ref.namespace, id=ref.id),
            audience=HERE.audience,
            method=METHOD,
            request_bytes=b"",
            nonce=bytes(16),
            issued_ms=self.world.now(),
        )

    def bearer(self, subject: str = "svc-1", **changes: object) -> str:
        """The metadata of a token."""
        return "Bearer " + self.issuer.token(self.issuer.claims(self.world.tenant, subject, **changes))

    @property
    def tenant(self) -> str:
        """As metadata names it."""
        return str(self.world.tenant)


@pytest.fixture
async def desk(world: World) -> Desk:
    """The service has a certificate and a token, the user a token of its own."""
    await bind(world, world.service, Credential(CredentialForm.SPIFFE, SPIFFE))
    await bind(world, world.service, Credential(CredentialForm.TOKEN, "svc-1", ISSUER))
    await bind(world, world.user, Credential(CredentialForm.TOKEN, "user-1", ISSUER))
    return Desk(world)


# --- certificates -----------------------------------------------------------------------------------------------------


async def test_a_certificate_names_its_principal_in_the_tenant_that_the_call_names(desk: Desk) -> None:
    certificate = desk.certificate(SPIFFE)
    found = await desk.ask(certificate=certificate, tenants=[desk.tenant])
    assert isinstance(found, Caller)
    assert (found.principal, found.proof, found.one_use) == (desk.world.service.principal, None, False)
    assert found.key_id == Credential(CredentialForm.SPIFFE, SPIFFE).id
    # and its calls need no memory of nonces, which is away here
    assert await Admit(nonces=None)(found) is None  # type: ignore[arg-type] # never asked
    # given no tenant, another, two of them, or what names none, then nobody calls
    assert await desk.who(certificate=certificate) == ""
    for tenants in (["test|nowhere"], [desk.tenant] * 2, [""], ["nowhere"], [desk.tenant + "|x"], [desk.tenant + "\n"]):
        assert await desk.who(certificate=certificate, tenants=tenants) == ""


async def test_a_public_key_or_a_subject_binds_whatever_certificate_shows_it(desk: Desk) -> None:
    # given the agent's public key, and the observer's distinguished name
    pair = desk.pair(common_name="agent")
    await bind(desk.world, desk.world.agent, spki(read_certificate(pair.certificate).spki_digest))
    await bind(desk.world, desk.world.observer, Credential(CredentialForm.SUBJECT, "CN=observer.harbour"))
    assert await desk.who(certificate=pair.certificate, tenants=[desk.tenant]) == "agent"
    by_name = desk.certificate(common_name="observer.harbour")
    assert await desk.who(certificate=by_name, tenants=[desk.tenant]) == "observer"
    # and part of a name, or another case, is another name
    for other in ("observer.harbour.evil", "Observer.harbour", "observer"):
        assert await desk.who(certificate=desk.certificate(common_name=other), tenants=[desk.tenant]) == ""


@pytest.mark.parametrize(
    "make",
    [
        lambda desk: desk.certificate(SPIFFE, "spiffe://harbour.example/svc/other"),
        lambda desk: desk.certificate(SPIFFE, "https://harbour.example"),
        lambda desk: desk.certificate("spiffe://elsewhere.example/svc/loader"),
        lambda desk: desk.certificate(SPIFFE.upper()),
        lambda desk: desk.certificate(SPIFFE + "/"),
        lambda desk: desk.certificate("spiffe://harbour.example/svc/../svc/loader"),
        lambda desk: desk.certificate("spiffe://harbour.example:443/svc/loader"),
        lambda desk: desk.certificate(common_name=SPIFFE),
        lambda desk: desk.certificate(SPIFFE, common_name=SPIFFE),
        lambda desk: desk.certificate(SPIFFE, is_authority=True),
        lambda desk: desk.certificate(SPIFFE, until=-timedelta(seconds=1), since=-timedelta(seconds=60)),
        lambda desk: desk.certificate(SPIFFE, since=timedelta(seconds=60)),
        lambda _: b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        lambda _: b"\x00" * 100_000,
    ],
)
async def test_a_certificate_that_nobody_may_show_is_refused_beside_whatever_else(
    desk: Desk, make: Callable[[Desk], bytes]
) -> None:
    certificate = make(desk)
    assert await desk.who(certificate=certificate, tenants=[desk.tenant]) == ""
    assert await desk.who(certificate=certificate, proofs=[desk.proof(desk.world.service)]) == ""
    assert await desk.who(certificate=certificate, authorizations=[desk.bearer()]) == ""


async def test_a_certificate_that_is_two_principals_is_nobodys(desk: Desk) -> None:
    pair = desk.pair(SPIFFE)
    await bind(desk.world, desk.world.user, spki(read_certificate(pair.certificate).spki_digest))
    assert await desk.who(certificate=pair.certificate, tenants=[desk.tenant]) == ""


async def test_g02_a_certificate_of_one_tenant_is_nobody_in_another(desk: Desk) -> None:
    neighbour = await desk.world.neighbour()
    certificate = desk.certificate(SPIFFE)
    assert await desk.who(certificate=certificate, tenants=[str(neighbour.tenant)]) == ""
    assert await desk.who(certificate=certificate, tenants=[desk.tenant]) == "service"


async def test_a_revoked_credential_or_principal_calls_no_more(desk: Desk) -> None:
    administration, world = desk.world.authority.store.administration, desk.world
    for credential in (Credential(CredentialForm.SPIFFE, SPIFFE), Credential(CredentialForm.TOKEN, "svc-1", ISSUER)):
        await administration.revoke_principal_key(world.tenant, credential.id, world.now())
    assert await desk.who(certificate=desk.certificate(SPIFFE), tenants=[desk.tenant]) == ""
    assert await desk.who(authorizations=[desk.bearer()]) == ""
    await administration.revoke_principal(world.tenant, world.user.ref, world.now())
    assert await desk.who(authorizations=[desk.bearer("user-1")]) == ""


# --- tokens -----------------------------------------------------------------------------------------------------------


async def test_a_token_names_who_is_registered_by_issuer_and_subject(desk: Desk) -> None:
    found = await desk.ask(authorizations=[desk.bearer()])
    assert isinstance(found, Caller)
    assert (found.principal, found.has_bound_key, found.proof) == (desk.world.service.principal, False, None)
    assert found.valid_until == desk.world.now() + LIFE_S * SECOND
    assert await desk.who(authorizations=[desk.bearer("user-1")]) == "user"
    for subject in ("nobody", "SVC-1", "svc-1 ", "service"):
        assert await desk.who(authorizations=[desk.bearer(subject)]) == ""


async def test_a_token_is_taken_once_and_only_where_nobody_reads_along(desk: Desk) -> None:
    bearer = desk.bearer()
    assert await desk.who(authorizations=[bearer], is_private=False) == ""
    for entries in ([bearer, bearer], ["Basic x", bearer], [bearer.removeprefix("Bearer ")], ["Bearer"], ["Basic x"]):
        assert await desk.who(authorizations=entries) == ""
    # and nothing that is shown beside helps what cannot be verified
    assert await desk.who(authorizations=["Bearer x"], proofs=[desk.proof(desk.world.service)]) == ""


async def test_where_no_issuer_is_configured_authorizations_are_not_looked_at(desk: Desk) -> None:
    desk.authenticate = Authenticate(desk.authenticate.statements, desk.authenticate.registry, desk.authenticate.clock)
    assert await desk.who(authorizations=["Bearer x"], proofs=[desk.proof(desk.world.service)]) == "service"
    assert await desk.who(authorizations=[desk.bearer()]) == ""


async def test_g01_tenants_of_token_and_metadata_agree_or_nobody_calls(desk: Desk) -> None:
    assert await desk.who(authorizations=[desk.bearer()], tenants=[desk.tenant]) == "service"
    assert await desk.who(authorizations=[desk.bearer()], tenants=["test|elsewhere"]) == ""
    for tenant in ("test|elsewhere", "", desk.world.tenant.id, None, 7, [desk.tenant]):
        assert await desk.who(authorizations=[desk.bearer(tenant=tenant)], tenants=[desk.tenant]) == ""


# --- together ---------------------------------------------------------------------------------------------------------


async def test_what_is_shown_together_must_name_one_principal(desk: Desk) -> None:
    service, user = desk.proof(desk.world.service), desk.proof(desk.world.user)
    certificate, bearer = desk.certificate(SPIFFE), desk.bearer()
    # given all three of one, then the key that signed is what it is taken to hold, and the token's end is its end
    found = await desk.ask(proofs=[service], certificate=certificate, authorizations=[bearer])
    assert isinstance(found, Caller)
    assert (found.key_id, found.has_bound_key, found.one_use) == (desk.world.service.key_id, True, True)
    assert found.valid_until == desk.world.now() + LIFE_S * SECOND
    # given two of one, then the stronger
    found = await desk.ask(certificate=certificate, authorizations=[bearer])
    assert isinstance(found, Caller)
    assert (found.key_id, found.has_bound_key) == (Credential(CredentialForm.SPIFFE, SPIFFE).id, True)
    # given two of two, then nobody
    assert await desk.who(proofs=[user], certificate=certificate) == ""
    assert await desk.who(proofs=[user], authorizations=[bearer]) == ""
    assert await desk.who(authorizations=[desk.bearer("user-1")], certificate=certificate) == ""
    assert await desk.who(proofs=[service], tenants=["test|elsewhere"]) == ""
    # and one registered for nobody, as a proxy's, leaves it to who signs
    proxy = desk.certificate("spiffe://harbour.example/proxy")
    assert await desk.who(proofs=[user], certificate=proxy) == "user"
    assert await desk.who(certificate=proxy, tenants=[desk.tenant]) == ""


async def test_i06_two_proofs_are_refused_whatever_else_is_shown(desk: Desk) -> None:
    proof = desk.proof(desk.world.service)
    assert await desk.who(proofs=[proof, proof], certificate=desk.certificate(SPIFFE), tenants=[desk.tenant]) == ""


async def test_an_invocation_can_not_be_signed_in_the_name_of_a_certificate(desk: Desk) -> None:
    # given an Invocation that names the certificate's credential as its key: there is no key with that thumbprint
    registry, world = desk.world.authority.store.registry, desk.world
    credential = Credential(CredentialForm.SPIFFE, SPIFFE)
    found = await registry.active_key(world.tenant, world.service.ref, credential.id)
    assert found is not None
    assert found.public_key == b""
    opened = world.authority.reader.open_invocation(desk.proof(world.service))
    assert opened is not None
    for key_id in (credential.id, opened.statement.key_id):
        assert not world.authority.reader.is_signed_by(replace(opened.statement, key_id=key_id), found.public_key)


# --- what a holder is bound by ----------------------------------------------------------------------------------------


async def test_a_holder_bound_by_certificate_commits_without_a_signature(desk: Desk) -> None:
    # given a capability whose holder key is the certificate's credential
    world, credential = desk.world, Credential(CredentialForm.SPIFFE, SPIFFE)
    by_certificate = await desk.ask(certificate=desk.certificate(SPIFFE), tenants=[desk.tenant])
    assert isinstance(by_certificate, Caller)
    holder = Shower(world.service.principal, world.service.key, by_certificate)
    issued = await world.issued(holder=holder)
    assert issued.capability.terms.holder_key.hex() == credential.id.removeprefix("sha256:")

    # when the same principal commits by its key that signs, then that is not the bound one
    assert await world.commit(issued, by=world.service) == Refusal(Reason.BINDING_MISMATCH, {"term": "holder_key"})
    # when it commits by the certificate, then once, and it may have the receipt again
    first, again = must(await world.commit(issued, by=holder)), must(await world.commit(issued, by=holder))
    assert (first.replayed, again.replayed) == (False, True)


async def test_i11_a_revoked_certificate_commits_nothing_more(desk: Desk) -> None:
    world, credential = desk.world, Credential(CredentialForm.SPIFFE, SPIFFE)
    by_certificate = await desk.ask(certificate=desk.certificate(SPIFFE), tenants=[desk.tenant])
    assert isinstance(by_certificate, Caller)
    holder = Shower(world.service.principal, world.service.key, by_certificate)
    issued = await world.issued(holder=holder)
    await world.authority.store.administration.revoke_principal_key(world.tenant, credential.id, world.now())
    # even for a call that was authenticated a moment before
    answer = await world.commit(issued, by=holder)
    assert isinstance(answer, Refusal)
    assert answer.reason is Reason.KEY_REVOKED


async def test_a_bearer_commits_nothing_new_and_may_have_what_was_committed(desk: Desk) -> None:
    # given a capability bound to the service's key
    world = desk.world
    by_token = await desk.ask(authorizations=[desk.bearer()])
    assert isinstance(by_token, Caller)
    bearer = Shower(world.service.principal, world.service.key, by_token)
    issued = await world.issued()
    # when its bearer commits, then it is refused, and nothing is burnt
    assert await world.commit(issued, by=bearer) == Refusal(Reason.HOLDER_MISMATCH)
    first = must(await world.commit(issued))
    assert not first.replayed
    # then it may have the receipt
    again = await world.commit(issued, by=bearer)
    assert isinstance(again, CommitAnswer)
    assert (again.replayed, again.receipt) == (True, first.receipt)


async def test_g02_a_statement_of_another_tenant_is_not_for_a_token_or_certificate_of_this(desk: Desk) -> None:
    # given a capability of a neighbour's service, which has the same name
    world, neighbour = desk.world, await desk.world.neighbour()
    issued = await neighbour.issued()
    for shown in ({"authorizations": [desk.bearer()]}, {"certificate": desk.certificate(SPIFFE)}):
        caller = await desk.ask(tenants=[desk.tenant], **shown)
        assert isinstance(caller, Caller)
        holder = Shower(world.service.principal, world.service.key, caller)
        assert await world.commit(issued, by=holder) == Refusal(Reason.HOLDER_MISMATCH)


async def test_no_capability_is_issued_to_a_token(desk: Desk) -> None:
    by_token = await desk.ask(authorizations=[desk.bearer()])
    assert isinstance(by_token, Caller)
    world = desk.world
    holder = Shower(world.service.principal, world.service.key, by_token)
    answer = await world.issue(await world.allowed(), "key", holder=holder)
    assert isinstance(answer, Refusal)
    assert answer.reason is Reason.NOT_ALLOWED


async def test_a_stream_ends_with_the_credential_that_opened_it(desk: Desk) -> None:
    # given streams that were opened by certificate and by token, when those are revoked
    world, certificate = desk.world, Credential(CredentialForm.SPIFFE, SPIFFE)
    callers = (
        await desk.ask(certificate=desk.certificate(SPIFFE), tenants=[desk.tenant]),
        await desk.ask(authorizations=[desk.bearer()]),
    )
    for caller, credential in zip(
        callers, (certificate, Credential(CredentialForm.TOKEN, "svc-1", ISSUER)), strict=True
    ):
        assert isinstance(caller, Caller)
        stream = await world.authority.do.open_commit_stream(caller)
        recheck = Recheck(world.authority.store.registry, world.authority.clock, caller)
        assert not isinstance(stream, Refusal)
        assert await recheck() is None
        await world.authority.store.administration.revoke_principal_key(world.tenant, credential.id, world.now())
        assert await stream(Refusal(Reason.MALFORMED)) == NOBODY
        assert await recheck() == NOBODY


@pytest.mark.parametrize("by", ["certificate", "token"])
async def test_a_stream_ends_with_what_opened_it(desk: Desk, by: str) -> None:
    # given a stream that was opened by what is valid for some minutes
    world = desk.world
    shown: dict[str, dict[str, object]] = {
        "certificate": {"certificate": desk.certificate(SPIFFE), "tenants": [desk.tenant]},
        "token": {"authorizations": [desk.bearer()]},
    }
    caller = await desk.ask(**shown[by])
    assert isinstance(caller, Caller)
    stream = await world.authority.do.open_commit_stream(caller)
    assert not isinstance(stream, Refusal)
    assert await stream(Refusal(Reason.MALFORMED)) == Refusal(Reason.MALFORMED)
    recheck = Recheck(world.authority.store.registry, world.authority.clock, caller)
    assert await recheck() is None
    # when those are over, then its items are nobody's
    assert caller.valid_until is not None
    world.authority.clock.instant = Instant(caller.valid_until)
    assert await stream(Refusal(Reason.MALFORMED)) == NOBODY
    assert await recheck() == NOBODY
    assert HOUR >= caller.valid_until - desk.issuer.now >= MINUTE
