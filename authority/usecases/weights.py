"""About how large stored values are when sent: never less than they are, so that pages keep within their size."""

from collections.abc import Iterable

from authority.domain.proposal import Cost, StoredProposal
from authority.domain.record import MemoryRecord

_REST_BYTES = 1024
"""Ids, digests, times and enum numbers of one item, and what the encoding adds."""
_TEXT_EXTRA_BYTES = 4
"""Tag and length of one text."""
_DIGEST_BYTES = 80
_COST_REST_BYTES = 48


def weight_of_record(record: MemoryRecord) -> int:
    """The bytes of a record, its content among them."""
    names = (record.memory_namespace, record.correlation_id, record.proposer.namespace, record.proposer.id)
    texts = _of_texts((*record.source_refs, *record.subject_refs, *names))
    return len(record.content) + texts + _of_rest(len(record.evidence_digests), record.costs)


def weight_of_proposal(proposal: StoredProposal) -> int:
    """The bytes of a proposal; where the store left the content out it weighs nothing."""
    revision = proposal.revision
    names = (
        revision.memory_namespace,
        revision.correlation_id,
        revision.proposer.namespace,
        revision.proposer.id,
        revision.validator_profile,
    )
    texts = _of_texts((*revision.source_refs, *revision.subject_refs, *names))
    return len(proposal.content) + texts + _of_rest(len(revision.evidence_digests), revision.costs)


def _of_texts(texts: Iterable[str]) -> int:
    return sum(len(text.encode()) + _TEXT_EXTRA_BYTES for text in texts)


def _of_rest(digests: int, costs: Iterable[Cost]) -> int:
    of_costs = sum(_of_texts((cost.stage, cost.model)) + _COST_REST_BYTES for cost in costs)
    return _REST_BYTES + digests * _DIGEST_BYTES + of_costs
