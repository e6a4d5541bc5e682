"""Key names keep claims apart, generations apart, and the keys of a claim together."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.crc import key_slot

from authority.domain.plan import Claim
from authority.domain.references import PrincipalRef, TenantRef
from authority.redis.names import KeyNames
from authority.usecases.ports import DatabaseGeneration
from tests.redis_room import CLAIM

NAMES = KeyNames(DatabaseGeneration("7301234567890123456", "1"))
claims = st.builds(
    Claim,
    tenant=st.builds(TenantRef, st.text(), st.text()),
    holder=st.builds(PrincipalRef, st.text(), st.text()),
    idempotency_key=st.text(),
    fingerprint=st.binary(),
)


@given(claims)
def test_b12_the_keys_of_a_claim_share_a_slot(claim: Claim) -> None:
    keys = NAMES.claim(claim)
    assert keys.lease != keys.replay
    assert key_slot(keys.lease.encode()) == key_slot(keys.replay.encode())


def test_b12_claims_do_not_all_share_one_slot() -> None:
    claims = [replace(CLAIM, idempotency_key=f"key-{number}") for number in range(100)]
    assert len({key_slot(NAMES.claim(claim).lease.encode()) for claim in claims}) > 90
    assert len({key_slot(NAMES.nonce("key", bytes([number])).encode()) for number in range(100)}) > 90


@given(claims, claims)
def test_d11_claims_share_keys_only_when_all_their_parts_are_equal(one: Claim, other: Claim) -> None:
    same = replace(one, fingerprint=b"") == replace(other, fingerprint=b"")
    assert (NAMES.claim(one) == NAMES.claim(other)) is same


@given(claims)
def test_a18_the_fingerprint_is_not_in_the_name(claim: Claim) -> None:
    assert NAMES.claim(claim) == NAMES.claim(replace(claim, fingerprint=b"another"))


def test_d11_bytes_shifted_between_parts_make_another_name() -> None:
    assert NAMES.nonce("ab", b"c") != NAMES.nonce("a", b"bc")
    one = replace(CLAIM, tenant=TenantRef("a", "bc"))
    other = replace(CLAIM, tenant=TenantRef("ab", "c"))
    assert NAMES.claim(one) != NAMES.claim(other)


def test_a17_another_incarnation_has_other_names_for_what_was_made_from_the_database() -> None:
    later = KeyNames(DatabaseGeneration("7301234567890123456", "2"))
    assert later.claim(CLAIM).lease != NAMES.claim(CLAIM).lease
    assert later.claim(CLAIM).replay != NAMES.claim(CLAIM).replay
    # And the same for proofs of reads: one that was used stays used (case I03).
    assert later.nonce("key", b"nonce") == NAMES.nonce("key", b"nonce")


def test_another_database_has_other_names() -> None:
    other = KeyNames(DatabaseGeneration("7301234567890123457", "1"))
    assert other.claim(CLAIM).replay != NAMES.claim(CLAIM).replay
    assert other.nonce("key", b"nonce") != NAMES.nonce("key", b"nonce")
    assert other.probe() != NAMES.probe()


def test_names_follow_the_database() -> None:
    names = KeyNames(DatabaseGeneration("7301234567890123456", "0"))
    names.follow(DatabaseGeneration("7301234567890123456", "1"))
    assert names.claim(CLAIM) == NAMES.claim(CLAIM)


def test_names_show_neither_tenant_nor_key_and_stay_the_same() -> None:
    # Names are an interface between releases: a change here forgets every lease, cached receipt and nonce at once.
    keys = NAMES.claim(CLAIM)
    assert keys.lease == "authority:7301234567890123456:1:lease:{7e872c76685a3922b34edaf1e737dc6c}"
    assert keys.replay == "authority:7301234567890123456:1:replay:{7e872c76685a3922b34edaf1e737dc6c}"
    assert NAMES.nonce("key", b"nonce") == "authority:7301234567890123456:nonce:{919b873eecb6dbf53124cd859159ea9d}"


@pytest.mark.parametrize("part", ["", "a b", "a{b}", "a:b", "é", "a\n", "a" * 65])
def test_a_part_that_could_break_the_names_is_refused(part: str) -> None:
    for broken in (DatabaseGeneration(part, "1"), DatabaseGeneration("1", part)):
        with pytest.raises(ValueError, match="generation"):
            KeyNames(broken)
