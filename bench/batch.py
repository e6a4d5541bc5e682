"""`batch_commit_vs_pgbench`: commits a second in batches over the transactions of pgbench that do the same."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bench.calls import BatchCommits
from bench.client import Order
from bench.cpu import total
from bench.database import DatabaseWindow, settle
from bench.figures import Figure, figure_of, note, significant
from bench.load import Clients, Round, clients, detail_of
from bench.pgbench import Pgbench, Ran
from bench.profile import profile_of
from bench.seeding import seed
from bench.stage import Stage

_PGBENCH_CLIENTS: Final = (8, 32)
_HOW: Final = (
    "BatchCommitValidated, 150 bytes of JSON a commit, capabilities issued elsewhere, so that every signature is"
    " verified; requests and proofs are made before the window and answers read after it. pgbench, on the same server"
    " and tables, prepared protocol, the better of 8 and 32 clients in each round: all lookups and writes of one commit"
    " as 20 statements in one transaction (bench/sql/one_commit.sql), as superuser, so without row security, and"
    " without judging what it reads"
)


def measure_batch(stage: Stage) -> Iterator[Figure]:
    """Rounds of pgbench and of batches in turn, so that both see the same machine."""
    rounds: list[tuple[Mapping[int, Ran], Round]] = []
    with _load(stage) as load:
        each = _commits_of_a_round(stage) // 2
        pgbench = Pgbench(stage.installation, stage.groups, each * len(_PGBENCH_CLIENTS) * stage.options.rounds)
        database = DatabaseWindow(stage.installation.admin_url)
        for _ in range(stage.options.rounds):
            ran = {number: pgbench.run(number, each) for number in _PGBENCH_CLIENTS}
            note(f"… {' and '.join(f'{run.tps:.0f}' for run in ran.values())} transactions of pgbench/s")
            rounds.append((ran, _commits(stage, load)))
        did = database.detail(sum(commits.operations for _, commits in rounds), alone=False)
    pgbenches = {f"pgbench_{number}": _detail_of([ran[number] for ran, _ in rounds]) for number in _PGBENCH_CLIENTS}
    yield figure_of(
        "batch_commit_vs_pgbench",
        [commits.rate / max(run.tps for run in ran.values()) for ran, commits in rounds],
        {**_detail(stage), "commit": {**detail_of([commits for _, commits in rounds]), "database": did}, **pgbenches},
    )


def profile_batch(stage: Stage) -> Iterator[Figure]:
    """Where the service's time goes under batches."""
    with _load(stage) as load:
        yield profile_of("batch_commit", stage, lambda: _commits(stage, load), _detail(stage))


@contextlib.contextmanager
def _load(stage: Stage) -> Iterator[Clients]:
    """Clients with enough to commit, warmed up."""
    options = stage.options
    commits = _commits_of_a_round(stage) * (options.rounds + 1)
    requests = seed(stage.installation, "batch", commits, options.clients)
    channels = max(options.channels // options.clients, 1)
    with clients(stage.service.address, stage.installation.holder, requests, channels, stage.groups) as load:
        _commits(stage, load)
        settle(stage.installation.admin_url)
        yield load


def _commits(stage: Stage, load: Clients) -> Round:
    options = stage.options
    order = Order(BatchCommits(_batches(stage), options.batch_size), max(options.batches_at_once // options.clients, 1))
    ran = load.run([order] * options.clients)
    note(f"… {ran.rate:.0f} commits/s in batches")
    return ran


def _batches(stage: Stage) -> int:
    """Of a round, by each client."""
    options = stage.options
    return max(options.batch_commits // options.batch_size // options.clients, 1)


def _commits_of_a_round(stage: Stage) -> int:
    return _batches(stage) * stage.options.batch_size * stage.options.clients


def _detail(stage: Stage) -> dict[str, object]:
    options = stage.options
    return {"how": _HOW, "batch_size": options.batch_size, "batches_at_once": options.batches_at_once}


def _detail_of(runs: Sequence[Ran]) -> dict[str, object]:
    used = total([run.used for run in runs])
    return {"tps": [significant(run.tps) for run in runs], **used.detail(sum(run.transactions for run in runs))}
