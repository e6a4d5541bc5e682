"""What the values hold: a version mark, then parts, each after its length. What does not fit exactly is no entry."""

from authority.domain.plan import StoredReceipt
from authority.domain.statement import Statement

_LEASE = b"L1"
_RECEIPT = b"R1"
_LENGTH_BYTES = 4


def pack_lease(token: str, fingerprint: bytes) -> bytes:
    """A lease of the owner `token` for the request with this fingerprint; the whole value is compared on release."""
    return _pack(_LEASE, token.encode(), fingerprint)


def running_fingerprint(entry: bytes) -> bytes | None:
    """The fingerprint of the request that holds the lease, or None for a value that is no lease."""
    match _unpack(_LEASE, entry):
        case [_, fingerprint]:
            return fingerprint
        case _:
            return None


def pack_receipt(receipt: StoredReceipt) -> bytes:
    """The replay entry of a receipt."""
    statement = receipt.statement
    return _pack(
        _RECEIPT,
        receipt.receipt_id.encode(),
        receipt.record_id.encode(),
        statement.payload_type.encode(),
        statement.payload,
        statement.key_id.encode(),
        statement.signature,
        receipt.fingerprint,
    )


def unpack_receipt(entry: bytes) -> StoredReceipt | None:
    """The receipt, or None for a value that is no replay entry. Nothing in it is verified yet (data, Redis)."""
    match _unpack(_RECEIPT, entry):
        case [receipt_id, record_id, payload_type, payload, key_id, signature, fingerprint]:
            pass
        case _:
            return None
    try:
        statement = Statement(payload_type.decode(), payload, key_id.decode(), signature)
        return StoredReceipt(receipt_id.decode(), record_id.decode(), statement, fingerprint)
    except UnicodeDecodeError:
        return None


def _pack(mark: bytes, *parts: bytes) -> bytes:
    return mark + b"".join(len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in parts)


def _unpack(mark: bytes, entry: bytes) -> list[bytes] | None:
    if not entry.startswith(mark):
        return None
    parts = []
    at = len(mark)
    while at < len(entry):
        start = at + _LENGTH_BYTES
        at = start + int.from_bytes(entry[at:start], "big")
        parts.append(entry[start:at])
    return parts if at == len(entry) else None
