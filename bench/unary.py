"""`unary_commit_vs_echo`: unary commits a second over empty unary calls a second, on the same processes."""

import contextlib
from collections.abc import Iterator
from typing import Final

from bench.calls import EmptyCalls, Replays, UnaryCommits
from bench.database import DatabaseWindow, settle
from bench.figures import Figure, figure_of, note, significant
from bench.load import Clients, Round, detail_of, rate_by_cpu
from bench.profile import profile_of
from bench.stage import Stage
from bench.work import Work

_HOW: Final = (
    "CommitValidated, 150 bytes of JSON each, capabilities issued elsewhere, so that every signature is verified; empty"
    " is grpc.health.v1.Health/Check of the same service, which passes through its interceptors but needs neither proof"
    " nor database. One generator for both, on bare grpc.aio channels: requests and proofs are made before the window"
    " and answers read after it, for the client's own signing and verifying is not what is measured"
)
_REPLAY: Final = "CommitValidated of what was committed just before, with a new proof: answered from Redis"


def measure_unary(stage: Stage) -> Iterator[Figure]:
    """Rounds of empty calls, commits and their retries in turn, so that all see the same machine."""
    with _load(stage) as load:
        database = DatabaseWindow(stage.installation.admin_url)
        rounds = [
            (_empty_calls(stage, load), _commits(stage, load), _replays(stage, load))
            for _ in range(stage.options.rounds)
        ]
        empty, commits, replays = (list(kind) for kind in zip(*rounds, strict=True))
        did = database.detail(sum(one.operations for one in commits))
    by_cpu = significant(rate_by_cpu(commits) / rate_by_cpu(empty))
    detail = {
        **_detail(stage),
        "by_cpu": by_cpu,
        "empty": detail_of(empty),
        "commit": detail_of(commits),
        "database": did,
    }
    ratios = [one.rate / other.rate for one, other in zip(commits, empty, strict=True)]
    yield figure_of(stage.named("unary_commit_vs_echo"), ratios, detail)
    for percent in (50, 99):
        name = stage.named(f"unary_commit_p{percent}_ms")
        yield figure_of(name, [one.percentile_ms(percent) for one in commits], _detail(stage))
    detail = {**_detail(stage), "how": _REPLAY, "replay": detail_of(replays)}
    yield figure_of(stage.named("replays_per_s"), [replay.rate for replay in replays], detail)


def profile_unary(stage: Stage) -> Iterator[Figure]:
    """Where the service's time goes under unary commits."""
    with _load(stage) as load:
        yield profile_of("unary_commit", stage, lambda: _commits(stage, load), _detail(stage))


@contextlib.contextmanager
def _load(stage: Stage) -> Iterator[Clients]:
    """Clients with enough to commit, warmed up: plans, caches and connections are made."""
    each = stage.share(stage.options.unary_commits)
    with stage.loaded("unary", each * (stage.options.rounds + 1)) as load:
        _empty_calls(stage, load)
        _commits(stage, load)
        settle(stage.installation.admin_url)
        yield load


def _empty_calls(stage: Stage, load: Clients) -> Round:
    return _run(stage, load, EmptyCalls(stage.share(stage.options.unary_commits)), "empty calls")


def _commits(stage: Stage, load: Clients) -> Round:
    return _run(stage, load, UnaryCommits(stage.share(stage.options.unary_commits)), "unary commits")


def _replays(stage: Stage, load: Clients) -> Round:
    return _run(stage, load, Replays(stage.share(stage.options.unary_commits)), "replays")


def _run(stage: Stage, load: Clients, work: Work, what: str) -> Round:
    ran = load.run(work, stage.options.concurrent)
    note(f"… {ran.rate:.0f} {what}/s")
    return ran


def _detail(stage: Stage) -> dict[str, object]:
    return {"how": _HOW, **stage.detail(), "concurrent": stage.options.concurrent}
