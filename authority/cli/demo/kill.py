"""`authority demo --kill`: the story of a service that is killed in the middle of a commit, told as it happens."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.text import Text

from authority.bootstrap.embedded import embedded_settings
from authority.cli.demo.kill_acts import Act, Told, play
from authority.cli.failures import REFUSED
from authority.cli.output import Json, console_for_answers, emit, note, say
from authority.cli.running import run_to_end
from authority.embedded.ports import ADDRESS, free_port
from authority.usecases.administer import CommitCounts

_STYLES: Final = {"kill -9": "bold red", "retry": "green"}
_WIDE: Final = 9


def demo_kill(folder: Path, *, as_json: bool) -> int:
    """Plays it on an authority of its own in the folder; answers with the exit code. Raises Refused."""
    begun = time.monotonic()
    with embedded_settings(folder, lambda what: note(f"… {what}"), listen=f"{ADDRESS}:{free_port()}") as settings:
        acts = run_to_end(lambda: play(settings, folder, _untold if as_json else _tell))
    return conclude(acts, time.monotonic() - begun, as_json=as_json)


def conclude(acts: Sequence[Act], seconds: float, *, as_json: bool) -> int:
    """Says how it came out; answers with the exit code, which is 0 only if nothing was wrong."""
    if as_json:
        emit({"ok": _ok(acts), "seconds": round(seconds, 3), "acts": [_document(act) for act in acts]})
        note(_last_line(acts))
    else:
        for defect in (defect for act in acts for defect in act.defects):
            _line("wrong", Text(defect, style="bold red"))
        say(f"All in {seconds:.1f} s.")
        say(_last_line(acts))
    return 0 if _ok(acts) else REFUSED


def _tell(told: Told) -> None:
    if told.begins:
        say()
    _line(told.step, Text(told.text))
    if told.counts is not None:
        _line("", Text(_shown(told.counts), style="cyan"))


def _untold(told: Told) -> None:
    note(f"… {told.step}: {told.text}")


def _line(step: str, text: Text) -> None:
    line = Text(step.ljust(_WIDE), style=_STYLES.get(step, "")).append("  ").append_text(text)
    console = console_for_answers()
    if console.is_terminal:
        console.print(line, soft_wrap=True)
    else:
        say(line.plain.rstrip())


def _shown(counts: CommitCounts) -> str:
    found = {
        "record": counts.records,
        "receipt": counts.receipts,
        "event": counts.events,
        "consumed capability": counts.consumed_capabilities,
    }
    return " · ".join(f"{name} {count}" for name, count in found.items())


def _last_line(acts: Sequence[Act]) -> str:
    counts = (
        f"{act.firm}={act.counts.records}/{act.counts.receipts}/{act.counts.events}/{act.counts.consumed_capabilities}"
        for act in acts
    )
    return f"demo --kill {'ok' if _ok(acts) else 'FAILED'}: {' '.join(counts)}"


def _ok(acts: Sequence[Act]) -> bool:
    return not any(act.defects for act in acts)


def _document(act: Act) -> dict[str, Json]:
    return {
        "firm": act.firm,
        "database_went_on": act.goes_on,
        "after_kill": _counted(act.after_kill),
        "receipt_id": act.retried.receipt_id,
        "retry_replayed": act.retried.replayed,
        "second_retry_replayed": act.again.replayed,
        "same_receipt": act.again.receipt.statement == act.retried.receipt.statement,
        "counts": _counted(act.counts),
        "defects": act.defects,
    }


def _counted(counts: CommitCounts) -> dict[str, Json]:
    return {
        "records": counts.records,
        "receipts": counts.receipts,
        "events": counts.events,
        "consumed_capabilities": counts.consumed_capabilities,
    }
