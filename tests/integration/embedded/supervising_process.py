"""Runs both servers on the folder given as argument, tells where, and stops them at the end of its standard input."""

import json
import sys
import threading
from pathlib import Path

from authority.embedded import EmbeddedServers


def main() -> None:
    """Exit code 3 after Ctrl-C, 0 otherwise."""
    for _ in range(20):  # As a service has: when it is killed, they end one after the other.
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    try:
        with EmbeddedServers.start(Path(sys.argv[1])) as servers:
            answer = {
                "postgres_url": servers.postgres_url,
                "redis_url": servers.redis_url,
                "postgres_pid": servers.postgres.pid,
                "valkey_pid": servers.valkey.pid,
            }
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
            sys.stdin.read()
    except KeyboardInterrupt:
        sys.exit(3)


if __name__ == "__main__":
    main()
