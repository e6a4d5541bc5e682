"""Settings of the whole test run."""

import os

from hypothesis import settings

pytest_plugins = ["tests.real_servers", "tests.installation.fixtures"]

settings.register_profile("developer", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "developer")
