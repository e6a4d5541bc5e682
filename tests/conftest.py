"""Settings of the whole test run."""

import os
import signal
from types import FrameType

from hypothesis import settings

pytest_plugins = ["tests.real_servers", "tests.installation.fixtures"]

settings.register_profile("developer", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "developer")


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Ends the run as Python's own handler does, and is another one.

    Whoever runs the tests in the background of a script may have had SIGINT ignored, and every process that a test
    starts would inherit that; a handler is not inherited, so the default is.

    And where asyncio finds Python's own handler, it puts one of its own around each fixture and each test, and looks
    whether it is still there; for such a look CPython writes out the whole task, with every value that its fixtures
    have, for the message of an error that nobody sees. That was a quarter of the processor's time.
    """
    signal.default_int_handler(number, frame)


signal.signal(signal.SIGINT, _interrupt)
# nohup has SIGHUP ignored.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)
