"""Settings of the whole test run."""

import os
import signal

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
