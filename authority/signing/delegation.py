"""Hands a grant on offline, for the command line: with the key that it binds, and without asking any server."""

from secrets import token_bytes

from authority.domain import limits
from authority.domain.references import PrincipalRef
from authority.domain.statement import Statement
from capability_authority.offline import (
    DigestError,
    GrantExceeded,
    KeyRefused,
    Narrower,
    PrivateKey,
    PublicKey,
    StatementError,
    delegate,
    from_wire,
)
from capability_authority.v1.statements_pb2 import Signature, SignedStatement
from capability_authority.v1.types_pb2 import PrincipalRef as PrincipalMessage

__all__ = ["GrantExceeded", "Narrower", "NotHandedOn", "hand_on"]


class NotHandedOn(ValueError):
    """The grant cannot be handed on so; the message says why and names the dimension."""


def hand_on(
    parent: Statement, private_key: PrivateKey, holder: PrincipalRef, bound_to: str, narrower: Narrower
) -> Statement:
    """The child.

    `bound_to` is the new holder's raw public key in hexadecimal digits; or the id of its credential, `sha256:…`, and
    then it can present the child and hand nothing on.
    Raises `NotHandedOn`, also where the parent is no grant.
    """
    signature = Signature(key_id=parent.key_id, signature=parent.signature)
    sent = SignedStatement(payload_type=parent.payload_type, payload=parent.payload, signature=signature)
    try:
        child = delegate(
            sent,
            private_key,
            holder=PrincipalMessage(namespace=holder.namespace, id=holder.id),
            bound_to=_credential(bound_to),
            nonce=token_bytes(limits.GRANT_NONCE_BYTES),
            narrower=narrower,
        )
    except (StatementError, KeyRefused, DigestError) as error:
        raise NotHandedOn(str(error)) from None
    return Statement(child.payload_type, child.payload, child.signature.key_id, child.signature.signature)


def _credential(text: str) -> PublicKey | bytes:
    if text.startswith("sha256:"):
        return from_wire(text)
    try:
        return PublicKey(bytes.fromhex(text))
    except ValueError as error:
        raise KeyRefused(f"{text!r} is no public key: {error}") from None
