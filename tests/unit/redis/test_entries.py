"""Values come back exactly as they were packed, and nothing else passes for one."""

from hypothesis import given
from hypothesis import strategies as st

from authority.domain.plan import StoredReceipt
from authority.domain.statement import Statement
from authority.redis.entries import pack_lease, pack_receipt, running_fingerprint, unpack_receipt
from tests.redis_room import CLAIM, receipt_of

receipts = st.builds(
    StoredReceipt,
    st.text(),
    st.text(),
    st.builds(Statement, st.text(), st.binary(), st.text(), st.binary()),
    st.binary(),
)


@given(receipts)
def test_a_receipt_comes_back_exactly(receipt: StoredReceipt) -> None:
    assert unpack_receipt(pack_receipt(receipt)) == receipt


@given(st.text(), st.binary())
def test_a_lease_tells_its_fingerprint(token: str, fingerprint: bytes) -> None:
    assert running_fingerprint(pack_lease(token, fingerprint)) == fingerprint


@given(st.tuples(st.text(), st.binary()), st.tuples(st.text(), st.binary()))
def test_b03_leases_are_equal_only_when_token_and_fingerprint_are(
    one: tuple[str, bytes], other: tuple[str, bytes]
) -> None:
    assert (pack_lease(*one) == pack_lease(*other)) is (one == other)


@given(st.binary())
def test_any_bytes_are_an_entry_only_when_packing_gives_them_again(data: bytes) -> None:
    receipt = unpack_receipt(data)
    assert receipt is None or pack_receipt(receipt) == data


def test_every_cut_and_every_changed_byte_is_no_entry_or_another_one() -> None:
    # given an entry
    entry = pack_receipt(receipt_of(CLAIM))

    # then none of its beginnings is one
    assert [unpack_receipt(entry[:end]) for end in range(len(entry))] == [None] * len(entry)

    # and a changed byte is never overlooked
    for at in range(len(entry)):
        changed = entry[:at] + bytes([entry[at] ^ 0xFF]) + entry[at + 1 :]
        assert unpack_receipt(changed) != receipt_of(CLAIM)


def test_a_lease_is_no_receipt_and_a_receipt_no_lease() -> None:
    assert unpack_receipt(pack_lease("token", CLAIM.fingerprint)) is None
    assert running_fingerprint(pack_receipt(receipt_of(CLAIM))) is None
