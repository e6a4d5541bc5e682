"""Chains of grants as bytes: signed by whom they must be signed, and refused in every other form (cases E18, E21).

The numbered classes are those of the sample tokens that implementations of biscuit share, in this format.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from authority.domain.grant import Grant, OpenedGrant
from authority.domain.grant_use import GrantUse, judge_use
from authority.domain.reasons import Reason
from authority.domain.references import HOUR, PrincipalRef, after
from authority.domain.refusal import Refusal
from authority.domain.statement import KeyPurpose, KeyState, Statement
from authority.signing.codec.grant import encode_grant
from authority.signing.rotation import generate
from authority.usecases.grants.chains import GrantChains
from capability_authority.offline import PrivateKey, pae, sha256, sign
from tests.unit.signing import samples
from tests.unit.signing.conftest import Room, revoked
from tests.unit.signing.flips import flips
from tests.unit.signing.kinds import signed

USE = GrantUse(action="memory.propose", audience="memory.example", write_memory_namespace=samples.NAMESPACE)


def keyed(number: int) -> PrivateKey:
    """The key of the holder of one generation."""
    return PrivateKey.from_seed(samples.digest(number))


def holder_of(number: int) -> dict[str, Any]:
    """The terms that bind the holder of a generation."""
    public_key = keyed(number).public_key
    return {
        "holder": PrincipalRef("services", f"s{number}"),
        "holder_key": public_key.thumbprint,
        "holder_public_key": public_key.raw,
    }


ROOT: Grant = replace(
    samples.GRANT, delegation_depth=3, delegated_by=None, actor_chain=(), parent_digest=b"", **holder_of(0)
)


def derived(parent: OpenedGrant, number: int, **changes: Any) -> Grant:
    """What the parent's holder can hand on, all of it, to the holder of generation `number`."""
    terms = parent.terms
    widest: dict[str, Any] = {
        "issuer": "",
        "delegated_by": terms.holder,
        "actor_chain": (*terms.actor_chain, terms.holder),
        "delegation_depth": terms.delegation_depth - 1,
        "parent_digest": parent.digest,
        **holder_of(number),
    }
    return replace(terms, **{**widest, **changes})


@dataclass
class Workshop:
    """The authority's keys, and whoever presents chains to it."""

    room: Room
    chains: GrantChains = field(init=False)

    def __post_init__(self) -> None:
        self.chains = GrantChains(self.room.reader, samples.ISSUER)

    def root(self, **changes: Any) -> OpenedGrant:
        """A root that the authority made."""
        return self.room.signer.sign_grant(replace(ROOT, **changes))

    def child(self, parent: OpenedGrant, number: int = 1, by: PrivateKey | None = None, **changes: Any) -> OpenedGrant:
        """A child that the parent's holder, of the generation before, or whoever `by` is, made offline."""
        message = sign(encode_grant(derived(parent, number, **changes)), by or keyed(number - 1))
        statement = Statement(
            message.payload_type, message.payload, message.signature.key_id, message.signature.signature
        )
        opened = self.room.reader.open_grant(statement)
        assert isinstance(opened, OpenedGrant)
        return opened

    def judge(self, *chain: OpenedGrant | Statement) -> Reason | None:
        """What is said of the chain as it is presented, in bytes."""
        *ancestors, presented = [each if isinstance(each, Statement) else each.statement for each in chain]
        opened = self.chains.open(presented, ancestors)
        refusal = opened if isinstance(opened, Refusal) else self.chains.judge(opened)
        return refusal.reason if refusal else None


@pytest.fixture
def workshop(room: Room) -> Workshop:
    return Workshop(room)


def chain_of_three(workshop: Workshop) -> Sequence[OpenedGrant]:
    root = workshop.root()
    child = workshop.child(root)
    return root, child, workshop.child(child, 2)


def test_e21_001_a_good_chain_is_believed_also_when_it_comes_again(workshop: Workshop) -> None:
    chain = chain_of_three(workshop)

    assert workshop.judge(*chain) is None
    assert workshop.judge(*chain) is None
    assert workshop.judge(*chain[:2]) is None
    assert judge_use(chain, USE, samples.NOW) is None


def test_e21_002_a_root_by_another_authority_is_refused(workshop: Workshop) -> None:
    # Given a chain below a root that a stranger's key signed, in our name
    stranger = PrivateKey.generate()
    message = encode_grant(ROOT).SerializeToString(deterministic=True)
    root = workshop.room.reader.open_grant(signed(workshop.root().statement.payload_type, message, stranger))
    assert isinstance(root, OpenedGrant)

    assert workshop.judge(root, workshop.child(root)) is Reason.ISSUER_UNKNOWN


@pytest.mark.parametrize("size", [0, 16, 63, 65, 96])
@pytest.mark.parametrize("block", [0, 1, 2])
def test_e21_003_a_signature_of_another_length_is_refused(workshop: Workshop, size: int, block: int) -> None:
    statements = [each.statement for each in chain_of_three(workshop)]
    resized = (statements[block].signature * 2)[:size]
    statements[block] = replace(statements[block], signature=resized)

    assert workshop.judge(*statements) is Reason.SIGNATURE_INVALID


@pytest.mark.parametrize("block", [0, 1, 2])
def test_e18_e21_004_random_bytes_as_a_block_are_refused(workshop: Workshop, block: int) -> None:
    statements = [each.statement for each in chain_of_three(workshop)]
    noise = os.urandom(200)
    for key in (workshop.room.private_key(KeyPurpose.GRANT), keyed(0), keyed(1)):
        statements[block] = signed(statements[block].payload_type, noise, key)
        assert workshop.judge(*statements) is Reason.MALFORMED


@pytest.mark.parametrize("block", [0, 1, 2])
def test_e21_005_a_flipped_bit_of_a_signature_is_refused(workshop: Workshop, block: int) -> None:
    statements = [each.statement for each in chain_of_three(workshop)]
    good = statements[block]
    for at in range(64):
        flipped = bytearray(good.signature)
        flipped[at] ^= 1 << at % 8
        statements[block] = replace(good, signature=bytes(flipped))
        assert workshop.judge(*statements) is Reason.SIGNATURE_INVALID


def test_e21_006_reordered_blocks_are_refused(workshop: Workshop) -> None:
    root, child, grandchild = chain_of_three(workshop)

    for order in ((child, root, grandchild), (root, grandchild, child), (grandchild, child, root), (child, grandchild)):
        assert workshop.judge(*order) in {Reason.SIGNATURE_INVALID, Reason.GRANT_EXCEEDED}
    assert workshop.judge(root, grandchild) is Reason.SIGNATURE_INVALID
    assert workshop.judge(root, root) is Reason.GRANT_EXCEEDED
    assert workshop.judge(root, child, child) in {Reason.SIGNATURE_INVALID, Reason.GRANT_EXCEEDED}


@pytest.mark.parametrize(
    "changes",
    [
        {"actions": ("memory.propose", "memory.recall", "memory.commit-validated")},
        {"write_memory_namespaces": ("team/*",)},
        {"usd_micros": 5_000_001},
        {"subject": PrincipalRef("users", "root")},
        {"actor_chain": ()},
        {"expire_time": after(samples.NOW, HOUR + 1)},
    ],
)
def test_e17_e21_007_a_block_gives_itself_nothing_however_well_it_is_signed(
    workshop: Workshop, changes: dict[str, Any]
) -> None:
    root = workshop.root()

    assert workshop.judge(root, workshop.child(root, **changes)) is Reason.GRANT_EXCEEDED


def test_e21_008_what_a_block_restricts_stays_restricted(workshop: Workshop) -> None:
    # Given a chain whose second block allows less than the first and the third says as much as it may
    root = workshop.root()
    child = workshop.child(root, actions=("memory.recall",))
    grandchild = workshop.child(child, 2)

    # Then the chain holds, and allows no more than its narrowest block
    assert workshop.judge(root, child, grandchild) is None
    refusal = judge_use((root, child, grandchild), USE, samples.NOW)
    assert refusal == Refusal(Reason.GRANT_EXCEEDED, {"dimension": "actions"})
    assert judge_use((root,), USE, samples.NOW) is None


def test_e18_e21_009_an_expired_block_anywhere_ends_the_chain(workshop: Workshop) -> None:
    # Given a child that ends before its parent
    root = workshop.root()
    child = workshop.child(root, expire_time=after(samples.NOW, 1_000))

    # Then the chain is refused from then on, and its root alone is not
    refusal = judge_use((root, child), USE, after(samples.NOW, 1_000))
    assert refusal is not None
    assert refusal.reason is Reason.EXPIRED
    assert judge_use((root,), USE, after(samples.NOW, 1_000)) is None


def test_e18_a_child_of_another_parent_is_refused_though_both_are_good(workshop: Workshop) -> None:
    # Given two roots of one holder, and a child of the first
    root, other = workshop.root(), workshop.root(nonce=b"\x01" * 16)
    child = workshop.child(root)

    assert workshop.judge(root, child) is None
    assert workshop.judge(other, child) is Reason.GRANT_EXCEEDED


@pytest.mark.parametrize("by", ["another holder", "the child's holder", "the grant key", "a capability key"])
def test_e18_a_child_that_the_parents_holder_did_not_sign_is_refused(workshop: Workshop, by: str) -> None:
    keys = {
        "another holder": keyed(7),
        "the child's holder": keyed(1),
        "the grant key": workshop.room.private_key(KeyPurpose.GRANT),
        "a capability key": workshop.room.private_key(KeyPurpose.CAPABILITY),
    }
    root = workshop.root()

    assert workshop.judge(root, workshop.child(root, by=keys[by])) is Reason.SIGNATURE_INVALID


def test_a_holder_cannot_speak_in_the_name_of_the_authority(workshop: Workshop) -> None:
    root = workshop.root()
    forged = workshop.child(root, issuer=samples.ISSUER, delegated_by=None)

    assert workshop.judge(root, forged) is Reason.ISSUER_UNKNOWN


def test_what_the_authority_made_below_a_holders_grant_is_believed(workshop: Workshop) -> None:
    # Given an exchanged grant in the middle: made by the authority, then handed on offline again
    root = workshop.root()
    child = workshop.child(root)
    exchanged = workshop.room.signer.sign_grant(
        replace(derived(child, 2), issuer=samples.ISSUER, delegated_by=None, delegation_depth=0)
    )

    assert workshop.judge(root, child, exchanged) is None


def test_a_holder_without_a_signing_key_hands_nothing_on_offline(workshop: Workshop) -> None:
    # Given a grant that is bound to a credential that is no Ed25519 key, and a child by whoever it names
    root = workshop.root(holder_public_key=b"")

    assert workshop.judge(root) is None
    assert workshop.judge(root, workshop.child(root)) is Reason.SIGNATURE_INVALID


def test_e03_a_weak_holder_key_signs_for_nobody(workshop: Workshop) -> None:
    # Given a grant bound to a point of small order, for which anybody can sign, and a child by anybody
    identity = (1).to_bytes(32, "little")
    root = workshop.root(holder_public_key=identity, holder_key=sha256(identity))
    child = workshop.child(root)
    universal = replace(child.statement, signature=identity + bytes(32))

    assert workshop.judge(root, universal) is Reason.SIGNATURE_INVALID


def test_e10_no_field_of_what_a_holder_signed_can_be_changed(workshop: Workshop) -> None:
    # Given a chain that is remembered as good
    chain = chain_of_three(workshop)
    assert workshop.judge(*chain) is None

    # When one field of one block is changed under the old signature, then the chain is refused
    for at, block in list(enumerate(chain))[1:]:
        for path, message in flips(encode_grant(block.terms)):
            payload = message.SerializeToString(deterministic=True)
            if payload == block.statement.payload:
                continue  # The field was not set.
            statements = [each.statement for each in chain]
            statements[at] = replace(block.statement, payload=payload)
            assert workshop.judge(*statements) in {Reason.MALFORMED, Reason.SIGNATURE_INVALID}, path


def test_e09_when_the_grant_key_is_revoked_every_chain_below_it_ends_at_once(workshop: Workshop) -> None:
    # Given a chain that is remembered as good, and a grant key that was rotated since
    chain = chain_of_three(workshop)
    room = workshop.room
    old = room.keys[KeyPurpose.GRANT]
    room.know(generate(room.folder, KeyPurpose.GRANT, samples.NOW), replace(old, state=KeyState.RETIRING))
    assert workshop.judge(*chain) is None

    # When the old one is revoked, then nothing below it is believed
    room.know(revoked(old, None))
    assert workshop.judge(*chain) is Reason.KEY_REVOKED


def test_a_grant_key_of_one_memory_namespace_or_another_tenant_signs_no_grant(workshop: Workshop) -> None:
    root = workshop.root()
    key = workshop.room.keys[KeyPurpose.GRANT]
    for narrow in (
        replace(key, memory_namespace=samples.NAMESPACE),
        replace(key, tenant=replace(samples.TENANT, id="t2")),
    ):
        workshop.room.know(narrow)
        assert workshop.judge(root) is Reason.ISSUER_UNKNOWN
    workshop.room.know(replace(key, tenant=samples.TENANT))
    assert workshop.judge(root) is None


def test_the_ancestors_of_a_refusal_are_named(workshop: Workshop) -> None:
    root = workshop.root()
    broken = replace(root.statement, payload=b"\xff")

    ancestor = workshop.chains.open(root.statement, (broken,))
    presented = workshop.chains.open(broken, (root.statement,))

    assert isinstance(ancestor, Refusal)
    assert isinstance(presented, Refusal)
    assert (ancestor.facts["field"], presented.facts["field"]) == ("grant_ancestors.payload", "grant.payload")


def test_the_signature_of_a_child_is_remembered_only_below_a_parent_that_is_believed(workshop: Workshop) -> None:
    # Given a child by its parent's holder, whose parent nobody signed
    root = workshop.root()
    unsigned = replace(root.statement, signature=bytes(64))
    child = workshop.child(root)

    # Then what is said of the parent is said of the child, which nobody looks at
    opened = workshop.chains.open(child.statement, (unsigned,))
    assert not isinstance(opened, Refusal)
    assert workshop.room.reader.judge_grant_signatures(opened) == (Refusal(Reason.SIGNATURE_INVALID),) * 2
    assert keyed(0).public_key.verify(
        child.statement.signature, pae(child.statement.payload_type, child.statement.payload)
    )
