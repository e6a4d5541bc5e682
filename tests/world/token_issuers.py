"""An issuer of bearer tokens, which signs whatever it is asked to, good or bad."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from authority.domain.references import SECOND, Instant, TenantRef
from authority.tokens.issuers import TokenIssuer
from authority.tokens.sources import KeySource

ISSUER = "https://login.example"
AUDIENCE = "memory.example"
KID = "key-1"
LIFE_S = 600


def new_key() -> ec.EllipticCurvePrivateKey:
    """A key for ES256."""
    return ec.generate_private_key(ec.SECP256R1())


def jwk_of(key: ec.EllipticCurvePrivateKey, **changes: object) -> dict[str, Any]:
    """Its public half in a key set; a change to None leaves a member out."""
    jwk = {**jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": KID, "use": "sig", **changes}
    return {name: value for name, value in jwk.items() if value is not None}


def key_set(*keys: Mapping[str, Any]) -> bytes:
    """A JWK set."""
    return json.dumps({"keys": keys}).encode()


@dataclass(slots=True)
class TestIssuer:
    """One key, and a key set that tests may change."""

    __test__ = False
    now: Instant
    key: ec.EllipticCurvePrivateKey = field(default_factory=new_key)
    published: bytes = b""
    reads: int = 0

    def __post_init__(self) -> None:
        self.published = self.published or key_set(jwk_of(self.key))

    def read(self) -> bytes:
        """What a verifier reads."""
        self.reads += 1
        return self.published

    def trusted(self, **changes: Any) -> TokenIssuer:
        """As an operator names it."""
        settings: dict[str, Any] = {"issuer": ISSUER, "audience": AUDIENCE, "algorithms": ("ES256",)}
        return TokenIssuer(**{**settings, "keys": KeySource("here", self.read), **changes})

    def claims(self, of: TenantRef, subject: str = "svc-1", **changes: object) -> dict[str, Any]:
        """Good claims; a change to None leaves one out."""
        seconds = self.now // SECOND
        good = {"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "tenant": str(of), "nbf": seconds,
                "exp": seconds + LIFE_S}  # fmt: skip
        return {name: value for name, value in {**good, **changes}.items() if value is not None}

    def token(self, claims: Mapping[str, Any], *, key: Any = None, algorithm: str = "ES256", **header: object) -> str:
        """A token of these claims; `header` adds to what says which key and how."""
        return jwt.encode(dict(claims), key or self.key, algorithm, headers={"kid": KID, **header})
