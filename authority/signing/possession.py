"""Proof that who registers a key holds it (semantics §2): a signature over the registration itself."""

from typing import Final

from authority.domain.references import PrincipalRef, TenantRef
from capability_authority.offline import KeyRefused, PrivateKey, PublicKey

_LABEL: Final = "capability-authority/key-registration/v1"
"""No statement begins like this (each begins with `DSSEv1`), so that a proof never passes for one, nor the reverse."""


class PossessionUnproved(ValueError):
    """The key cannot be registered: it is none, or its holder has not signed; the message names what is wrong."""


def new_key() -> PrivateKey:
    """A new key for a holder, from the operating system's random source."""
    return PrivateKey.generate()


def registration_message(tenant: TenantRef, principal: PrincipalRef, public_key: bytes) -> bytes:
    r"""What the holder signs with Ed25519: the label, tenant, principal and public key, a line each, in UTF-8.

    Tenant and principal are written `namespace|id`, the key as 64 lowercase hexadecimal digits; lines are joined by
    `\n`, none at the end. Ids hold neither of the separators, so no registration reads as another.
    """
    return "\n".join((_LABEL, str(tenant), str(principal), public_key.hex())).encode()


def require_possession(tenant: TenantRef, principal: PrincipalRef, public_key: bytes, proof: bytes) -> str:
    """The key id of the public key, once its holder has proved to hold it for this very registration.

    Raises `PossessionUnproved` for a key that is none, or is weak (case E03), and for any other signature.
    """
    try:
        key = PublicKey(public_key)
    except KeyRefused as error:
        raise PossessionUnproved(f"the public key is refused: {error}") from None
    if not key.verify(proof, registration_message(tenant, principal, public_key)):
        raise PossessionUnproved("the proof is no signature of this key over this registration")
    return key.key_id
