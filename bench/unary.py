"""`unary_commit_vs_echo`: unary commits a second over empty unary calls a second, on the same processes."""

from collections.abc import Iterator
from typing import Final

from bench.calls import EmptyCalls, UnaryCommits, Work
from bench.client import Order
from bench.figures import Figure, figure_of, note
from bench.load import Clients, Round, clients, detail_of
from bench.seeding import seed
from bench.stage import Stage

_HOW: Final = (
    "CommitValidated, 150 bytes of JSON each, capabilities issued elsewhere, so that every signature is verified; empty"
    " is grpc.health.v1.Health/Check of the same service, which passes through its interceptors but needs neither proof"
    " nor database. One generator for both, on bare grpc.aio channels: requests and proofs are made before the window"
    " and answers read after it, for the client's own signing and verifying is not what is measured."
)


def measure_unary(stage: Stage) -> Iterator[Figure]:
    """Rounds of empty calls and of commits in turn, so that both see the same machine."""
    options = stage.options
    each = options.unary_commits // options.clients
    requests = seed(stage.installation, "unary", each * options.clients * (options.rounds + 1), options.clients)
    channels = max(options.channels // options.clients, 1)
    with clients(stage.service.address, stage.installation.holder, requests, channels, stage.groups) as load:
        pairs = [_pair(load, stage, each) for _ in range(options.rounds + 1)][1:]
    empty, commits = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    detail = {"how": _HOW, "concurrent": options.concurrent, "clients": options.clients, "channels": options.channels}
    yield figure_of(
        "unary_commit_vs_echo",
        [one.rate / other.rate for other, one in pairs],
        {**detail, "empty": detail_of(empty), "commit": detail_of(commits)},
    )


def _pair(load: Clients, stage: Stage, each: int) -> tuple[Round, Round]:
    """Of these the first warms up: plans, caches, connections."""
    number, concurrent = stage.options.clients, stage.options.concurrent // stage.options.clients

    def run(work: Work) -> Round:
        return load.run([Order(work, concurrent)] * number)

    empty, commits = run(EmptyCalls(each)), run(UnaryCommits(each))
    note(f"… {empty.rate:.0f} empty calls/s, {commits.rate:.0f} unary commits/s")
    return empty, commits
