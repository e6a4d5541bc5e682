"""Messages of CapabilityService that read commit receipts."""

from authority.domain.plan import StoredReceipt
from authority.domain.refusal import malformed
from authority.rpc.convert import values
from authority.rpc.convert.statements import optional_statement_message, statement_message
from authority.rpc.refused import Refused
from authority.usecases.paging import Page
from authority.usecases.read_receipts import FoundReceipt, ReceiptQuery
from capability_authority.v1 import capability_service_pb2 as pb


def receipt_query(request: pb.GetCommitReceiptRequest) -> ReceiptQuery:
    """Which receipt is meant: exactly one way to name it must be used."""
    match request.WhichOneof("by"):
        case "receipt_id":
            return ReceiptQuery(values.uuid(request.receipt_id, "receipt_id"), "", "")
        case "record_id":
            return ReceiptQuery("", values.uuid(request.record_id, "record_id"), "")
        case "commit_idempotency_key":
            return ReceiptQuery("", "", values.key(request.commit_idempotency_key, "commit_idempotency_key"))
        case None:
            raise Refused(malformed("by", "required"))


def receipt_response(found: FoundReceipt) -> pb.GetCommitReceiptResponse:
    """The receipt and what vouches for it."""
    return pb.GetCommitReceiptResponse(
        receipt=statement_message(found.receipt.statement),
        receipt_id=found.receipt.receipt_id,
        record_id=found.receipt.record_id,
        attestation=optional_statement_message(found.attestation),
    )


def receipts_response(page: Page[StoredReceipt]) -> pb.ListCommitReceiptsResponse:
    """A page of receipts."""
    return pb.ListCommitReceiptsResponse(
        receipts=[
            pb.ListCommitReceiptsResponse.Entry(
                receipt=statement_message(receipt.statement),
                receipt_id=receipt.receipt_id,
                record_id=receipt.record_id,
            )
            for receipt in page.items
        ],
        next_page_token=page.next_token,
    )
