"""Which bearer tokens are believed: family E of the cases, for JOSE (RFC 7519, RFC 8725)."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st

from authority.domain.references import SECOND, Instant, TenantRef
from authority.domain.token import VerifiedToken
from authority.tokens.verifier import TokenVerifier
from authority.usecases.ports import DependencyUnavailable
from tests.world.clock import BEGINNING, SetClock
from tests.world.token_issuers import AUDIENCE, ISSUER, KID, LIFE_S, TestIssuer, jwk_of, key_set, new_key

TENANT = TenantRef("harbour", "books")
NOW_S = BEGINNING // SECOND
RSA = rsa.generate_private_key(65537, 2048)


class Gate:
    """A verifier of one issuer, and its clock."""

    def __init__(self, **trusted: object) -> None:
        self.clock = SetClock()
        self.issuer = TestIssuer(self.clock.now())
        self.verifier = TokenVerifier([self.issuer.trusted(**trusted)], self.clock)

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Good claims, changed."""
        return self.issuer.claims(TENANT, **changes)

    def token(self, *, key: Any = None, algorithm: str = "ES256", header: dict[str, Any] | None = None,
              **changes: object) -> str:  # fmt: skip
        """A token of these claims."""
        return self.issuer.token(self.claims(**changes), key=key, algorithm=algorithm, **(header or {}))

    def signed(self, header: object, claims: object) -> str:
        """Any header and claims, signed by the issuer's key."""
        signed = f"{packed(header)}.{packed(claims)}"
        algorithm = jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256)
        return f"{signed}.{packed(algorithm.sign(signed.encode(), self.issuer.key))}"

    async def takes(self, token: str) -> bool:
        """Whether it is believed."""
        return await self.verifier.verify(token) is not None


@pytest.fixture
def gate() -> Gate:
    return Gate()


def packed(value: object) -> str:
    """A part of a token."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def maced(header: dict[str, Any], claims: dict[str, Any], secret: bytes) -> str:
    """A token with a MAC, as no library would make it with a public key for its secret."""
    signed = f"{packed(header)}.{packed(claims)}"
    return f"{signed}.{packed(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"


async def test_a_good_token_is_believed_until_it_expires(gate: Gate) -> None:
    token = gate.token()
    told = VerifiedToken(ISSUER, "svc-1", TENANT, Instant((NOW_S + LIFE_S) * SECOND))
    assert await gate.verifier.verify(token) == told
    gate.clock.advance(LIFE_S * SECOND - 1)
    assert await gate.takes(token)
    gate.clock.advance(1)
    assert not await gate.takes(token)


# --- E06: the header never chooses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE", "", None, 7, ["ES256"]])
async def test_e06_no_algorithm_is_none(gate: Gate, algorithm: object) -> None:
    header = {"alg": algorithm, "kid": KID, "typ": "JWT"}
    for signature in ("", packed(b"\x00" * 64)):
        assert not await gate.takes(f"{packed(header)}.{packed(gate.claims())}.{signature}")


async def test_e06_a_public_key_is_no_shared_secret(gate: Gate) -> None:
    # given the issuer's public key in every form in which it is written, as the secret of a MAC
    public = gate.issuer.key.public_key()
    spki, openssh = serialization.PublicFormat.SubjectPublicKeyInfo, serialization.PublicFormat.OpenSSH
    pem = public.public_bytes(serialization.Encoding.PEM, spki)
    secrets = [
        pem,
        pem.strip(),
        public.public_bytes(serialization.Encoding.DER, spki),
        public.public_bytes(serialization.Encoding.OpenSSH, openssh),
        json.dumps(jwk_of(gate.issuer.key)).encode(),
        gate.issuer.published,
        b"",
    ]
    for secret in secrets:
        for algorithm in ("HS256", "hs256", "ES256"):
            assert not await gate.takes(maced({"alg": algorithm, "kid": KID}, gate.claims(), secret))


async def test_e06_a_key_verifies_by_its_own_algorithm_alone() -> None:
    # given an issuer with three algorithms, an EC key, and an RSA key that names none
    gate = Gate(algorithms=("ES256", "RS256", "PS256"))
    rsa_jwk = {**jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key(), as_dict=True), "kid": "rsa"}
    rsa_jwk.pop("key_ops", None)
    gate.issuer.published = key_set(jwk_of(gate.issuer.key), rsa_jwk)
    # then the RSA key is for the first of the issuer's algorithms that fits it, whatever a token says
    assert await gate.takes(gate.token(key=RSA, algorithm="RS256", header={"kid": "rsa"}))
    assert not await gate.takes(gate.token(key=RSA, algorithm="PS256", header={"kid": "rsa"}))
    assert not await gate.takes(gate.token(key=RSA, algorithm="RS512", header={"kid": "rsa"}))
    # and no key passes under another's id
    assert not await gate.takes(gate.token(key=RSA, algorithm="RS256"))
    assert not await gate.takes(gate.token(header={"kid": "rsa"}))


async def test_e06_an_algorithm_that_the_operator_did_not_name_is_none() -> None:
    gate = Gate(algorithms=("EdDSA",))
    assert not await gate.takes(gate.token())
    key = ed25519.Ed25519PrivateKey.generate()
    gate = Gate(algorithms=("EdDSA",))
    okp = {**jwt.algorithms.OKPAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": KID}
    okp.pop("key_ops", None)
    gate.issuer.published = key_set(okp)
    assert await gate.takes(gate.token(key=key, algorithm="EdDSA"))


async def test_e06_what_is_signed_by_another_algorithm_than_it_says_is_refused() -> None:
    # given a good signature under a header that names another algorithm, which the issuer may use as well
    gate = Gate(algorithms=("ES256", "ES384", "RS256", "EdDSA"))
    assert await gate.takes(gate.token())
    for named in ("ES384", "RS256", "EdDSA", "HS256", "none"):
        assert not await gate.takes(gate.signed({"alg": named, "kid": KID}, gate.claims()))


async def test_e06_a_key_that_was_published_with_its_private_part_is_no_key(gate: Gate) -> None:
    # given an issuer that publishes what anybody could sign by, then whoever signs by it is not believed
    private = {**jwt.algorithms.ECAlgorithm.to_jwk(gate.issuer.key, as_dict=True), "kid": KID}
    private.pop("key_ops", None)
    assert "d" in private
    gate.issuer.published = key_set(private)
    assert not await gate.takes(gate.token())


async def test_e06_a_key_that_the_token_brings_along_is_not_looked_at(gate: Gate) -> None:
    # given a token signed by a stranger, who brings the key, or says where it is
    stranger = new_key()
    for header in ({"jwk": jwk_of(stranger)}, {"jku": "https://evil.example/jwks"}, {"x5u": "https://evil.example/x"}):
        assert not await gate.takes(gate.token(key=stranger, header=header))
    # and the issuer's own token is the issuer's, whatever stands beside
    assert await gate.takes(gate.token(header={"jwk": jwk_of(stranger)}))


# --- what must stand in it --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        *({name: None} for name in ("iss", "aud", "exp", "nbf", "sub", "tenant")),
        {"iss": "https://evil.example"},
        {"iss": ISSUER + "/"},
        {"iss": [ISSUER]},
        {"aud": "memory.other"},
        {"aud": []},
        {"aud": [AUDIENCE, 7]},
        {"aud": AUDIENCE.upper()},
        {"exp": NOW_S},
        {"exp": NOW_S - 1},
        {"exp": str(NOW_S + 60)},
        {"exp": True},
        {"exp": float("inf")},
        {"exp": float("nan")},
        {"exp": 10**400},
        {"exp": None, "expires": NOW_S + 60},
        {"nbf": NOW_S + 31},
        {"nbf": str(NOW_S)},
        {"nbf": True},
        {"nbf": float("nan")},
        {"nbf": -1},
        {"sub": ""},
        {"sub": 7},
        {"sub": ["svc-1"]},
        {"sub": "x" * 257},
        {"sub": "\ud800"},
        {"tenant": "harbour"},
        {"tenant": "harbour|"},
        {"tenant": "harbour|books|x"},
        {"tenant": ["harbour|books"]},
        {"tenant": "harbour|books\n"},
    ],
)
async def test_a_claim_that_is_missing_or_wrong_is_refused(gate: Gate, changes: dict[str, object]) -> None:
    claims = gate.claims(**changes)
    assert not await gate.takes(gate.signed({"alg": "ES256", "kid": KID, "typ": "JWT"}, claims))


async def test_the_clock_of_the_issuer_may_be_a_little_ahead(gate: Gate) -> None:
    assert await gate.takes(gate.token(nbf=NOW_S + 30))
    assert await gate.takes(gate.token(aud=["other", AUDIENCE]))


@pytest.mark.parametrize(
    "header",
    [{"kid": "other"}, {"kid": ""}, {"kid": "k" * 257}, {"typ": "dpop+jwt"}, {"typ": "id_token"}, {"crit": ["exp"]}],
)
async def test_a_header_that_asks_for_more_is_refused(gate: Gate, header: dict[str, Any]) -> None:
    assert not await gate.takes(gate.token(header=header))


async def test_a_type_may_be_that_of_access_tokens(gate: Gate) -> None:
    assert await gate.takes(gate.token(header={"typ": "at+jwt"}))
    assert await gate.takes(gate.token(header={"typ": "jwt"}))


async def test_claims_may_be_called_as_the_issuer_calls_them_and_its_tenant_be_settled() -> None:
    gate = Gate(principal_claim="client_id", tenant_claim="org")
    told = await gate.verifier.verify(gate.token(client_id="loader", org="harbour|ships"))
    assert (told and told.subject, told and told.tenant) == ("loader", TenantRef("harbour", "ships"))
    # given an issuer for one tenant, then what its tokens say of tenants is not asked
    gate = Gate(tenant=TenantRef("harbour", "docks"))
    told = await gate.verifier.verify(gate.token(tenant="harbour|books"))
    assert told
    assert told.tenant == TenantRef("harbour", "docks")


# --- forgeries --------------------------------------------------------------------------------------------------------


@given(place=st.integers(0, 10_000), letter=st.sampled_from("Aa0-_."))
async def test_e01_no_letter_of_a_token_can_be_changed(place: int, letter: str) -> None:
    gate, whole = GATE, TOKEN
    place %= len(whole)
    changed = whole[:place] + letter + whole[place + 1 :]
    assert await gate.takes(changed) == (changed == whole)


@pytest.mark.parametrize("letter", "ABCDEFGHQRSTghijwxyz0123456789-_")
async def test_e01_nor_the_bits_of_its_last_letter_that_no_byte_has(letter: str) -> None:
    changed = TOKEN[:-1] + letter
    assert await GATE.takes(changed) == (changed == TOKEN)


@given(st.one_of(st.text(max_size=60), st.binary(max_size=60).map(lambda data: f"{packed(data)}.{packed(data)}.")))
async def test_what_is_no_token_is_refused(text: str) -> None:
    assert not await GATE.takes(text)


@pytest.mark.parametrize(
    "make",
    [
        lambda header, _: f"{packed(header)}.{packed(b'[' * 100_000)}.x",
        lambda _, claims: f"{packed(b'[' * 100_000)}.{packed(claims)}.x",
        lambda header, _: f"{packed(header)}.{packed(b'9' * 5_000)}.x",
        lambda header, claims: f"{packed([header])}.{packed(claims)}.x",
        lambda header, claims: f"{packed(header)}.{packed([claims])}.x",
        lambda header, _: f"{packed({**header, 'b64': False})}..x",
        lambda *_: "." * 10_000,
    ],
)
async def test_what_is_made_to_break_a_reader_is_refused(gate: Gate, make: Callable[[Any, Any], str]) -> None:
    assert not await gate.takes(make({"alg": "ES256", "kid": KID}, gate.claims()))


async def test_no_keys_is_no_verdict() -> None:
    gate = Gate()
    gate.issuer.published = b"no key set"
    with pytest.raises(DependencyUnavailable):
        await gate.takes(gate.token())
    # but for a token of nobody known, none are needed
    assert not await gate.takes(gate.token(iss="https://evil.example"))


GATE = Gate()
TOKEN = GATE.token()
