"""Names under which upstream's signed envelopes may call a registered key, beside its thumbprint."""

import re
from dataclasses import dataclass
from typing import Final

from authority.domain import limits
from authority.domain.identity import Principal
from authority.domain.references import Instant, PrincipalRef, TenantRef

_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*")
_THUMBPRINT = "sha256:"

ALIAS_RULE: Final = (
    f"at most {limits.ID_BYTES} ASCII letters, digits and . _ : / @ + - , beginning with a letter or digit, and never"
    f" with {_THUMBPRINT} as thumbprints do"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAlias:
    """A name that an operator gave a key. Once revoked it may be given anew, to any key."""

    tenant: TenantRef
    alias: str
    key_id: str
    """The key's thumbprint."""
    principal: PrincipalRef
    """Whose key it is."""
    create_time: Instant
    revoke_time: Instant | None = None
    key_is_active: bool = True
    """Whether the key, and whose it is, are: else the name stands for nothing, revoked or not."""


@dataclass(frozen=True, slots=True)
class NamedKey:
    """An active Ed25519 key of an active principal, whatever it was called by."""

    principal: Principal
    key_id: str
    """Its thumbprint."""
    public_key: bytes
    create_time: Instant


def is_key_name(text: str) -> bool:
    """Whether upstream's verifier takes `text` for the keyId of a signed envelope; a thumbprint is one."""
    return len(text) <= limits.ID_BYTES and _TOKEN.fullmatch(text) is not None


def is_key_alias(text: str) -> bool:
    """Whether `text` can be given to a key as a name: so no name is ever equal to a thumbprint, anybody's."""
    return is_key_name(text) and not text.lower().startswith(_THUMBPRINT)
