"""A grant as the database keeps it."""

from collections.abc import Sequence
from typing import Any

from authority.domain.grant import OpenedGrant, principals_of
from authority.domain.references import Instant
from authority.postgres.rows import key_id_bytes, key_id_text

grant_name = key_id_text
"""A grant's digest as it stands in requests, in audit events and in the feed."""


def grant_row(block: OpenedGrant, chain: Sequence[bytes], now: Instant) -> tuple[Any, ...]:
    """The arguments of `insert_grant_record`. `chain` ends in the block's own digest. What is absent is 0."""
    terms, statement = block.terms, block.statement
    return (
        str(terms.tenant),
        block.digest,
        terms.parent_digest or None,
        list(chain),
        "authority" if terms.issuer else "holder",
        str(terms.subject),
        sorted({str(principal) for principal in principals_of(terms)}),
        str(terms.holder),
        terms.holder_key,
        terms.uses or 0,
        terms.tokens or 0,
        terms.usd_micros or 0,
        terms.concurrency or 0,
        statement.payload_type,
        statement.payload,
        key_id_bytes(statement.key_id),
        statement.signature,
        terms.not_before_time,
        terms.expire_time,
        terms.correlation_id,
        now,
    )
