"""How refusals, broken answers and receipts that prove nothing come out."""

from dataclasses import replace

import grpc
import pytest

from capability_authority import CapabilityAuthority
from capability_authority.client import (
    BindingMismatch,
    CallerUnauthenticated,
    IdempotencyConflict,
    LimitExceeded,
    Malformed,
    ReceiptRejected,
    TransportError,
    UnknownReason,
)
from capability_authority.offline import (
    ContentMismatch,
    IssuerMismatch,
    KeyRevoked,
    KeySetRefused,
    KeyUnknown,
    PrivateKey,
    SignatureInvalid,
    sha256,
    to_wire,
)
from capability_authority.v1.types_pb2 import KEY_PURPOSE_RECEIPT, KEY_STATE_RETIRING, KEY_STATE_REVOKED
from tests.integration.client.exchange import CONTENT, CONTENT_BYTES, IMPATIENT, issued
from tests.integration.client.small_authority import SmallAuthority
from tests.integration.client.witness import Refusal, Refuse

DENIED = grpc.StatusCode.PERMISSION_DENIED


async def test_a_mismatch_prints_what_was_bound_and_what_was_presented(client: CapabilityAuthority) -> None:
    capability = await issued(client)

    with pytest.raises(BindingMismatch) as caught:
        await client.commit(capability, content={**CONTENT, "minutes": 41})

    error, other = caught.value, b'{"fact":"The nightly build takes forty minutes.","minutes":41}'
    assert (error.term, error.expected, error.presented) == (
        "content_digest",
        to_wire(sha256(CONTENT_BYTES)),
        to_wire(sha256(other)),
    )
    assert f"content_digest: expected {error.expected}, presented {error.presented}" in str(error)


async def test_a_wrong_key_is_named_with_the_bound_one(client: CapabilityAuthority) -> None:
    capability = await issued(client, commit_idempotency_key="right")

    with pytest.raises(BindingMismatch) as caught:
        await client.commit(capability, content=CONTENT, commit_idempotency_key="wrong")

    assert (caught.value.term, caught.value.expected, caught.value.presented) == (
        "commit_idempotency_key",
        "right",
        "wrong",
    )


async def test_a_conflict_names_the_terms_that_differ(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    capability = await issued(client)
    metadata = {"differs": "content_digest,media_type"}
    small_authority.upset(
        "CommitValidated", Refuse(Refusal(grpc.StatusCode.ALREADY_EXISTS, "IDEMPOTENCY_CONFLICT", metadata))
    )

    with pytest.raises(IdempotencyConflict, match="content_digest, media_type") as caught:
        await client.commit(capability, content=CONTENT)

    assert caught.value.differs == ["content_digest", "media_type"]
    assert (caught.value.outcome_unknown, caught.value.code) == (False, grpc.StatusCode.ALREADY_EXISTS)


@pytest.mark.parametrize(("reason", "kind"), [("MALFORMED", Malformed), ("LIMIT_EXCEEDED", LimitExceeded)])
async def test_a_refused_field_is_named(
    client: CapabilityAuthority,
    small_authority: SmallAuthority,
    reason: str,
    kind: type[Malformed | LimitExceeded],
) -> None:
    metadata = {"field": "presentation.content", "problem": "at most 1048576 bytes"}
    small_authority.upset("CreateProposal", Refuse(Refusal(grpc.StatusCode.INVALID_ARGUMENT, reason, metadata)))

    with pytest.raises(kind) as caught:
        await client.propose(memory_namespace="m", memory_type="critique", content="text")

    assert (caught.value.field, caught.value.problem) == ("presentation.content", "at most 1048576 bytes")
    assert caught.value.metadata == metadata


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal(DENIED),
        Refusal(DENIED, "ACCESS_DENIED", domain="proxy.example"),
    ],
    ids=["no ErrorInfo", "another domain"],
)
async def test_what_the_authority_did_not_say_is_a_transport_error(
    client: CapabilityAuthority, small_authority: SmallAuthority, refusal: Refusal
) -> None:
    small_authority.upset("GetProposal", Refuse(refusal))

    with pytest.raises(TransportError) as caught:
        await client.get_proposal("any")

    assert (caught.value.reason, caught.value.code, caught.value.retryable) == ("", DENIED, False)
    assert "PERMISSION_DENIED: refused by the test" in str(caught.value)


async def test_a_reason_newer_than_the_client_is_kept(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    small_authority.upset("GetProposal", Refuse(Refusal(DENIED, "MOON_TOO_LOW", {"phase": "new"})))

    with pytest.raises(UnknownReason, match="MOON_TOO_LOW") as caught:
        await client.get_proposal("any")

    assert (caught.value.reason, caught.value.metadata) == ("MOON_TOO_LOW", {"phase": "new"})


async def test_a_key_that_is_not_registered_is_told_with_a_remedy(small_authority: SmallAuthority) -> None:
    stranger = replace(small_authority.register(), private_key=PrivateKey.generate())

    async with CapabilityAuthority.connect(credentials=stranger, retries=IMPATIENT) as client:
        with pytest.raises(CallerUnauthenticated, match="authority principals list"):
            await client.get_proposal("any")


async def test_another_issuer_is_refused_before_anything_is_committed(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    capability = await issued(client)
    small_authority.state.issuer = "somebody.else"

    with pytest.raises(KeySetRefused, match="somebody"):
        await client.commit(capability, content=CONTENT)

    assert small_authority.attempts("CommitValidated") == []


async def test_a_receipt_of_a_key_that_is_not_known_yet_is_believed_after_one_more_look(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a client that has seen the key set, and an authority that rotates its receipt key
    await client.key_set()
    small_authority.rotate_receipt_key(KEY_STATE_RETIRING)

    # When it commits
    committed = await client.commit(await issued(client), content=CONTENT)

    # Then the key set was fetched once more
    assert committed.receipt.says is not None
    assert len(small_authority.attempts("GetKeySet")) == 2


async def test_a_receipt_of_a_key_that_nobody_knows_is_rejected(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given an authority that signs with a key which its key set does not hold
    await client.key_set()
    small_authority.rotate_receipt_key(KEY_STATE_RETIRING)
    unknown = small_authority.state.signing[KEY_PURPOSE_RECEIPT]
    committed = await client.commit(await issued(client), content=CONTENT, verify=False)
    small_authority.state.signing[KEY_PURPOSE_RECEIPT] = PrivateKey.generate()

    # When the receipt is asked for
    with pytest.raises(ReceiptRejected) as caught:
        await client.get_receipt(receipt_id=committed.receipt_id)

    # Then what came is there to be looked at, and the cause is told
    assert isinstance(caught.value.__cause__, KeyUnknown)
    assert caught.value.statement == committed.receipt.statement
    assert unknown.public_key.key_id in str(caught.value)


async def test_a_forged_receipt_is_rejected(client: CapabilityAuthority, small_authority: SmallAuthority) -> None:
    # Given a stored receipt whose payload was changed after it was signed
    capability = await issued(client)
    await client.commit(capability, content=CONTENT)
    stored = small_authority.state.receipts[capability.commit_idempotency_key]
    stored.receipt.signature.signature = bytes(64)

    # When the commit is asked for again
    with pytest.raises(ReceiptRejected, match="not believed") as caught:
        await client.commit(capability, content=CONTENT)

    assert isinstance(caught.value.__cause__, SignatureInvalid)
    assert (caught.value.retryable, caught.value.key) == (False, capability.commit_idempotency_key)


async def test_a_receipt_for_other_content_is_rejected(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given an authority that answers one commit with the receipt of another
    first, second = await issued(client), await issued(client, "other")
    await client.commit(first, content=CONTENT)
    small_authority.state.receipts[second.commit_idempotency_key] = small_authority.state.receipts[
        first.commit_idempotency_key
    ]

    with pytest.raises(ReceiptRejected) as caught:
        await client.commit(second, content="other")
    assert isinstance(caught.value.__cause__, ContentMismatch)


async def test_a_receipt_for_another_commit_of_the_same_content_is_rejected(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    first, second = await issued(client), await issued(client)
    await client.commit(first, content=CONTENT)
    answers = small_authority.state.receipts
    answers[second.commit_idempotency_key] = answers[first.commit_idempotency_key]

    with pytest.raises(ReceiptRejected, match=f"expected {second.commit_idempotency_key}"):
        await client.commit(second, content=CONTENT)


async def test_ids_beside_the_receipt_must_agree_with_it(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    capability = await issued(client)
    committed = await client.commit(capability, content=CONTENT)
    small_authority.state.receipts[capability.commit_idempotency_key].record_id = "another"

    with pytest.raises(ReceiptRejected, match="record_id: expected another"):
        await client.get_receipt(receipt_id=committed.receipt_id)


async def test_a_receipt_of_a_revoked_key_needs_an_attestation(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    # Given a commit whose receipt key was revoked since
    capability = await issued(client)
    committed = await client.commit(capability, content=CONTENT)
    small_authority.rotate_receipt_key(KEY_STATE_REVOKED)
    await client.key_set(refresh=True)

    # When nobody vouches for it, then it is rejected
    with pytest.raises(ReceiptRejected) as caught:
        await client.get_receipt(receipt_id=committed.receipt_id)
    assert isinstance(caught.value.__cause__, KeyRevoked)

    # When the current key vouches for it, then it is believed, byte for byte the first one
    stored = small_authority.state.receipts[capability.commit_idempotency_key]
    stored.attestation.CopyFrom(small_authority.vouch_for(stored.receipt))
    again = await client.commit(capability, content=CONTENT)
    assert again.receipt.statement == committed.receipt.statement
    assert again.receipt.attestation is not None
    assert again.receipt.says == committed.receipt.says


async def test_only_pinned_keys_are_believed(small_authority: SmallAuthority) -> None:
    # Given a client that was told the receipt key by another road
    receipt_key = small_authority.state.signing[KEY_PURPOSE_RECEIPT].public_key.key_id
    pinned = frozenset({receipt_key})

    async with CapabilityAuthority.connect(
        credentials=small_authority.register(), retries=IMPATIENT, pinned_key_ids=pinned
    ) as client:
        # When the authority signs with it, then the receipt is believed
        committed = await client.commit(await issued(client), content=CONTENT)
        assert committed.receipt.says is not None
        assert list((await client.key_set()).records) == [receipt_key]

        # When it signs with another, then it is not
        small_authority.rotate_receipt_key(KEY_STATE_RETIRING)
        with pytest.raises(ReceiptRejected):
            await client.commit(await issued(client), content=CONTENT)


async def test_a_statement_can_be_verified_by_itself(
    client: CapabilityAuthority, small_authority: SmallAuthority
) -> None:
    committed = await client.commit(await issued(client), content=CONTENT)

    receipt = await client.verify_receipt(committed.receipt.statement, content=CONTENT_BYTES)
    assert receipt.receipt_id == committed.receipt_id
    with pytest.raises(ContentMismatch):
        await client.verify_receipt(committed.receipt.statement, content=b"other")

    small_authority.state.issuer = "somebody.else"
    foreign = await client.commit(await issued(client), content=CONTENT, verify=False)
    with pytest.raises(IssuerMismatch):
        await client.verify_receipt(foreign.receipt.statement)
