"""`authority top`: what an authority does, live."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.live import Live
from rich.text import Text

from authority.cli.arguments import AsJson
from authority.cli.endpoint import DEFAULT_DATA, find_endpoint, is_served
from authority.cli.failures import Refused
from authority.cli.output import console_for_answers, emit, printable, say
from authority.cli.top_figures import COUNTED, Counted, Figures, figures
from authority.telemetry.reading import NothingRead, read

_WITHIN_S: Final = 5.0
_FEWEST: Final = 6
"""Reasons that are shown at most."""


def _parse_url(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise typer.BadParameter(f"{text!r} is no http:// or https:// URL: write http://HOST:PORT/metrics")
    return text


def top(
    *,
    metrics: Annotated[
        str | None,
        typer.Option(
            parser=_parse_url,
            metavar="URL",
            help="Where metrics are shown; that of the embedded authority when left out.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Data folder of a running embedded authority; ./.authority when left out."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Look once, over one interval, and end.")] = False,
    interval: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, max=60, help="How long between looks.")] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Show live what an authority does: commits, replays, conflicts and refusals, how long commits take, and the rest.

    It reads the metrics that AUTHORITY_METRICS_LISTEN shows, which an embedded authority does by itself. Numbers are of
    all workers together, and since their start. Ctrl-C ends it. With --json each look is one line.
    """
    url = metrics or _embedded_url(data or DEFAULT_DATA)
    try:
        looks = _looks(url, interval)
        if once:
            _show(url, next(looks), as_json=as_json)
        else:
            # That is how it is ended.
            with contextlib.suppress(KeyboardInterrupt):
                _follow(url, looks, as_json=as_json)
    except NothingRead as error:
        raise Refused(f"{error}: is the authority running, and AUTHORITY_METRICS_LISTEN set?") from None


def _embedded_url(data: Path) -> str:
    if not is_served(data):
        where = "" if data == DEFAULT_DATA else f" from {data}"
        raise Refused(
            f"no embedded authority is served{where}: start one by `authority serve`, or name the address of"
            " AUTHORITY_METRICS_LISTEN by --metrics http://HOST:PORT/metrics"
        )
    url = find_endpoint(data).metrics
    if not url:
        raise Refused(f"the authority that is served from {data} shows no metrics: it is of an older version")
    return url


def _looks(url: str, interval: float) -> Iterator[Figures]:
    """A look after each interval. Raises NothingRead."""
    before, then = read(url, _WITHIN_S), time.monotonic()
    while True:
        time.sleep(interval)
        now, when = read(url, _WITHIN_S), time.monotonic()
        yield figures(before, now, when - then)
        before, then = now, when


def _follow(url: str, looks: Iterator[Figures], *, as_json: bool) -> None:
    if as_json:
        for seen in looks:
            emit(asdict(seen), in_one_line=True)
        return
    console = console_for_answers()
    if not console.is_terminal:
        for seen in looks:
            _show(url, seen, as_json=False)
            say()
        return
    with Live(Text(f"looking at {url} …"), console=console, auto_refresh=False, screen=True) as live:
        for seen in looks:
            live.update(Text("\n".join([*lines(url, seen), "", "Ctrl-C ends this"])), refresh=True)


def _show(url: str, seen: Figures, *, as_json: bool) -> None:
    if as_json:
        emit(asdict(seen))
        return
    for line in lines(url, seen):
        say(line)


def lines(url: str, seen: Figures) -> Iterator[str]:
    """The screen, on which nothing that was read steers the terminal."""
    return map(printable, _lines(url, seen))


def _lines(url: str, seen: Figures) -> Iterator[str]:
    by = f", {seen.workers} workers" if seen.workers > 1 else ""
    yield f"capability-authority {', '.join(seen.versions)} at {url}{by}"
    yield ""
    yield f"{'COMMITS':<12}{'A SECOND':>10}{'TOTAL':>12}"
    for outcome in COUNTED:
        yield _row(outcome, seen.commits[outcome])
    yield _row("issued", seen.issued)
    yield ""
    yield f"{'latency':<12}p50 {_ms(seen.p50_ms)}, p99 {_ms(seen.p99_ms)} of single commits"
    yield f"{'gathering':<12}{_commits_per_call(seen)}; {seen.waiting} waiting"
    yield f"{'streams':<12}{seen.streams} open"
    yield f"{'postgresql':<12}{seen.connections_used} of {seen.connections_most} connections in use{_clock(seen)}"
    yield f"{'redis':<12}{_redis(seen)}"
    yield f"{'outbox':<12}{_outbox(seen)}"
    yield f"{'refusals':<12}{_refusals(seen)}"


def _row(name: str, counted: Counted) -> str:
    return f"{name:<12}{counted.per_s:>10.1f}{counted.total:>12,}"


def _ms(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f} ms"


def _commits_per_call(seen: Figures) -> str:
    return "no commit yet" if seen.plans_per_call is None else f"{seen.plans_per_call:.1f} commits a call"


def _clock(seen: Figures) -> str:
    if seen.clock_ms is None:
        return "; it does not answer"
    ahead = "ahead of" if seen.clock_ms >= 0 else "behind"
    return f"; our clock is {abs(seen.clock_ms)} ms {ahead} its"


def _redis(seen: Figures) -> str:
    if seen.redis_used is None:
        return "not known"
    state = "used" if seen.redis_used else "AWAY: commits go on, reads are unavailable"
    return f"{state}; {seen.redis_failures:,} failures, {seen.redis_unanswered:,} commands unanswered"


def _outbox(seen: Figures) -> str:
    if seen.delivered is None:
        return "no relay is looked at"
    oldest = f", the oldest for {seen.oldest_s:.0f} s" if seen.pending else ""
    return f"{seen.pending:,} pending{oldest}; {seen.parked:,} parked; {seen.delivered.per_s:.1f} delivered a second"


def _refusals(seen: Figures) -> str:
    shown = [f"{reason} {counted.total:,}" for reason, counted in seen.refusals.items()]
    rest = f", and {len(shown) - _FEWEST} more reasons" if len(shown) > _FEWEST else ""
    return ", ".join(shown[:_FEWEST]) + rest or "none"
