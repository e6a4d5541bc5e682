"""Believes a receipt only when it verifies and is the one that was asked for."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.credentials import Reference
from capability_authority.client.errors import AuthorityError, ReceiptRejected
from capability_authority.client.failures import Failure
from capability_authority.client.key_sets import KeySets
from capability_authority.offline import OfflineError, to_wire
from capability_authority.v1.statements_pb2 import CommitReceipt, SignedStatement

__all__ = ["RECEIPT_TERMS", "believed", "name_of_tenant"]


def name_of_tenant(namespace: str, tenant_id: str) -> str:
    """A tenant in one text; no two tenants have the same."""
    return repr(tuple(Reference(namespace, tenant_id)))


RECEIPT_TERMS: Final[Mapping[str, Callable[[CommitReceipt], str]]] = MappingProxyType(
    {
        "receipt_id": lambda receipt: receipt.receipt_id,
        "record_id": lambda receipt: receipt.record_id,
        "commit_idempotency_key": lambda receipt: receipt.capability.commit_idempotency_key,
        "tenant": lambda receipt: name_of_tenant(receipt.capability.tenant.namespace, receipt.capability.tenant.id),
        "request_fingerprint": lambda receipt: to_wire(receipt.request_fingerprint),
    }
)
"""What of a receipt can be expected, by name."""


async def believed(
    key_sets: KeySets,
    failure: Failure,
    statement: SignedStatement,
    *,
    attestation: SignedStatement | None,
    content: bytes | None,
    expected: Mapping[str, str],
    arrived: float | None = None,
    **options: Unpack[CallOptions],
) -> CommitReceipt:
    """What the receipt says, once it verifies and has the `expected` terms and, when given, content.

    Raises `ReceiptRejected`, which tells of the call what `failure` tells; also when the keys cannot be fetched, for
    the call has succeeded then, but nothing proves it yet. `arrived` is as in `KeySets.verify_receipt`.
    """
    try:
        receipt = await key_sets.verify_receipt(
            statement, attestation=attestation, content=content, arrived=arrived, **options
        )
        presented = {term: RECEIPT_TERMS[term](receipt) for term in expected}
    except (OfflineError, AuthorityError) as error:
        raise ReceiptRejected(failure.saying(f"the receipt is not believed: {error}"), statement) from error
    for term, value in expected.items():
        if presented[term] != value:
            sentence = f"the receipt is another one: {term}: expected {value}, presented {presented[term]}"
            raise ReceiptRejected(failure.saying(sentence), statement)
    return receipt
