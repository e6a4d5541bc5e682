"""`exchanges_per_s`: whole exchanges by the project's own client, from the proposal to the verified receipt."""

from collections.abc import Iterator
from typing import Final

from bench.database import settle
from bench.exchanges import Exchanges
from bench.figures import Figure, figure_of, note
from bench.load import Clients, Round, detail_of
from bench.profile import profile_of
from bench.stage import Stage

_HOW: Final = (
    "propose, validate, evaluate policy, issue, commit, without an approval: five calls by the project's Python client,"
    " which signs each, verifies the receipt, and is part of what is measured"
)


def measure_exchange(stage: Stage) -> Iterator[Figure]:
    """Rounds of exchanges."""
    with stage.loaded("exchange", 0) as load:
        _exchanges(stage, load)
        settle(stage.installation.admin_url)
        rounds = [_exchanges(stage, load) for _ in range(stage.options.rounds)]
    detail = {**_detail(stage), "exchange": detail_of(rounds)}
    yield figure_of(stage.named("exchanges_per_s"), [one.rate for one in rounds], detail)


def profile_exchange(stage: Stage) -> Iterator[Figure]:
    """Where the service's time goes under whole exchanges."""
    with stage.loaded("exchange", 0) as load:
        _exchanges(stage, load)
        settle(stage.installation.admin_url)
        yield profile_of("exchange", stage, lambda: _exchanges(stage, load), _detail(stage))


def _exchanges(stage: Stage, load: Clients) -> Round:
    ran = load.run(Exchanges(stage.share(stage.options.exchanges)), stage.options.concurrent)
    note(f"… {ran.rate:.0f} exchanges/s")
    return ran


def _detail(stage: Stage) -> dict[str, object]:
    return {"how": _HOW, **stage.detail(), "concurrent": stage.options.concurrent}
