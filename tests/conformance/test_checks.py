"""A check that does not hold fails its step: of names that are equal, different, so, or verify."""

from collections import Counter

import pytest

from capability_authority.offline import KeyRecord, KeySet, PrivateKey, sign
from capability_authority.v1.statements_pb2 import RevocationHeartbeat
from capability_authority.v1.types_pb2 import KEY_PURPOSE_REVOCATION, KEY_STATE_ACTIVE, TenantRef
from capability_authority_conformance.paths import as_json
from capability_authority_conformance.running.checking import checked
from capability_authority_conformance.running.context import Run, StepFailed, Story
from capability_authority_conformance.substitution import NothingThere
from capability_authority_conformance.target.target import Address, Identity, Target
from capability_authority_conformance.v1.suite_pb2 import Check
from capability_authority_conformance.values import Json

KEY, OTHER = PrivateKey.from_seed(bytes(32)), PrivateKey.from_seed(bytes([1]) * 32)
SAID = RevocationHeartbeat(issuer="i", tenant=TenantRef(namespace="n", id="t"))
NAMES: dict[str, Json] = {
    "one": "a",
    "same": "a",
    "other": "b",
    "answer": {"id": "a", "count": "7"},
    "beat": as_json(sign(SAID, KEY)),
    "forged": as_json(sign(SAID, OTHER)),
}


@pytest.fixture
def story() -> Story:
    record = KeyRecord(public_key=KEY.public_key, purpose=KEY_PURPOSE_REVOCATION, state=KEY_STATE_ACTIVE)
    identity = Identity("i", "a", KeySet("i", {KEY.public_key.key_id: record}))
    return Story(Run("r", Target(Address("127.0.0.1:1")), identity, {}, {}, Counter()), dict(NAMES))


def fields(**expected: str) -> Check:
    """A check of what stands at `answer.id`, or what the whole answer is."""
    check = Check()
    check.fields.update({name.replace("__", "."): value for name, value in expected.items()})
    return check


@pytest.mark.parametrize(
    "check",
    [
        Check(equal=["one", "same", "answer.id"]),
        Check(different=["one", "other", "answer.count"]),
        Check(verifies={"beat": "RevocationHeartbeat"}),
        fields(answer__id="a", one="${same}"),
    ],
)
def test_what_holds(check: Check, story: Story) -> None:
    checked(check, story)


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (Check(equal=["one", "same", "other"]), "not equal: one = "),
        (Check(equal=["other", "one"]), "not equal"),
        (Check(different=["one", "other", "same"]), "not different: one = "),
        (Check(verifies={"forged": "RevocationHeartbeat"}), "forged does not verify"),
        (Check(verifies={"beat": "CommitReceipt"}), "beat does not verify as CommitReceipt"),
        (fields(answer__id="b"), "answer.id is "),
        (fields(one="${other}"), "one."),
    ],
)
def test_what_does_not_hold_is_told(check: Check, said: str, story: Story) -> None:
    with pytest.raises(StepFailed) as failed:
        checked(check, story)
    assert failed.value.got[0].startswith(said)


def test_all_that_does_not_hold_is_told_at_once(story: Story) -> None:
    with pytest.raises(StepFailed) as failed:
        checked(Check(equal=["one", "other"], different=["one", "same"]), story)
    assert len(failed.value.got) == 2


def test_what_was_never_saved_cannot_be_checked(story: Story) -> None:
    with pytest.raises(NothingThere):
        checked(Check(equal=["one", "absent"]), story)
