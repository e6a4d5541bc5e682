"""`make conformance-mutants`: the whole suite against every mutant, and for each all cases that fail.

`--only WORDS` takes the mutants whose name holds these words, `--meant` no other case than the one that is meant.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from authority.embedded import start_valkey
from tests.conformance.mutants.ground import Ground, NotJudged
from tests.conformance.mutants.table import Drifted, Mutant, mutants
from tests.real_servers import postgres_to_copy


def main() -> int:
    """1 when a mutant got past the case that is meant for it, or could not be judged."""
    parser = argparse.ArgumentParser(prog="make conformance-mutants", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORDS", help="mutants whose name holds these words")
    parser.add_argument("--meant", action="store_true", help="run the case that is meant for each, and no other")
    wishes = parser.parse_args()
    missed = 0
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as folder,
        postgres_to_copy(Path(folder) / "postgres") as postgres,
        start_valkey(Path(folder) / "valkey") as valkey,
        Ground.laid(postgres, valkey.url, Path(folder)) as ground,
    ):
        for mutant in (mutant for mutant in mutants() if wishes.only in mutant.name):
            missed += not _is_caught(ground, mutant, meant_alone=wishes.meant)
    return int(missed > 0)


def _is_caught(ground: Ground, mutant: Mutant, *, meant_alone: bool) -> bool:
    started = time.monotonic()
    try:
        with ground.served(mutant) as target:
            judged = ground.judge(target, [mutant.case] if meant_alone else [])
    except (Drifted, NotJudged) as broken:
        print(f"NOT JUDGED: {mutant.name}: {str(broken)[:200]}", flush=True)
        return False
    is_caught = mutant.is_caught_by(judged.failed)
    word = "caught" if is_caught else "GOT PAST"
    print(f"{word} by {mutant.case}: {mutant.name} ({time.monotonic() - started:.1f} s)", flush=True)
    for case, steps in judged.failed.items():
        print(f"  {case}: {steps.splitlines()[0]}", flush=True)
    return is_caught


if __name__ == "__main__":
    sys.exit(main())
