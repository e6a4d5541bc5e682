"""Settings of the whole test run."""

import asyncio
import os
import signal
from typing import Any

import pytest
from hypothesis import settings

pytest_plugins = ["tests.real_servers", "tests.installation.fixtures"]

settings.register_profile("developer", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "developer")

# Whoever runs the tests in the background of a script may have had SIGINT ignored, and every process that a test starts
# would inherit that; a handler of ours is not inherited, so the default is.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Likewise SIGHUP, by nohup.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)


class _BrieflyNamed(asyncio.Task[Any]):
    """A task that is written down by its name alone."""

    def __repr__(self) -> str:
        return f"<Task {self.get_name()}>"


@pytest.fixture(scope="session", autouse=True)
async def _tasks_are_named_briefly() -> None:
    """Spares a quarter of the processor's time.

    Around each fixture and each test asyncio puts a SIGINT handler of its own that holds their task, and looks whether
    it is still there; for such a look CPython writes the whole task out, with every value that its fixture made, for
    the message of an error that nobody sees.
    """

    def made(loop: asyncio.AbstractEventLoop, coro: Any, /, **given: Any) -> asyncio.Task[Any]:
        return _BrieflyNamed(coro, loop=loop, **given)

    asyncio.get_running_loop().set_task_factory(made)
