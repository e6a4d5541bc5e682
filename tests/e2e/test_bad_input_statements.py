"""Bad input over the wire: statements that are forged, foreign, damaged, or of another kind."""

from collections.abc import Callable

import grpc
import pytest
from google.protobuf.message import Message

from authority.domain.statement import KeyPurpose
from capability_authority.client import HolderMismatch
from capability_authority.offline import PrivateKey, pae
from capability_authority.v1.statements_pb2 import CommitCapability, Signature, SignedStatement
from tests.installation.forgery import altered, altered_by_thief
from tests.installation.installation import Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.requests import commit_of, issue_of
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, refused
from tests.installation.wire import Wire, wire_to
from tests.integration.rpc.running import Failure

ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493
UNKNOWN_FIELD = b"\xa2\x06\x01x"
"""Number 100, "x"."""


async def _presented(holder: Wire, ready: Ready, statement: SignedStatement) -> Failure:
    """Why a commit with this statement in the capability's place is refused."""
    request = commit_of(ready)
    request.capability.CopyFrom(statement)
    return await holder.refused("CommitValidated", request)


def _signed(payload: bytes, key: PrivateKey, payload_type: str) -> SignedStatement:
    """Whatever bytes, signed."""
    signature = Signature(key_id=key.public_key.key_id, signature=key.sign(pae(payload_type, payload)))
    return SignedStatement(payload_type=payload_type, payload=payload, signature=signature)


def _resigned(ready: Ready, signature: bytes) -> SignedStatement:
    statement = SignedStatement()
    statement.CopyFrom(ready.capability.statement)
    statement.signature.signature = signature
    return statement


# --- who signed ------------------------------------------------------------------------------------------------------


async def test_i01_a_statement_signed_by_nobody_we_know_is_refused(team: Team, holder: Wire, storage: Storage) -> None:
    # Given a capability that is good in every term, signed by a stranger
    ready = await team.ready()
    forged = altered(ready, lambda _: None, PrivateKey.generate())
    before = storage.dump()
    # When its holder presents it
    failure = await _presented(holder, ready, forged)
    # Then the issuer is not known
    assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ISSUER_UNKNOWN")
    assert storage.dump() == before


async def test_i01_a_forged_statement_with_a_victims_settled_key_tells_an_attacker_nothing(
    team: Team, tenant: Tenant, services: tuple[ServiceProcess, ...], storage: Storage
) -> None:
    # Given a commit that a victim has settled, and a statement that names the victim, forged by a colleague
    ready = await team.ready()
    await team.commit(ready)
    attacker = tenant["other-service"]
    forged = altered(ready, lambda _: None, attacker.signing_key)
    before = storage.dump()
    # When the colleague presents it, with the victim's content and with other
    async with wire_to(services[0].address, attacker) as wire:
        failures = [await _presented(wire, ready, forged)]
        request = commit_of(ready, content=b"Another text.")
        request.capability.CopyFrom(forged)
        failures.append(await wire.refused("CommitValidated", request))
    # Then it is told that it is not the holder, and nothing of what the key stands for
    for failure in failures:
        assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "HOLDER_MISMATCH")
        assert dict(failure.info.metadata) == {}
    assert storage.dump() == before
    # And the same goes for the true statement
    await refused(team.other_service.commit(ready.capability, content=ready.content), HolderMismatch)


@pytest.mark.parametrize("purpose", [KeyPurpose.RECEIPT, KeyPurpose.VALIDATION, KeyPurpose.DECISION])
async def test_e16_a_capability_signed_by_a_key_of_another_purpose_is_refused(
    installation: Installation, team: Team, holder: Wire, storage: Storage, purpose: KeyPurpose
) -> None:
    ready = await team.ready()
    forged = altered(ready, lambda _: None, installation.private_key(purpose))
    before = storage.dump()
    assert (await _presented(holder, ready, forged)).reason == "ISSUER_UNKNOWN"
    assert storage.dump() == before


@pytest.mark.parametrize("receipt", ["validation_receipt", "decision_receipt"])
@pytest.mark.parametrize("signer", ["holder", "capability"])
async def test_i10_a_receipt_signed_by_a_holder_or_a_capability_key_is_refused(
    installation: Installation, tenant: Tenant, team: Team, holder: Wire, storage: Storage, receipt: str, signer: str
) -> None:
    # Given a receipt that says what the true one says, signed by a key of another purpose
    ground = await team.ground()
    request = issue_of(ground, tenant["service"])
    keys = {"holder": tenant["service"].signing_key, "capability": installation.private_key(KeyPurpose.CAPABILITY)}
    true: SignedStatement = getattr(request, receipt)
    true.CopyFrom(_signed(true.payload, keys[signer], true.payload_type))
    before = storage.dump()
    # When a capability is asked for on it
    failure = await holder.refused("IssueCapability", request)
    # Then its issuer is not known
    assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ISSUER_UNKNOWN")
    assert storage.dump() == before


# --- what is signed --------------------------------------------------------------------------------------------------


def _flip_last_bit(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def _add_order(signature: bytes) -> bytes:
    """The same signature with s + L: it holds for who does not look closely (RFC 8032, section 5.1.7)."""
    scalar = int.from_bytes(signature[32:], "little") + ED25519_ORDER
    return signature[:32] + scalar.to_bytes(32, "little")


BAD_SIGNATURES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "e10_flipped": (_flip_last_bit, "SIGNATURE_INVALID"),
    "e02_malleated": (_add_order, "SIGNATURE_INVALID"),
    "zeros": (lambda _: bytes(64), "SIGNATURE_INVALID"),
    "e05_none": (lambda _: b"", "MALFORMED"),
    "e05_32": (lambda signature: signature[:32], "MALFORMED"),
    "e05_63": (lambda signature: signature[:63], "MALFORMED"),
    "e05_65": (lambda signature: signature + b"\0", "MALFORMED"),
    "e05_96": (lambda signature: signature + bytes(32), "MALFORMED"),
}


@pytest.mark.parametrize("bad", BAD_SIGNATURES)
async def test_e05_e02_a_bad_signature_is_refused(team: Team, holder: Wire, storage: Storage, bad: str) -> None:
    change, reason = BAD_SIGNATURES[bad]
    ready, before = await team.ready(), storage.dump()
    statement = _resigned(ready, change(ready.capability.statement.signature.signature))
    failure = await _presented(holder, ready, statement)
    assert failure.reason == reason
    if reason == "MALFORMED":
        assert failure.violation is not None
        assert failure.violation[0] == "capability.signature.signature"
    assert storage.dump() == before


async def test_e10_any_term_changed_under_the_old_signature_is_refused(
    team: Team, holder: Wire, storage: Storage
) -> None:
    # Given a capability, every field of which is changed in turn while its signature stays
    ready = await team.ready()
    before, true = storage.dump(), ready.capability
    for field in CommitCapability.DESCRIPTOR.fields:
        terms = CommitCapability()
        terms.CopyFrom(true.terms)
        _change(terms, field.name)
        assert terms != true.terms, field.name
        statement = SignedStatement()
        statement.CopyFrom(true.statement)
        statement.payload = terms.SerializeToString(deterministic=True)
        # When it is presented
        failure = await _presented(holder, ready, statement)
        # Then it is refused, at the latest for its signature
        assert failure.reason in {"SIGNATURE_INVALID", "HOLDER_MISMATCH", "MALFORMED"}, field.name
    assert storage.dump() == before
    assert not (await team.commit(ready)).replayed
    storage.assert_whole()


def _change(terms: CommitCapability, name: str) -> None:
    value = getattr(terms, name)
    match value:
        case str():
            setattr(terms, name, "x" + value)
        case bytes():
            setattr(terms, name, bytes(32) if value != bytes(32) else b"\1" * 32)
        case int():
            setattr(terms, name, value + 1)
        case Message():
            _change_message(value)
        case _:
            value.append(bytes(32))


def _change_message(message: Message) -> None:
    field, value = message.ListFields()[0]
    setattr(message, field.name, value + 1 if isinstance(value, int) else value + "x")


BAD_PAYLOADS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "truncated": (lambda payload: payload[:-5], "capability.payload"),
    "no_message": (lambda _: b"\xff" * 64, "capability.payload"),
    "e11_unknown_field": (lambda payload: payload + UNKNOWN_FIELD, "capability.payload"),
    # The known field 20 (decision receipt digest) again as a varint: a second reading in another language.
    "i14_two_readings": (lambda payload: payload + b"\xa0\x01\x01", "capability.payload"),
    "d13_field_twice": (lambda payload: b"\x0a\x01a" + payload, "capability.payload"),
    "e11_fields_reordered": (lambda payload: payload[38:] + payload[:38], "capability.payload"),
    "empty": (lambda _: b"", "capability.payload"),
}


@pytest.mark.parametrize("bad", BAD_PAYLOADS)
async def test_e11_a_payload_with_another_reading_is_malformed_even_when_well_signed(
    installation: Installation, team: Team, holder: Wire, storage: Storage, bad: str
) -> None:
    # Given bytes that are not the one encoding of a capability, signed by the authority's own key
    change, field = BAD_PAYLOADS[bad]
    ready, key = await team.ready(), installation.private_key(KeyPurpose.CAPABILITY)
    true = ready.capability.statement
    forged = _signed(change(true.payload), key, true.payload_type)
    assert forged.payload != true.payload
    before = storage.dump()
    # When they are presented
    failure = await _presented(holder, ready, forged)
    # Then they are malformed
    assert (failure.code, failure.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED")
    assert failure.violation is not None
    assert failure.violation[0].startswith(field)
    assert storage.dump() == before


async def test_a_statement_of_another_kind_is_malformed(
    installation: Installation, team: Team, tenant: Tenant, holder: Wire, storage: Storage
) -> None:
    # Given statements that the authority has truly signed, each in another's place
    ready, key = await team.ready(), installation.private_key(KeyPurpose.CAPABILITY)
    committed = await team.commit(await team.ready())
    receipts = ready.ground.validation.receipt, ready.ground.decision.receipt
    before = storage.dump()
    for foreign in (*receipts, committed.receipt.statement):
        failure = await _presented(holder, ready, foreign)
        assert (failure.reason, (failure.violation or ("",))[0]) == ("MALFORMED", "capability.payload_type")
    # And a payload under another's name
    true = ready.capability.statement
    renamed = _signed(true.payload, key, receipts[0].payload_type)
    assert (await _presented(holder, ready, renamed)).reason == "MALFORMED"
    swapped = issue_of(ready.ground, tenant["service"], validation_receipt=receipts[1], decision_receipt=receipts[0])
    failure = await holder.refused("IssueCapability", swapped)
    assert (failure.reason, (failure.violation or ("",))[0]) == ("MALFORMED", "validation_receipt.payload_type")
    assert storage.dump() == before


async def test_a_statement_larger_than_any_is_refused_by_its_size(
    installation: Installation, team: Team, holder: Wire, storage: Storage
) -> None:
    ready, before = await team.ready(), storage.dump()
    huge = altered_by_thief(installation, ready, lambda terms: terms.evidence_digests.extend([bytes(32)] * 1_000))
    failure = await _presented(holder, ready, huge)
    assert (failure.reason, (failure.violation or ("",))[0]) == ("LIMIT_EXCEEDED", "capability.payload")
    assert storage.dump() == before


async def test_e06_a_statement_names_no_algorithm(team: Team, holder: Wire, storage: Storage) -> None:
    # Given signatures made as other algorithms would, with the public key for their secret
    ready, before = await team.ready(), storage.dump()
    statement = SignedStatement()
    statement.CopyFrom(ready.capability.statement)
    for payload_type in ("application/jose", "none", statement.payload_type + ";alg=HS256"):
        statement.payload_type = payload_type
        failure = await _presented(holder, ready, statement)
        assert (failure.reason, (failure.violation or ("",))[0]) == ("MALFORMED", "capability.payload_type")
    statement.payload_type = ready.capability.statement.payload_type
    for key_id in ("none", "HS256", statement.signature.key_id.upper(), statement.signature.key_id + "\n"):
        statement.signature.key_id = key_id
        failure = await _presented(holder, ready, statement)
        assert (failure.reason, (failure.violation or ("",))[0]) == ("MALFORMED", "capability.signature.key_id")
    assert storage.dump() == before
