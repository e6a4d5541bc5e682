"""Ed25519 keys: what is refused at load, and what verifies."""

import hashlib
import hmac
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from capability_authority.offline import KeyRefused, PrivateKey, PublicKey, sha256, to_wire
from capability_authority.v1.statements_pb2 import Signature, SignedStatement
from tests.unit.offline.builders import private_key

MESSAGE = b"DSSEv1 1 t 7 payload"
FIELD_PRIME = 2**255 - 19
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493


def test_the_first_test_of_rfc_8032_holds() -> None:
    key = PrivateKey.from_seed(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))

    assert key.public_key.raw.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert key.sign(b"").hex() == (
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
        "655141438e7a100b"
    )


def test_a_key_is_named_by_the_digest_of_its_bytes() -> None:
    key = private_key("any").public_key

    assert key.thumbprint == sha256(key.raw)
    assert key.key_id == to_wire(key.thumbprint)
    assert PublicKey(key.raw) == key
    assert PublicKey(private_key("other").public_key.raw) != key


@given(st.binary(max_size=64))
def test_only_the_signed_message_verifies(message: bytes) -> None:
    key = private_key("any")
    signature = key.sign(message)

    assert key.public_key.verify(signature, message)
    assert not key.public_key.verify(signature, message + b"\x00")
    assert not private_key("other").public_key.verify(signature, message)


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_a_public_key_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(KeyRefused, match="32 bytes"):
        PublicKey(bytes(length))


@pytest.mark.parametrize("sign_bit", [0, 1 << 255])
@pytest.mark.parametrize("y", range(FIELD_PRIME, 2**255))
def test_e03_every_encoding_of_a_y_beyond_the_field_is_refused(y: int, sign_bit: int) -> None:
    with pytest.raises(KeyRefused, match="canonical"):
        PublicKey((y | sign_bit).to_bytes(32, "little"))


@pytest.mark.parametrize("sign_bit", [0, 1 << 255])
@pytest.mark.parametrize("y", [0, 1, FIELD_PRIME - 1])
def test_e03_small_orders_are_refused_with_either_sign(y: int, sign_bit: int) -> None:
    with pytest.raises(KeyRefused, match="small order"):
        PublicKey((y | sign_bit).to_bytes(32, "little"))


def test_e02_a_signature_moved_by_the_group_order_does_not_verify() -> None:
    key = private_key("any")
    signature = key.sign(MESSAGE)
    scalar = int.from_bytes(signature[32:], "little")

    moved = signature[:32] + (scalar + GROUP_ORDER).to_bytes(32, "little")

    assert key.public_key.verify(signature, MESSAGE)
    assert not key.public_key.verify(moved, MESSAGE)


@pytest.mark.parametrize("length", [0, 1, 32, 63, 65, 96, 128])
def test_e05_a_signature_of_another_length_is_false_not_an_error(length: int) -> None:
    key = private_key("any")
    whole = key.sign(MESSAGE) * 2

    assert key.public_key.verify(whole[:64], MESSAGE)
    assert not key.public_key.verify(whole[:length], MESSAGE)


def test_e06_a_statement_has_no_field_that_could_name_an_algorithm() -> None:
    assert set(SignedStatement.DESCRIPTOR.fields_by_name) == {"payload_type", "payload", "signature"}
    assert set(Signature.DESCRIPTOR.fields_by_name) == {"key_id", "signature"}


def _mac(secret: bytes) -> bytes:
    return hmac.new(secret, MESSAGE, hashlib.sha512).digest()


def _es256() -> bytes:
    signer = ec.generate_private_key(ec.SECP256R1())
    r, s = decode_dss_signature(signer.sign(MESSAGE, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def _public(key: PrivateKey, encoding: Encoding, form: PublicFormat) -> bytes:
    return ed25519.Ed25519PublicKey.from_public_bytes(key.public_key.raw).public_bytes(encoding, form)


@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(lambda _: b"", id="none"),
        pytest.param(lambda _: bytes(64), id="zeros"),
        pytest.param(lambda key: _mac(key.public_key.raw), id="hmac-raw"),
        pytest.param(lambda key: _mac(_public(key, Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)), id="hmac-pem"),
        pytest.param(lambda key: _mac(_public(key, Encoding.OpenSSH, PublicFormat.OpenSSH)), id="hmac-ssh"),
        pytest.param(lambda _: _es256(), id="es256"),
    ],
)
def test_e06_the_key_alone_decides_the_algorithm(forge: Callable[[PrivateKey], bytes]) -> None:
    key = private_key("issuer")

    assert not key.public_key.verify(forge(key), MESSAGE)


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_seed_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(KeyRefused, match="32 bytes"):
        PrivateKey.from_seed(bytes(length))


def test_generated_keys_differ() -> None:
    assert PrivateKey.generate().public_key != PrivateKey.generate().public_key


def test_a_private_key_does_not_show_its_secret() -> None:
    seed = bytes(range(32))
    key = PrivateKey.from_seed(seed)

    shown = f"{key!r} {key!s} {key.public_key!r}"

    assert key.public_key.key_id in shown
    assert seed.hex() not in shown
    assert repr(seed) not in shown
