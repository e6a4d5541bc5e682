"""Signs, reads and judges statements; keeps the issuer keys and the secret of page tokens (semantics §3, §8)."""
