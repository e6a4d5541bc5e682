"""By what contents are compared: kept with their validation, found when their proposal has become a record."""

from dataclasses import dataclass

from authority.domain import limits
from authority.domain.likeness import Traits, similarity_permille
from authority.domain.material import Alike, NearRecord
from authority.domain.references import Instant, PrincipalRef, TenantRef, after
from authority.domain.validation import BASELINE, ValidationReceipt, failed_for_secrets
from authority.postgres.connections import Connection, Database
from authority.postgres.sql import query

COMPARED = 1_000
"""Revisions that are looked at for each band and each assertion: beyond it a person has to look.

Whoever proposes the same again and again, and commits none of it, can crowd a band and gets a review, never a pass."""
NAMED = 16
"""Records that an answer names at most."""


@dataclass(frozen=True, slots=True)
class PostgresLikenesses:
    """Implements `ports.Likenesses`."""

    database: Database

    async def alike(
        self,
        tenant: TenantRef,
        memory_namespace: str,
        traits: Traits,
        *,
        reader: PrincipalRef,
        now: Instant,
        corrects: str = "",
    ) -> Alike:
        """Seeks by bands and by subject and predicate: no content is read, and not every signature."""
        place = (str(tenant), memory_namespace, corrects or None, now, COMPARED, NAMED)
        abouts, values = [one.about for one in traits.assertions], [one.value for one in traits.assertions]
        async with self.database.transaction(tenant, read_only=True) as connection:
            near = (
                await connection.fetch(query("near_records"), *place, list(traits.bands), str(reader))
                if traits.bands
                else []
            )
            against = (
                await connection.fetch(query("contradicted_records"), *place, abouts, values, str(reader))
                if abouts
                else []
            )
        found = [
            NearRecord(str(row["record_id"]), similarity_permille(traits.signature, row["signature"]))
            for row in near
            if row["record_id"]
        ]
        contradicted = tuple(str(row["record_id"]) for row in against if row["record_id"])
        return Alike(tuple(found), contradicted, all(row["complete"] for row in (*near, *against)))


async def note_secrets(connection: Connection, receipt: ValidationReceipt) -> None:
    """Notes that the revision's content is to be erased, or that it is not any longer."""
    revision = (str(receipt.tenant), receipt.proposal_id, receipt.proposal_revision)
    if failed_for_secrets(receipt.findings):
        due = after(receipt.validate_time, limits.ERASURE_DUE_MS)
        await connection.execute(query("note_secrets"), *revision, receipt.validate_time, due)
    elif receipt.validator_profile != BASELINE:
        await connection.execute(query("forget_secrets"), *revision)


async def keep_traits(connection: Connection, receipt: ValidationReceipt, traits: Traits) -> None:
    """Keeps what later contents are compared with this revision by. Judged again, it has the same."""
    revision = (str(receipt.tenant), receipt.proposal_id, receipt.proposal_revision)
    if traits.signature:
        await connection.execute(query("insert_signature"), *revision, traits.signature)
        await connection.execute(query("insert_bands"), *revision, receipt.memory_namespace, list(traits.bands))
    if traits.assertions:
        abouts, values = [one.about for one in traits.assertions], [one.value for one in traits.assertions]
        await connection.execute(query("insert_assertions"), *revision, receipt.memory_namespace, abouts, values)
