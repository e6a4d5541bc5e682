"""`python -m authority.cli.workers`: one worker, which its parent starts and tells on standard input what to do."""

import sys

from authority.cli.workers.worker import main

if __name__ == "__main__":
    sys.exit(main())
