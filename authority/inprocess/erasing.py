"""Erases content that failed for secrets once its review is over."""

from collections.abc import Iterator
from dataclasses import replace

from authority.domain import limits
from authority.domain.audit import AuditEvent
from authority.domain.decision import ApprovalVerdict
from authority.domain.proposal import ProposalState
from authority.domain.references import Instant, PrincipalRef, TenantRef, after
from authority.domain.validation import BASELINE, ValidationOutcome, ValidationReceipt, failed_for_secrets
from authority.inprocess.tables import Tables

ERASER = PrincipalRef("authority", "eraser")
"""Who the audit log says it was."""
_AGAINST = frozenset({ApprovalVerdict.REJECT, ApprovalVerdict.REQUEST_CHANGES})
_Key = tuple[TenantRef, str, int]


def note_secrets(tables: Tables, receipt: ValidationReceipt) -> None:
    """Notes that the revision's content is to be erased, or that it is not any longer."""
    key = (receipt.tenant, receipt.proposal_id, receipt.proposal_revision)
    if failed_for_secrets(receipt.findings):
        tables.to_erase.setdefault(key, receipt.validate_time)
    elif receipt.validator_profile != BASELINE:
        tables.to_erase.pop(key, None)


def erase_reviewed(tables: Tables, now: Instant) -> int:
    """Erases what is due; answers how many."""
    due = list(_due(tables, now))
    for key in due:
        tenant, proposal_id, revision = key
        kept = tables.revisions[key]
        tables.revisions[key] = replace(kept, content=b"")
        del tables.to_erase[key]
        event = AuditEvent(
            tenant=tenant,
            kind="proposal.erase",
            actor=ERASER,
            subject=f"{proposal_id}:{revision}",
            previous_state="content kept",
            next_state="content erased",
            time=now,
            correlation_id=kept.revision.correlation_id,
        )
        tables.tell(event)
    return len(due)


def _due(tables: Tables, now: Instant) -> Iterator[_Key]:
    for key, fail_time in tables.to_erase.items():
        head = tables.heads[key[0], key[1]]
        newest = tables.newest_validation(*key)
        if newest is None or newest.receipt.outcome is not ValidationOutcome.FAIL:
            continue
        decided = any(one.verdict in _AGAINST and one.decide_time >= fail_time for one in tables.approvals_of(*key))
        over = decided or head.state is ProposalState.WITHDRAWN or after(fail_time, limits.ERASURE_DUE_MS) <= now
        if head.revision != key[2] or (head.receipt_id is None and over):
            yield key
