"""Key sets as groups of vectors show them."""

from typing import Final

from capability_authority_conformance.golden.form import Inputs
from capability_authority_conformance.golden.published_keys import published_key

__all__ = ["ISSUER_KEYS", "key_record"]

ISSUER_KEYS: Final = {
    "capability": "capability",
    "validation": "validation",
    "decision": "decision",
    "receipt": "receipt",
    "current receipt": "receipt",
    "grant": "grant",
    "revocation": "revocation",
    "holder": "holder",
}
"""Names of published keys and the purpose of each."""


def key_record(
    name: str,
    *,
    purpose: str | None = None,
    state: str = "active",
    compromised_since_ms: int | None = None,
    tenant: tuple[str, str] | None = None,
    memory_namespace: str | None = None,
) -> Inputs:
    """What a key set says of a published key: active, and good everywhere for what its name says, unless given."""
    public_key = published_key(name).public_key
    return {
        "key_id": public_key.key_id,
        "public_key": public_key.raw.hex(),
        "purpose": purpose or ISSUER_KEYS[name],
        "state": state,
        "compromised_since_ms": compromised_since_ms,
        "tenant": None if tenant is None else {"namespace": tenant[0], "id": tenant[1]},
        "memory_namespace": memory_namespace,
    }
