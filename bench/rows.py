"""Puts committable proposals into the tables, as proposing, validating, deciding and issuing would have left them."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import sql

from authority.domain.references import Instant
from authority.domain.statement import Statement
from authority.postgres.rows import cost_documents, key_id_bytes
from bench.committable import Committable

_Row: TypeAlias = tuple[Any, ...]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_RESERVE: Final = "select setval('authority.decision_sequence', nextval('authority.decision_sequence') + %s)"

_HEAD: Final = "tenant proposal_id current_revision state"
_PROPOSAL: Final = (
    "tenant proposal_id revision digest memory_namespace memory_type content content_digest media_type proposer"
    " proposer_kind actor_chain provenance source_refs subject_refs evidence_digests validator_profile visibility"
    " correlation_id costs supersedes_record_id create_time"
)
_STATEMENT: Final = "payload_type payload key_id signature"
_VALIDATION: Final = (
    "tenant digest validation_id proposal_id revision memory_namespace validator_profile validator_profile_version"
    f" outcome sequence {_STATEMENT} validate_time expire_time"
)
_DECISION: Final = (
    "tenant digest decision_id proposal_id revision memory_namespace holder validation_receipt_digest policy_version"
    f" outcome sequence {_STATEMENT} decide_time expire_time"
)
_CAPABILITY: Final = (
    "tenant capability_id digest holder idempotency_key fingerprint proposal_id revision state"
    f" {_STATEMENT} not_before_time expire_time issue_time"
)


def reserve_sequences(connection: psycopg.Connection, count: int) -> int:
    """The first of so many places in the order of decisions, one after the other."""
    row = connection.execute(_RESERVE, (count,)).fetchone()
    assert row is not None
    last: int = row[0]
    return last - count + 1


def insert(connection: psycopg.Connection, batch: Sequence[Committable], *, issued: bool) -> None:
    """Inserts them, in the order that foreign keys ask for; with their capabilities when these are issued."""
    _copy(connection, "proposal_head", _HEAD, map(_head, batch))
    _copy(connection, "proposal", _PROPOSAL, map(_proposal, batch))
    _copy(connection, "validation_receipt", _VALIDATION, map(_validation, batch))
    _copy(connection, "decision_receipt", _DECISION, map(_decision, batch))
    if issued:
        _copy(connection, "capability", _CAPABILITY, map(_capability, batch))


def _copy(connection: psycopg.Connection, table: str, columns: str, rows: Iterator[_Row]) -> None:
    names = sql.SQL(", ").join(map(sql.Identifier, columns.split()))
    statement = sql.SQL("copy authority.{} ({}) from stdin").format(sql.Identifier(table), names)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _head(one: Committable) -> _Row:
    revision = one.proposal.revision
    return (str(revision.tenant), revision.proposal_id, revision.revision, one.proposal.state.value)


def _proposal(one: Committable) -> _Row:
    revision = one.proposal.revision
    return (
        str(revision.tenant),
        revision.proposal_id,
        revision.revision,
        one.proposal.digest,
        revision.memory_namespace,
        revision.memory_type.value,
        one.proposal.content,
        revision.content_digest,
        revision.media_type,
        str(revision.proposer),
        revision.proposer_kind.value,
        [str(actor) for actor in revision.actor_chain],
        revision.provenance.value,
        list(revision.source_refs),
        list(revision.subject_refs),
        list(revision.evidence_digests),
        revision.validator_profile,
        revision.visibility.value,
        revision.correlation_id,
        json.dumps(cost_documents(revision.costs)),
        revision.supersedes_record_id,
        _time(revision.create_time),
    )


def _validation(one: Committable) -> _Row:
    receipt = one.validation.receipt
    return (
        str(receipt.tenant),
        one.validation.digest,
        receipt.validation_id,
        receipt.proposal_id,
        receipt.proposal_revision,
        receipt.memory_namespace,
        receipt.validator_profile,
        receipt.validator_profile_version,
        receipt.outcome.value,
        one.sequence,
        *_statement(one.validation.statement),
        _time(receipt.validate_time),
        _time(receipt.expire_time),
    )


def _decision(one: Committable) -> _Row:
    receipt = one.decision.receipt
    return (
        str(receipt.tenant),
        one.decision.digest,
        receipt.decision_id,
        receipt.proposal_id,
        receipt.proposal_revision,
        receipt.memory_namespace,
        str(receipt.holder),
        receipt.validation_receipt_digest,
        receipt.policy_version,
        receipt.outcome.value,
        one.sequence + 1,
        *_statement(one.decision.statement),
        _time(receipt.decide_time),
        _time(receipt.expire_time),
    )


def _capability(one: Committable) -> _Row:
    terms = one.capability.terms
    return (
        str(terms.tenant),
        terms.capability_id,
        one.capability.digest,
        str(terms.holder),
        terms.commit_idempotency_key,
        one.fingerprint,
        terms.proposal_id,
        terms.proposal_revision,
        "issued",
        *_statement(one.capability.statement),
        _time(terms.not_before_time),
        _time(terms.expire_time),
        _time(terms.not_before_time),
    )


def _statement(statement: Statement) -> _Row:
    return statement.payload_type, statement.payload, key_id_bytes(statement.key_id), statement.signature


def _time(instant: Instant) -> datetime:
    return _EPOCH + timedelta(milliseconds=instant)
