"""Public keys as they come from outside (semantics §3): what is no good key is refused when it is configured."""

from capability_authority.offline import KeyRefused, PublicKey


def public_key_problem(raw: bytes) -> str | None:
    """Why an Ed25519 public key of 32 bytes is refused, such as one of small order (case E03); None for a good one."""
    try:
        PublicKey(raw)
    except KeyRefused as error:
        return str(error)
    return None
