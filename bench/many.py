"""`batch_commit_vs_pgbench` and `stream_commit_vs_pgbench`: commits a second over the transactions of pgbench."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from bench.calls import BatchCommits
from bench.database import DatabaseWindow, settle
from bench.figures import Figure, figure_of, note, significant
from bench.load import Clients, Round, detail_of, rate_by_cpu
from bench.pgbench import Pgbench
from bench.profile import profile_of
from bench.stage import Stage
from bench.streams import StreamCommits

_PGBENCH_CLIENTS: Final = (8, 32)
_HOW: Final = (
    "150 bytes of JSON a commit, capabilities issued elsewhere, so that every signature is verified; bare channels of"
    " grpc.aio, requests and proofs made before the window and answers read after it. pgbench, on the same server and"
    " tables, prepared protocol, the better of 8 and 32 clients in each round: all lookups and writes of one commit as"
    " 20 statements in one transaction (bench/sql/one_commit.sql), as superuser, so without row security, and without"
    " judging what it reads"
)

_Commit: TypeAlias = Callable[[Stage, Clients], Round]
"""One round of commits."""


@dataclass(frozen=True, slots=True)
class _Round:
    pgbench: Mapping[int, Round]
    """By its number of clients."""
    commits: Mapping[str, Round]
    """By the way in which they came."""

    def ratio(self, way: str) -> float:
        return self.commits[way].rate / max(ran.rate for ran in self.pgbench.values())


def measure_many(stage: Stage) -> Iterator[Figure]:
    """Rounds of pgbench and of commits in turn, so that all see the same machine."""
    rounds: list[_Round] = []
    with _load(stage, list(_WAYS)) as load:
        pgbench = _pgbench(stage)
        database = DatabaseWindow(stage.installation.admin_url)
        for _ in range(stage.options.rounds):
            ran = {number: _run_pgbench(stage, pgbench, number) for number in _PGBENCH_CLIENTS}
            rounds.append(_Round(ran, {way: commit(stage, load) for way, commit in _WAYS.items()}))
        commits = sum(one.operations for round_ in rounds for one in round_.commits.values())
        did = database.detail(commits, alone=False)
    by_clients = {number: [round_.pgbench[number] for round_ in rounds] for number in _PGBENCH_CLIENTS}
    pgbenches = {f"pgbench_{number}": detail_of(ran) for number, ran in by_clients.items()}
    detail = {"how": _HOW, **stage.detail(), "database": did, **pgbenches}
    for way in _WAYS:
        committed = [round_.commits[way] for round_ in rounds]
        by_cpu = rate_by_cpu(committed) / max(map(rate_by_cpu, by_clients.values()))
        specific = {**_settings(stage, way), "by_cpu": significant(by_cpu), "commit": detail_of(committed)}
        name = stage.named(f"{way}_commit_vs_pgbench")
        yield figure_of(name, [round_.ratio(way) for round_ in rounds], {**detail, **specific})


def profile_batch(stage: Stage) -> Iterator[Figure]:
    """Where the service's time goes under batches."""
    yield from _profile(stage, "batch")


def profile_stream(stage: Stage) -> Iterator[Figure]:
    """Where the service's time goes under streams."""
    yield from _profile(stage, "stream")


def _profile(stage: Stage, way: str) -> Iterator[Figure]:
    with _load(stage, [way]) as load:
        detail = {**stage.detail(), **_settings(stage, way)}
        yield profile_of(f"{way}_commit", stage, lambda: _WAYS[way](stage, load), detail)


@contextlib.contextmanager
def _load(stage: Stage, ways: Sequence[str]) -> Iterator[Clients]:
    """Clients with enough to commit, warmed up."""
    each = _batches(stage) * stage.options.batch_size * len(ways)
    with stage.loaded("-".join(ways), each * (stage.options.rounds + 1)) as load:
        for way in ways:
            _WAYS[way](stage, load)
        settle(stage.installation.admin_url)
        yield load


def _commit_batches(stage: Stage, load: Clients) -> Round:
    ran = load.run(BatchCommits(_batches(stage), stage.options.batch_size), stage.options.batches_at_once)
    note(f"… {ran.rate:.0f} commits/s in batches")
    return ran


def _commit_streams(stage: Stage, load: Clients) -> Round:
    ran = load.run(StreamCommits(_batches(stage) * stage.options.batch_size), stage.options.streams)
    note(f"… {ran.rate:.0f} commits/s over streams")
    return ran


_WAYS: Final[Mapping[str, _Commit]] = MappingProxyType({"batch": _commit_batches, "stream": _commit_streams})


def _pgbench(stage: Stage) -> Pgbench:
    """With rows enough, and warmed up as the service is: statistics tell of what it has written before."""
    rows = _transactions(stage) * (stage.options.rounds * len(_PGBENCH_CLIENTS) + 1)
    pgbench = Pgbench(stage.installation, stage.groups, rows)
    _run_pgbench(stage, pgbench, _PGBENCH_CLIENTS[0])
    settle(stage.installation.admin_url)
    return pgbench


def _run_pgbench(stage: Stage, pgbench: Pgbench, number: int) -> Round:
    ran = pgbench.run(number, _transactions(stage))
    note(f"… {ran.rate:.0f} transactions/s of pgbench with {number} clients")
    return ran


def _transactions(stage: Stage) -> int:
    """Of one run of pgbench: half of the commits of a round, for it runs twice."""
    return max(stage.options.many_commits // 2, *_PGBENCH_CLIENTS)


def _batches(stage: Stage) -> int:
    """Of a round, by each client."""
    return max(stage.share(stage.options.many_commits) // stage.options.batch_size, 1)


def _settings(stage: Stage, way: str) -> dict[str, object]:
    options = stage.options
    if way == "batch":
        return {"batch_size": options.batch_size, "batches_at_once": options.batches_at_once}
    return {"streams": options.streams}
