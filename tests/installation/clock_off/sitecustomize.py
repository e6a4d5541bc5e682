"""Puts the clock of a process off by the milliseconds in the file CLOCK_OFF, read at each look: as on a bad machine."""

import os
import time
from pathlib import Path

_true_time_ns = time.time_ns


def _time_ns() -> int:
    offset = Path(os.environ["CLOCK_OFF"]).read_text(encoding="ascii")
    return _true_time_ns() + int(offset) * 1_000_000


time.time_ns = _time_ns
