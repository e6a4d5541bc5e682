"""Every term and every part of a capability is tampered with, one at a time, and nothing else."""

import pytest

from authority.domain.statement import KeyPurpose, Statement
from authority.signing.tampering import NotACapability, tampered
from authority.signing.tampering import signed as untouched
from capability_authority.offline import PrivateKey
from capability_authority.v1.statements_pb2 import CommitCapability, SignedStatement
from tests.unit.signing import kinds
from tests.unit.signing.flips import field_paths
from tests.unit.signing.kinds import Kind, name_of, signed

KEY = PrivateKey.generate()
CAPABILITY = next(kind for kind in kinds.ALL if kind.purpose is KeyPurpose.CAPABILITY)
OTHERS = [kind for kind in kinds.ALL if kind is not CAPABILITY]


def of(kind: Kind) -> Statement:
    return signed(kind.payload_type, kind.payload(), KEY)


def test_e10_every_term_is_changed_by_itself() -> None:
    statement = of(CAPABILITY)
    terms = CommitCapability.FromString(statement.payload)
    changed = {}

    for one in tampered(statement):
        message = one.message
        assert isinstance(message, SignedStatement)
        if message.payload != statement.payload and one.what != "payload":
            told = CommitCapability.FromString(message.payload)
            differing = [
                field.name
                for field in CommitCapability.DESCRIPTOR.fields
                if getattr(told, field.name) != getattr(terms, field.name)
            ]
            assert differing == [one.what.partition(".")[0]], one
            changed[one.what] = message

    leaves = {
        path for path in field_paths(terms) if not any(other.startswith(f"{path}.") for other in field_paths(terms))
    }
    times = {path.rpartition(".")[0] for path in leaves if path.endswith((".seconds", ".nanos"))}
    assert set(changed) == {path for path in leaves if path.rpartition(".")[0] not in times} | times


def test_e10_every_other_part_is_changed_too() -> None:
    parts = {one.what for one in tampered(of(CAPABILITY))}

    assert {"payload", "signature", "key_id", "payload_type"} <= parts


def test_no_two_are_the_same_and_none_is_the_original() -> None:
    statement = of(CAPABILITY)
    original = untouched(statement).SerializeToString(deterministic=True)
    made = [one.message.SerializeToString(deterministic=True) for one in tampered(statement)]

    assert len({*made, original}) == len(made) + 1


@pytest.mark.parametrize("kind", OTHERS, ids=name_of)
def test_what_is_no_capability_is_refused(kind: Kind) -> None:
    with pytest.raises(NotACapability, match="only a commit capability"):
        list(tampered(of(kind)))
