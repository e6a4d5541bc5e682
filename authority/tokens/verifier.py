"""Verifies bearer tokens (RFC 7519, RFC 8725): an issuer's own key and algorithm, our audience, and our own clock."""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final, TypeGuard

import jwt

from authority.domain import limits
from authority.domain.references import SECOND, Instant, TenantRef
from authority.domain.shape import is_id, is_instant
from authority.domain.token import VerifiedToken
from authority.tokens.cached_keys import CachedKeys, CacheTimes
from authority.tokens.issuers import TokenIssuer
from authority.tokens.key_set import KID_BYTES, TokenKey
from authority.usecases.ports import Clock

_WRONG: Final = (jwt.PyJWTError, ValueError, TypeError, KeyError, RecursionError, OverflowError)
"""What reading something made up can raise; of a ValueError, unreadable numbers and texts that are no UTF-8, too."""
_REQUIRED: Final = ("iss", "aud", "exp", "nbf")
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
_UNREAD: Final = {"verify_signature": False}


class TokenVerifier:
    """Implements `ports.Tokens`."""

    def __init__(self, issuers: Sequence[TokenIssuer], clock: Clock, times: CacheTimes | None = None) -> None:
        self._issuers = {issuer.issuer: (issuer, CachedKeys(issuer, times)) for issuer in issuers}
        self._clock = clock

    @property
    def are_taken(self) -> bool:
        """Whether there is an issuer."""
        return bool(self._issuers)

    async def verify(self, token: str) -> VerifiedToken | None:
        """What the token says; None for one that is not valid here and now. Raises DependencyUnavailable."""
        # Unverified, for it only says whose keys are to be tried: those then find a forged `iss` out.
        known = self._issuers.get(_claimed_issuer(token))
        kid = _kid(token)
        if known is None or kid is None:
            return None
        issuer, keys = known
        key = await keys.key(kid)
        if key is None:
            return None
        claims = _verified_claims(token, issuer, key)
        return _told(claims, issuer, self._clock.now()) if claims else None

    async def close(self) -> None:
        """Ends what is read in the background."""
        for _, keys in self._issuers.values():
            await keys.close()


@contextlib.asynccontextmanager
async def open_verifier(issuers: Sequence[TokenIssuer], clock: Clock) -> AsyncIterator[TokenVerifier]:
    """A verifier that is closed when the block ends."""
    verifier = TokenVerifier(issuers, clock)
    try:
        yield verifier
    finally:
        await verifier.close()


def _claimed_issuer(token: str) -> str:
    try:
        issuer = jwt.decode(token, options=_UNREAD).get("iss")  # type: ignore[arg-type] # the stubs want all options
    except _WRONG:
        return ""
    return issuer if isinstance(issuer, str) else ""


def _kid(token: str) -> str | None:
    """The key id of the header, None for a header that asks for what we do not do."""
    try:
        header = jwt.get_unverified_header(token)
    except _WRONG:
        return None
    kid, kind = header.get("kid"), header.get("typ", "JWT")
    is_usual = "crit" not in header and "b64" not in header and isinstance(kind, str) and kind.lower() in _TYPES
    return kid if is_usual and _is_text(kid, KID_BYTES) else None


def _verified_claims(token: str, issuer: TokenIssuer, key: TokenKey) -> Mapping[str, Any] | None:
    """The claims, when the key's own algorithm verifies them; the header's is only compared with it (case E06)."""
    try:
        return jwt.decode(
            token,
            key.key,
            algorithms=[key.algorithm],
            audience=issuer.audience,
            issuer=issuer.issuer,
            options={
                "require": [*_REQUIRED],
                # By our own clock, below.
                "verify_exp": False,
                "verify_nbf": False,
                "verify_iat": False,
                "verify_sub": False,
                "verify_jti": False,
                "enforce_minimum_key_length": True,
            },
        )
    except _WRONG:
        return None


def _told(claims: Mapping[str, Any], issuer: TokenIssuer, now: Instant) -> VerifiedToken | None:
    subject, tenant = claims.get(issuer.principal_claim), _tenant(claims, issuer)
    not_before, expire = _time(claims["nbf"]), _time(claims["exp"])
    if not_before is None or expire is None or not not_before - limits.NOT_BEFORE_SKEW_MS <= now < expire:
        return None
    if not _is_text(subject, limits.ID_BYTES) or tenant is None:
        return None
    return VerifiedToken(issuer.issuer, subject, tenant, expire)


def _tenant(claims: Mapping[str, Any], issuer: TokenIssuer) -> TenantRef | None:
    """The issuer's one tenant, else the one that the token names."""
    if issuer.tenant is not None:
        return issuer.tenant
    named = claims.get(issuer.tenant_claim)
    namespace, _, identifier = named.partition("|") if isinstance(named, str) else ("", "", "")
    return TenantRef(namespace, identifier) if is_id(namespace) and is_id(identifier) else None


def _is_text(value: object, most_bytes: int) -> TypeGuard[str]:
    """Whether it is a text that has bytes: one of JSON's may hold halves of characters, which have none."""
    try:
        return isinstance(value, str) and 0 < len(value.encode()) <= most_bytes
    except UnicodeEncodeError:
        return False


def _time(seconds: object) -> Instant | None:
    """A NumericDate in whole milliseconds; a number only, whatever a text could be read as."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        instant = Instant(int(seconds * SECOND))
    except (ValueError, OverflowError):  # Infinity, and what is not a number.
        return None
    return instant if is_instant(instant) else None
