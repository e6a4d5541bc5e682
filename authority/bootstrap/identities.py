"""Wires who may call: keys that sign, client certificates, bearer tokens."""

import contextlib
from collections.abc import Sequence

from authority.config import Settings, SettingsError, TokenSettings
from authority.signing.certificates import CertificateReader
from authority.tokens.issuers import IssuersWrong, TokenIssuer, read_issuers
from authority.tokens.verifier import open_verifier
from authority.usecases.authenticate import Authenticate
from authority.usecases.ports import Clock, Registry, Statements


async def open_authentication(
    stack: contextlib.AsyncExitStack, settings: Settings, statements: Statements, registry: Registry, clock: Clock
) -> Authenticate:
    """What answers who calls; closed with the stack. Raises SettingsError."""
    return Authenticate(
        statements,
        registry,
        clock,
        CertificateReader(),
        trust_domains(settings),
        await stack.enter_async_context(open_verifier(token_issuers(settings), clock)),
    )


def trust_domains(settings: Settings) -> frozenset[str]:
    """The SPIFFE trust domains whose ids are taken."""
    return frozenset(settings.tls_trust_domains.split(",") if settings.tls_trust_domains else ())


def token_issuers(settings: TokenSettings) -> Sequence[TokenIssuer]:
    """The issuers whose tokens are taken. Raises SettingsError."""
    if settings.token_issuers is None:
        return ()
    try:
        return read_issuers(settings.token_issuers)
    except IssuersWrong as error:
        raise SettingsError(f"AUTHORITY_TOKEN_ISSUERS: {error}") from None
