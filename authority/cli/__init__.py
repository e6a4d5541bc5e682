"""The command line `authority`: for the operator of the service, and for whoever wants to see it at work."""

import os
import sys

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """The console script: `authority …`."""
    # gRPC would write of its own to standard error what we say in a sentence.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        from authority.cli.app import run  # noqa: PLC0415 - takes most of a second, in which Ctrl-C may come already

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _INTERRUPTED
    sys.exit(code)
