"""Good signatures are remembered, up to a limit, and nothing else is."""

from dataclasses import replace

from authority.domain.statement import Statement
from authority.signing.codec.invocation import encode_invocation
from authority.signing.verified import VerifiedSignatures
from capability_authority.offline import PrivateKey, PublicKey, statement_digest
from tests.unit.signing import kinds, samples

HOLDER = PrivateKey.generate()


class CountingKey(PublicKey):
    """The public key, that counts how often it had to verify."""

    verifications = 0

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Verifies as always."""
        type(self).verifications += 1
        return super().verify(signature, message)


def counting_key() -> type[CountingKey]:
    """A class of its own for each test, for the key itself is frozen."""
    return type("OwnKey", (CountingKey,), {"__slots__": ()})


def statement(number: int) -> Statement:
    """A statement by the holder; another number gives another one."""
    message = encode_invocation(replace(samples.INVOCATION, request_digest=samples.digest(number)))
    return kinds.signed(kinds.INVOCATION.payload_type, message.SerializeToString(deterministic=True), HOLDER)


def test_the_same_statement_costs_one_verification() -> None:
    own = counting_key()
    key, verified, good = own(HOLDER.public_key.raw), VerifiedSignatures(), statement(1)
    assert [verified.check(good, key) for _ in range(5)] == [True] * 5
    assert own.verifications == 1


def test_a_bad_signature_is_never_remembered_and_pushes_nothing_out() -> None:
    # Given room for one, which a good one takes
    own = counting_key()
    key, verified, good = own(HOLDER.public_key.raw), VerifiedSignatures(1), statement(1)
    assert verified.check(good, key)

    # When bad ones follow, one of them twice
    bad = replace(good, signature=bytes(64))
    assert not verified.check(bad, key)
    assert not verified.check(bad, key)
    assert not verified.check(replace(good, payload=b""), key)

    # Then each was verified, and the good one is still remembered
    assert own.verifications == 4
    assert verified.check(good, key)
    assert own.verifications == 4


def test_the_one_not_seen_for_longest_is_forgotten_at_the_limit() -> None:
    # Given room for two, the first seen again after the second
    own = counting_key()
    key, verified = own(HOLDER.public_key.raw), VerifiedSignatures(2)
    first, second, third = statement(1), statement(2), statement(3)
    assert all(verified.check(each, key) for each in (first, second, first, third))
    assert own.verifications == 3

    # Then the third has pushed out the second
    assert verified.check(first, key)
    assert verified.check(third, key)
    assert own.verifications == 3
    assert verified.check(second, key)
    assert own.verifications == 4


def test_a_remembered_signature_is_one_of_that_key_only() -> None:
    # Given a statement remembered under its key
    verified, good = VerifiedSignatures(), statement(1)
    verified.remember(good, statement_digest(good.payload_type, good.payload))

    # Then it is no other key's
    other = PrivateKey.generate().public_key
    assert verified.check(good, HOLDER.public_key)
    assert not verified.check(good, other)
    assert not verified.check(replace(good, key_id=other.key_id), other)
