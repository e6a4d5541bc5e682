"""What a recall costs a tenant that is alone in the database, and the same among many: it depends on its own size."""

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import psycopg

from bench.database import settle
from bench.figures import Figure, figure_of, note
from bench.stage import Stage
from capability_authority.client import CapabilityAuthority

_SEED: Final = (Path(__file__).parent / "sql" / "seed_recall.sql").read_text(encoding="utf-8")
_NAMESPACE: Final = "recalled"
_QUERIES: Final = 40
"""Of a round, one after the other."""
_WORDS: Final = 5_000
_HOW: Final = (
    "RecallRecords by the project's Python client, one word a query, twenty hits at most, one call after the other, the"
    " median of each round; a word is in about one of four hundred records of twelve words"
)


def measure_recall(stage: Stage) -> Iterator[Figure]:
    """The same queries of one tenant, before and after the others come."""
    tenants, records = stage.options.recall_tenants, stage.options.recall_records
    detail = {"how": _HOW, "workers": stage.workers, "records_of_the_tenant": records}
    _seed(stage, 0, 0)
    alone = _rounds(stage)
    yield figure_of(stage.named("recall_alone_ms"), alone, {**detail, "records": records})
    _seed(stage, 1, tenants - 1)
    among = _rounds(stage)
    of_all = {**detail, "tenants": tenants, "records": tenants * records}
    yield figure_of(stage.named("recall_among_ms"), among, of_all)
    yield figure_of(stage.named("recall_among_vs_alone"), [median(among) / median(alone)], of_all)


def _seed(stage: Stage, first: int, last: int) -> None:
    """The memory of these tenants, unless it is there; the tables' statistics are true afterwards."""
    begun = time.monotonic()
    given = {"first": first, "last": last, "records": stage.options.recall_records}
    with psycopg.connect(stage.installation.admin_url) as connection:
        # A superuser's eyes and hands: the tenant walls are the service's.
        found = "select from authority.memory_namespace where name = %s and tenant = %s"
        probe = "bench|tenant" if first == 0 else f"bench|recall-{first}"
        if last < first or connection.execute(found, (_NAMESPACE, probe)).fetchone() is not None:
            return
        with psycopg.ClientCursor(connection) as cursor:
            cursor.execute(_SEED.encode(), given)
    settle(stage.installation.admin_url)
    note(f"… memory of {last - first + 1} tenants in {time.monotonic() - begun:.1f} s")


def _rounds(stage: Stage) -> list[float]:
    asyncio.run(_ask(stage, random.Random(0)))  # noqa: S311 - which words are asked for is no secret
    found = [asyncio.run(_ask(stage, random.Random(number))) for number in range(stage.options.rounds)]  # noqa: S311
    note(f"… a recall in {median(found):.1f} ms")
    return found


async def _ask(stage: Stage, chance: random.Random) -> float:
    """The median milliseconds of a round's queries."""
    took = []
    proposer = stage.installation.proposer
    async with CapabilityAuthority.connect(stage.service.address, credentials=proposer) as client:
        for _ in range(_QUERIES):
            begun = time.perf_counter()
            async for _hit in client.recall(f"w{chance.randrange(_WORDS)}", memory_namespace=_NAMESPACE):
                pass
            took.append((time.perf_counter() - begun) * 1_000)
    return median(took)
