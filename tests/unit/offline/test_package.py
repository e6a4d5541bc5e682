"""The package as others see it: what it exports, which errors it has, and that it stands alone."""

import inspect
import subprocess
import sys

import pytest

from capability_authority import offline
from capability_authority.offline import errors

ERRORS = [each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, errors.OfflineError)]


def test_everything_named_is_there_and_named_once() -> None:
    assert len(set(offline.__all__)) == len(offline.__all__)
    assert all(hasattr(offline, name) for name in offline.__all__)


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_is_exported_and_drawn_in_the_tree(error: type[errors.OfflineError]) -> None:
    assert getattr(offline, error.__name__) is error
    assert f" {error.__name__}" in (errors.__doc__ or "")
    assert issubclass(error, ValueError)


def test_it_works_where_neither_grpc_nor_the_service_is_installed() -> None:
    program = """
import sys
sys.modules["grpc"] = None
sys.modules["authority"] = None
from capability_authority.offline import *
from capability_authority.v1.statements_pb2 import Invocation
key = PrivateKey.generate()
opened = open_statement(sign(Invocation(audience="a"), key), expected=Invocation, keys=lambda _: key.public_key)
assert opened.audience == "a"
"""

    finished = subprocess.run([sys.executable, "-W", "error", "-c", program], check=False, capture_output=True)

    assert finished.returncode == 0, finished.stderr.decode()
