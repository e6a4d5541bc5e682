"""`batch_commit_vs_pgbench`: commits a second in batches over the transactions of pgbench that do the same."""

from collections.abc import Iterator
from typing import Final

from bench.calls import BatchCommits
from bench.client import Order
from bench.cpu import total
from bench.figures import Figure, figure_of, note, significant
from bench.load import Round, clients, detail_of
from bench.pgbench import Pgbench, Ran
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
    options = stage.options
    batches = max(options.batch_commits // options.batch_size // options.clients, 1)
    order = Order(BatchCommits(batches, options.batch_size), max(options.batches_at_once // options.clients, 1))
    commits = batches * options.batch_size * options.clients
    requests = seed(stage.installation, "batch", commits * (options.rounds + 1), options.clients)
    channels = max(options.channels // options.clients, 1)
    rounds: list[tuple[Round, list[Ran]]] = []
    with clients(stage.service.address, stage.installation.holder, requests, channels, stage.groups) as load:
        load.run([order] * options.clients)
        each = commits // 2
        pgbench = Pgbench(stage.installation, stage.groups, each * len(_PGBENCH_CLIENTS) * (options.rounds + 1))
        for _ in range(options.rounds):
            ran = [pgbench.run(number, each) for number in _PGBENCH_CLIENTS]
            one = load.run([order] * options.clients)
            note(f"… pgbench {' and '.join(f'{run.tps:.0f}' for run in ran)} tps, {one.rate:.0f} commits/s in batches")
            rounds.append((one, ran))
    detail = {"how": _HOW, "batch_size": options.batch_size, "batches_at_once": options.batches_at_once}
    yield figure_of(
        "batch_commit_vs_pgbench",
        [one.rate / max(run.tps for run in ran) for one, ran in rounds],
        {
            **detail,
            "commit": detail_of([one for one, _ in rounds]),
            **{
                f"pgbench_{number}": _detail([ran[place] for _, ran in rounds])
                for place, number in enumerate(_PGBENCH_CLIENTS)
            },
        },
    )


def _detail(runs: list[Ran]) -> dict[str, object]:
    used = total([run.used for run in runs])
    return {"tps": [significant(run.tps) for run in runs], **used.detail(sum(run.transactions for run in runs))}
