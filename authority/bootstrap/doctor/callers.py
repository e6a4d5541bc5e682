"""Who may call without signing: the authorities of client certificates, and the issuers of tokens."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import datetime

from cryptography import x509

from authority.bootstrap.doctor.finding import Finding, ok, problem, warning
from authority.bootstrap.identities import token_issuers
from authority.bootstrap.server_tls import client_authorities
from authority.config import Settings, SettingsError
from authority.tokens.beside import beside
from authority.tokens.issuers import TokenIssuer
from authority.tokens.key_set import KeySetWrong, read_key_set
from authority.tokens.sources import SourceAway

_CLIENTS, _ISSUERS = "client certificates", "token issuers"


def look_at_clients(settings: Settings, now: datetime) -> Iterator[Finding]:
    """Who vouches for clients, and whether what they vouch for can be known; nothing where none are asked for."""
    if settings.tls_client_ca is None:
        if settings.tls_trust_domains is not None:
            yield warning(_CLIENTS, "trust domains are named, and no authority", "set AUTHORITY_TLS_CLIENT_CA, too")
        return
    if settings.tls_certificate is None or settings.tls_private_key is None:
        yield problem(_CLIENTS, "are asked for without TLS", "set AUTHORITY_TLS_CERTIFICATE, AUTHORITY_TLS_PRIVATE_KEY")
        return
    try:
        found = x509.load_pem_x509_certificates(client_authorities(settings.tls_client_ca))
    except SettingsError as error:
        yield problem(_CLIENTS, str(error).partition(": ")[2], "correct AUTHORITY_TLS_CLIENT_CA")
        return
    over = [one.subject.rfc4514_string() for one in found if one.not_valid_after_utc <= now]
    if over:
        yield warning(_CLIENTS, f"{', '.join(over)} has expired", "nobody gets in by it: take it out, or renew it")
    elif settings.tls_trust_domains is None:
        yield ok(_CLIENTS, "are taken by public key and subject; SPIFFE ids of no trust domain")
    else:
        yield ok(_CLIENTS, f"are taken, with SPIFFE ids of {settings.tls_trust_domains}")


async def look_at_issuers(settings: Settings) -> AsyncIterator[Finding]:
    """Whether each issuer's keys can be had; nothing where no tokens are taken."""
    try:
        issuers = token_issuers(settings)
    except SettingsError as error:
        yield problem(_ISSUERS, str(error).partition(": ")[2], "correct the file of AUTHORITY_TOKEN_ISSUERS")
        return
    for finding in await asyncio.gather(*map(_look_at_issuer, issuers)):
        yield finding


async def _look_at_issuer(issuer: TokenIssuer) -> Finding:
    remedy = f"see whether {issuer.keys.place} is there; tokens of {issuer.issuer} are refused until it is"
    try:
        keys = read_key_set(await beside(issuer.keys.read), issuer.algorithms)
    except (SourceAway, KeySetWrong) as error:
        return problem(_ISSUERS, f"{issuer.keys.place} {error}", remedy)
    if not keys:
        return problem(_ISSUERS, f"{issuer.keys.place} has no key with an id for its algorithms", remedy)
    return ok(_ISSUERS, f"{issuer.issuer} has {len(keys)} keys")
