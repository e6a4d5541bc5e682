"""The real ids."""

from uuid import RFC_4122, UUID

from authority.bootstrap.system import SystemClock, TimeOrderedIds


def test_ids_are_uuids_of_version_7_of_the_present_millisecond() -> None:
    before = SystemClock().now()
    ids = [TimeOrderedIds().new() for _ in range(1_000)]
    after = SystemClock().now()
    for text in ids:
        uuid = UUID(text)
        assert (str(uuid), uuid.variant, uuid.version) == (text, RFC_4122, 7)
        assert before <= uuid.int >> 80 <= after
    assert len(set(ids)) == len(ids)


def test_every_random_bit_of_an_id_takes_both_values() -> None:
    random = (1 << 76) - 1 ^ 0b11 << 62  # What is neither time, nor version, nor variant.
    ids = [UUID(TimeOrderedIds().new()).int & random for _ in range(1_000)]
    ones = zeros = 0
    for number in ids:
        ones |= number
        zeros |= ~number & random
    assert (ones, zeros) == (random, random)
