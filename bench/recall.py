"""What a recall costs a tenant that is alone in the database, and the same among many: it depends on its own size."""

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import psycopg

from bench.cpu import Window
from bench.database import settle
from bench.figures import Figure, figure_of, note, significant
from bench.stage import Stage
from capability_authority.client import CapabilityAuthority

_SEED: Final = (Path(__file__).parent / "sql" / "seed_recall.sql").read_text(encoding="utf-8")
_NAMESPACE: Final = "recalled"
_QUERIES: Final = 40
"""Of a round, one after the other."""
_WORDS: Final = 5_000
_LEAST_MS: Final = 0.01
"""CPU is counted in ticks: so little shows as none."""
_HOW: Final = (
    "RecallRecords by the project's Python client, one word a query, twenty hits at most, one call after the other; a"
    " word is in about one of four hundred records of twelve words. Milliseconds are PostgreSQL's CPU for a recall, so"
    " that what else the machine does counts for little; `wall_ms` is the median of what a caller waits"
)


def measure_recall(stage: Stage) -> Iterator[Figure]:
    """The same queries of one tenant, before and after the others come."""
    tenants, records = stage.options.recall_tenants, stage.options.recall_records
    detail = {"how": _HOW, "workers": stage.workers, "records_of_the_tenant": records}
    _seed(stage, 0, 0)
    alone = _Rounds(stage)
    yield figure_of(stage.named("recall_alone_ms"), alone.cpu_ms, {**detail, "wall_ms": alone.wall_ms})
    _seed(stage, 1, tenants - 1)
    among = _Rounds(stage)
    of_all = {**detail, "tenants": tenants, "records": tenants * records, "wall_ms": among.wall_ms}
    yield figure_of(stage.named("recall_among_ms"), among.cpu_ms, of_all)
    ratio = median(among.cpu_ms) / median(alone.cpu_ms)
    yield figure_of(stage.named("recall_among_vs_alone"), [ratio], of_all)


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


class _Rounds:
    """Rounds of the same queries, after one that warms up."""

    def __init__(self, stage: Stage) -> None:
        self.cpu_ms: list[float] = []
        walls = []
        for number in range(stage.options.rounds + 1):
            window = Window(stage.groups)
            wall = asyncio.run(_ask(stage, random.Random(number)))  # noqa: S311 - which words is no secret
            if number:
                self.cpu_ms.append(max(window.end().by_group["postgres"] / _QUERIES * 1_000, _LEAST_MS))
                walls.append(wall)
        self.wall_ms = significant(median(walls))
        note(f"… a recall in {median(self.cpu_ms):.1f} ms of CPU, {self.wall_ms} ms to wait")


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
