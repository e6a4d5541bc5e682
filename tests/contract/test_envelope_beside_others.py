"""An envelope of upstream beside a certificate or a token: all that a call shows names one principal, or nobody."""

from typing import Any

import pytest

from authority.domain.credential import Credential, CredentialForm
from authority.domain.identity import Caller
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.signing.action_envelopes import SignedEnvelopeReader
from authority.usecases.authenticate import Shown
from authority.usecases.commit import CommitRequest
from authority.usecases.prove_by_envelope import ProveByEnvelope
from tests.contract.test_authenticating import SPIFFE, Desk
from tests.world.enveloping import envelope_of
from tests.world.identities import bind
from tests.world.token_issuers import ISSUER
from tests.world.world import World, must, reason_of, soon


@pytest.fixture
async def desk(world: World) -> Desk:
    """The service has a certificate and a token, the user a token of its own."""
    await bind(world, world.service, Credential(CredentialForm.SPIFFE, SPIFFE))
    await bind(world, world.service, Credential(CredentialForm.TOKEN, "svc-1", ISSUER))
    await bind(world, world.user, Credential(CredentialForm.TOKEN, "user-1", ISSUER))
    return Desk(world)


async def asked(desk: Desk, *, forged: bool = False, **shown: Any) -> Caller | Refusal:
    """Who commits by an envelope of the service, with all this shown beside it."""
    world, authority = desk.world, desk.world.authority
    issued = await world.issued()
    presented = envelope_of(world, issued, **({"requestDigest": "sha256:" + "0" * 64} if forged else {}))
    prove = ProveByEnvelope(
        desk.authenticate, authority.reader, SignedEnvelopeReader(), authority.store.key_names, authority.clock
    )
    request = CommitRequest(issued.capability.statement, issued.presentation, soon(30))
    proven = await prove(Shown(**shown), request, presented)
    return proven if isinstance(proven, Refusal) else proven.caller


async def test_what_agrees_leaves_the_key_as_what_it_is_known_by(desk: Desk) -> None:
    for shown in (
        {"authorizations": [desk.bearer()]},
        {"certificate": desk.certificate(SPIFFE)},
        {"certificate": desk.certificate(SPIFFE), "authorizations": [desk.bearer()], "tenants": [desk.tenant]},
        # a certificate that is registered for nobody may be a proxy's
        {"certificate": desk.certificate("spiffe://harbour.example/proxy")},
    ):
        caller = must(await asked(desk, **shown))
        assert (caller.ref, caller.key_id) == (desk.world.service.ref, desk.world.service.key_id)


async def test_who_shows_a_token_is_valid_for_no_longer_than_that(desk: Desk) -> None:
    caller = must(await asked(desk, authorizations=[desk.bearer()]))

    assert caller.valid_until is not None
    assert must(await asked(desk)).valid_until is None


async def test_what_does_not_agree_is_nobody(desk: Desk) -> None:
    for shown in (
        {"authorizations": [desk.bearer("user-1")]},
        {"authorizations": ["Bearer x"]},
        {"authorizations": [desk.bearer()] * 2},
        {"authorizations": [desk.bearer()], "is_private": False},
        {"certificate": b"x"},
        {"tenants": ["cognitum-tenant|elsewhere"]},
        {"tenants": [desk.tenant] * 2},
    ):
        assert reason_of(await asked(desk, **shown)) is Reason.CALLER_UNAUTHENTICATED, shown


async def test_a_token_that_is_none_is_told_before_an_envelope_that_is_none(desk: Desk) -> None:
    assert reason_of(await asked(desk, forged=True, authorizations=["Bearer x"])) is Reason.CALLER_UNAUTHENTICATED
    assert reason_of(await asked(desk, forged=True, authorizations=[desk.bearer()])) is Reason.PROOF_INVALID
