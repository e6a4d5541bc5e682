"""When the authority's keys are asked for, and when what is known suffices."""

import asyncio
from typing import Unpack

import pytest

from capability_authority.client.call_options import CallOptions
from capability_authority.client.key_sets import KEY_SET_LIFETIME, KeySets
from capability_authority.offline import KeySetRefused, KeyUnknown, PrivateKey, sign
from capability_authority.v1.capability_service_pb2 import GetKeySetResponse
from capability_authority.v1.statements_pb2 import CommitReceipt
from capability_authority.v1.types_pb2 import KEY_PURPOSE_RECEIPT, KEY_STATE_ACTIVE

ISSUER = "authority.example"
OLD, NEW = PrivateKey.from_seed(bytes(32)), PrivateKey.from_seed(bytes([1] * 32))


class Source:
    """An authority with one key, and the time."""

    def __init__(self) -> None:
        self.key = OLD
        self.issuer = ISSUER
        self.fetches = 0
        self.now = 1_000.0

    async def fetch(self, **_options: Unpack[CallOptions]) -> GetKeySetResponse:
        self.fetches += 1
        await asyncio.sleep(0)
        public = self.key.public_key
        return GetKeySetResponse(
            issuer=self.issuer,
            keys=[
                GetKeySetResponse.Key(
                    key_id=public.key_id, public_key=public.raw, purpose=KEY_PURPOSE_RECEIPT, state=KEY_STATE_ACTIVE
                )
            ],
        )

    def key_sets(self) -> KeySets:
        """What a client keeps of it."""
        return KeySets(self.fetch, issuer=ISSUER, pinned_key_ids=None, clock=lambda: self.now)


async def test_keys_are_fetched_once_for_all_who_ask_at_once() -> None:
    source = Source()
    key_sets = source.key_sets()

    found = await asyncio.gather(*[key_sets.current() for _ in range(10)])

    assert source.fetches == 1
    assert all(key_set.record(OLD.public_key.key_id) is not None for key_set in found)


async def test_keys_are_fetched_again_once_they_are_old() -> None:
    source = Source()
    key_sets = source.key_sets()
    await key_sets.current()

    source.now += KEY_SET_LIFETIME
    await key_sets.current()
    assert source.fetches == 1

    source.now += 0.001
    source.key = NEW
    assert (await key_sets.current()).record(NEW.public_key.key_id) is not None
    assert source.fetches == 2


async def test_a_key_that_is_not_known_is_looked_for_once() -> None:
    # Given keys that were fetched a while ago, and a receipt by a key that came since
    source = Source()
    key_sets = source.key_sets()
    await key_sets.current()
    source.now += 1
    source.key = NEW
    receipt = sign(CommitReceipt(issuer=ISSUER), NEW)

    # When it is verified, then the new key is found
    assert (await key_sets.verify_receipt(receipt, attestation=None, content=None)).issuer == ISSUER
    assert source.fetches == 2

    # When the key of another receipt is nowhere, then one more look is enough to say so
    source.now += 1
    with pytest.raises(KeyUnknown):
        await key_sets.verify_receipt(sign(CommitReceipt(issuer=ISSUER), OLD), attestation=None, content=None)
    assert source.fetches == 3


async def test_keys_of_another_issuer_are_not_kept() -> None:
    source = Source()
    key_sets = source.key_sets()
    source.issuer = "somebody.else"

    with pytest.raises(KeySetRefused):
        await key_sets.current()

    source.issuer = ISSUER
    assert (await key_sets.current()).issuer == ISSUER
