"""`batch_issues_per_s`: capabilities issued in batches."""

import contextlib
from collections.abc import Iterator
from typing import Final

from bench.calls import BatchIssues
from bench.database import DatabaseWindow, settle
from bench.figures import Figure, figure_of, note
from bench.load import Clients, Round, detail_of
from bench.profile import profile_of
from bench.stage import Stage

_HOW: Final = (
    "BatchIssueCapabilities on proposals that were validated and allowed elsewhere, so that the signatures of both"
    " receipts are verified; requests and proofs are made before the window and answers read after it"
)


def measure_issue(stage: Stage) -> Iterator[Figure]:
    """Rounds of batches."""
    with _load(stage) as load:
        database = DatabaseWindow(stage.installation.admin_url)
        rounds = [_issues(stage, load) for _ in range(stage.options.rounds)]
        did = database.detail(sum(one.operations for one in rounds))
    detail = {**_detail(stage), "issue": detail_of(rounds), "database": did}
    yield figure_of(stage.named("batch_issues_per_s"), [one.rate for one in rounds], detail)


def profile_issue(stage: Stage) -> Iterator[Figure]:
    """Where the service's time goes when it issues in batches."""
    with _load(stage) as load:
        yield profile_of("batch_issue", stage, lambda: _issues(stage, load), _detail(stage))


@contextlib.contextmanager
def _load(stage: Stage) -> Iterator[Clients]:
    """Clients with enough to have issued, warmed up."""
    each = _batches(stage) * stage.options.batch_size
    with stage.loaded("issue", each * (stage.options.rounds + 1), issued=False) as load:
        _issues(stage, load)
        settle(stage.installation.admin_url)
        yield load


def _issues(stage: Stage, load: Clients) -> Round:
    ran = load.run(BatchIssues(_batches(stage), stage.options.batch_size), stage.options.batches_at_once)
    note(f"… {ran.rate:.0f} capabilities issued/s in batches")
    return ran


def _batches(stage: Stage) -> int:
    """Of a round, by each client: a quarter of what is committed, for this is not what the targets are about."""
    return max(stage.share(stage.options.many_commits) // 4 // stage.options.batch_size, 1)


def _detail(stage: Stage) -> dict[str, object]:
    options = stage.options
    at_once = {"batch_size": options.batch_size, "batches_at_once": options.batches_at_once}
    return {"how": _HOW, **stage.detail(), **at_once}
