"""Reads the keys of a token issuer: a JWK set (RFC 7517), of which only what can verify is taken."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jwt

KID_BYTES: Final = 256
_MOST_KEYS: Final = 64
_FITS: Final = {"RS": ("RSA", None), "PS": ("RSA", None), "EdDSA": ("OKP", "Ed25519")}
_CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}


class KeySetWrong(Exception):
    """The text is no JWK set. The message says why, and never what is in it."""


@dataclass(frozen=True, slots=True)
class TokenKey:
    """A public key and the one algorithm that it verifies by (case E06)."""

    kid: str
    algorithm: str
    key: jwt.PyJWK


def read_key_set(data: bytes, algorithms: Sequence[str]) -> Mapping[str, TokenKey]:
    """The keys by their ids. `algorithms` are the issuer's.

    Left out: a key without an id, or with that of another; of another use; that is private or a shared secret; too
    short; or with no algorithm of these. Raises KeySetWrong.
    """
    try:
        members = json.loads(data)
    except (ValueError, RecursionError):
        raise KeySetWrong("is no JSON") from None
    found = members.get("keys") if isinstance(members, dict) else None
    if not isinstance(found, list) or len(found) > _MOST_KEYS:
        raise KeySetWrong(f"is no JWK set of at most {_MOST_KEYS} keys")
    keys = [key for jwk in found if (key := _key(jwk, algorithms))]
    kids = Counter(jwk.get("kid") for jwk in found if isinstance(jwk, dict) and isinstance(jwk.get("kid"), str))
    return {key.kid: key for key in keys if kids[key.kid] == 1}


def _key(jwk: object, algorithms: Sequence[str]) -> TokenKey | None:
    if not isinstance(jwk, dict) or not _is_for_verifying(jwk):
        return None
    kid = jwk.get("kid")
    algorithm = next((one for one in algorithms if _fits(jwk, one)), None)
    if not isinstance(kid, str) or not 0 < len(kid) <= KID_BYTES or algorithm is None:
        return None
    try:
        key = jwt.PyJWK(jwk, algorithm)
        is_short = key.Algorithm.check_key_length(key.key) is not None
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None
    return None if is_short else TokenKey(kid, algorithm, key)


def _is_for_verifying(jwk: Mapping[str, Any]) -> bool:
    operations = jwk.get("key_ops", ["verify"])
    return jwk.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations and "d" not in jwk


def _fits(jwk: Mapping[str, Any], algorithm: str) -> bool:
    """Whether the key is for this algorithm: by its own word, when it has one, and by its type and curve always."""
    if jwk.get("alg", algorithm) != algorithm:
        return False
    kind, curve = _FITS.get(algorithm) or _FITS.get(algorithm[:2]) or ("EC", _CURVES.get(algorithm))
    return jwk.get("kty") == kind and (curve is None or jwk.get("crv") == curve)
