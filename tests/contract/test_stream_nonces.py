"""The port `StreamNonces`: what every store keeps to, Redis or none."""

import asyncio

from authority.domain.identity import Caller, Proof
from authority.domain.reasons import Reason
from authority.domain.references import MINUTE
from authority.domain.refusal import Refusal
from authority.usecases.admit import AdmitStream
from tests.world.world import World

NONCE, OTHER = b"n" * 16, b"n" * 17
REPLAYED = Refusal(Reason.PROOF_REPLAYED)


async def test_i04_a_proof_opens_one_stream(world: World) -> None:
    nonces, key_id = world.authority.store.stream_nonces, world.service.key_id
    assert await nonces.use(world.tenant, key_id, NONCE) is None
    assert await nonces.use(world.tenant, key_id, NONCE) == REPLAYED
    # and it does not open another as long as it could be fresh
    world.authority.clock.advance(2 * MINUTE)
    assert await nonces.use(world.tenant, key_id, NONCE) == REPLAYED


async def test_another_nonce_another_key_and_another_tenant_do_not_matter(world: World) -> None:
    nonces, key_id = world.authority.store.stream_nonces, world.service.key_id
    neighbour = await world.neighbour()
    assert await nonces.use(world.tenant, key_id, NONCE) is None
    assert await nonces.use(world.tenant, key_id, OTHER) is None
    assert await nonces.use(world.tenant, world.user.key_id, NONCE) is None
    assert await nonces.use(neighbour.tenant, key_id, NONCE) is None


async def test_i04_of_a_hundred_that_open_with_one_proof_one_does(world: World) -> None:
    nonces, key_id = world.authority.store.stream_nonces, world.service.key_id
    answers = await asyncio.gather(*(nonces.use(world.tenant, key_id, NONCE) for _ in range(100)))
    assert answers.count(None) == 1
    assert answers.count(REPLAYED) == 99


async def test_i05_a_proof_that_does_not_fit_opens_none_and_is_not_used_up(world: World) -> None:
    # given a proof that was made for something else
    admit, service = AdmitStream(world.authority.store.stream_nonces), world.service
    misfit = Refusal(Reason.PROOF_INVALID, {"proof": "method"})

    def opening(refusal: Refusal | None) -> Caller:
        return Caller(service.principal, service.key_id, Proof(NONCE, refusal), one_use=False)

    # when it comes, then it is refused for that, also after its nonce was used
    assert await admit(opening(misfit)) == misfit
    assert await admit(opening(None)) is None
    assert await admit(opening(misfit)) == misfit
    assert await admit(opening(None)) == REPLAYED
