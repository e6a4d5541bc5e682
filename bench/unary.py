"""`unary_commit_vs_echo`: unary commits a second over empty unary calls a second, on the same processes."""

import contextlib
from collections.abc import Iterator
from typing import Final

from bench.calls import EmptyCalls, UnaryCommits, Work
from bench.client import Order
from bench.database import DatabaseWindow, settle
from bench.figures import Figure, figure_of, note
from bench.load import Clients, Round, clients, detail_of
from bench.profile import profile_of
from bench.seeding import seed
from bench.stage import Stage

_HOW: Final = (
    "CommitValidated, 150 bytes of JSON each, capabilities issued elsewhere, so that every signature is verified; empty"
    " is grpc.health.v1.Health/Check of the same service, which passes through its interceptors but needs neither proof"
    " nor database. One generator for both, on bare grpc.aio channels: requests and proofs are made before the window"
    " and answers read after it, for the client's own signing and verifying is not what is measured"
)


def measure_unary(stage: Stage) -> Iterator[Figure]:
    """Rounds of empty calls and of commits in turn, so that both see the same machine."""
    with _load(stage) as load:
        database = DatabaseWindow(stage.installation.admin_url)
        pairs = [(_empty_calls(stage, load), _commits(stage, load)) for _ in range(stage.options.rounds)]
        did = database.detail(sum(commits.operations for _, commits in pairs))
    yield figure_of(
        "unary_commit_vs_echo",
        [commits.rate / empty.rate for empty, commits in pairs],
        {
            **_detail(stage),
            "empty": detail_of([empty for empty, _ in pairs]),
            "commit": {**detail_of([commits for _, commits in pairs]), "database": did},
        },
    )


def profile_unary(stage: Stage) -> Iterator[Figure]:
    """Where the service's time goes under unary commits."""
    with _load(stage) as load:
        yield profile_of("unary_commit", stage, lambda: _commits(stage, load), _detail(stage))


@contextlib.contextmanager
def _load(stage: Stage) -> Iterator[Clients]:
    """Clients with enough to commit, warmed up: plans, caches and connections are made."""
    options = stage.options
    commits = _each(stage) * options.clients * (options.rounds + 1)
    requests = seed(stage.installation, "unary", commits, options.clients)
    channels = max(options.channels // options.clients, 1)
    with clients(stage.service.address, stage.installation.holder, requests, channels, stage.groups) as load:
        _empty_calls(stage, load)
        _commits(stage, load)
        settle(stage.installation.admin_url)
        yield load


def _empty_calls(stage: Stage, load: Clients) -> Round:
    return _run(stage, load, EmptyCalls(_each(stage)), "empty calls")


def _commits(stage: Stage, load: Clients) -> Round:
    return _run(stage, load, UnaryCommits(_each(stage)), "unary commits")


def _run(stage: Stage, load: Clients, work: Work, what: str) -> Round:
    options = stage.options
    ran = load.run([Order(work, options.concurrent // options.clients)] * options.clients)
    note(f"… {ran.rate:.0f} {what}/s")
    return ran


def _each(stage: Stage) -> int:
    """Calls of a round by each client."""
    return stage.options.unary_commits // stage.options.clients


def _detail(stage: Stage) -> dict[str, object]:
    options = stage.options
    return {
        "how": _HOW,
        "concurrent": options.concurrent,
        "clients": options.clients,
        "channels": options.channels,
    }
