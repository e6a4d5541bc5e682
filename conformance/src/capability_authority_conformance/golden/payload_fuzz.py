"""Python's half of the differential fuzz: changed payloads, and whether this reader takes them, a JSON line each.

    python -m capability_authority_conformance.golden.payload_fuzz --count 200000 --seed 1

Whoever reads payloads in another language reads the lines and compares (`conformance/vectors/README.md`).
"""

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from google.protobuf.json_format import MessageToDict

from capability_authority.offline import PAYLOAD_CLASSES, PayloadRefused, read_payload
from capability_authority_conformance.golden.payload_mutations import Draw, payloads

__all__ = ["main", "verdicts"]

_COUNT = 5_000


def verdicts(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """So many lines: `payload_type`, `payload` in hexadecimal digits, `accepted`, and `message` where it is."""
    for payload_type, payload in islice(payloads(Draw(seed)), count):
        try:
            message = MessageToDict(read_payload(payload_type, payload, PAYLOAD_CLASSES[payload_type]))
        except PayloadRefused:
            message = None
        yield {
            "payload_type": payload_type,
            "payload": payload.hex(),
            "accepted": message is not None,
            "message": message,
        }


def main(arguments: list[str]) -> int:
    """Prints them; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m capability_authority_conformance.golden.payload_fuzz",
        description="Print changed payloads with the verdict of the Python reader.",
    )
    parser.add_argument("--count", type=int, default=_COUNT, help=f"how many ({_COUNT:,})")
    parser.add_argument("--seed", type=int, default=1, help="which ones; the same seed gives the same payloads (1)")
    options = parser.parse_args(arguments)
    for verdict in verdicts(options.seed, options.count):
        sys.stdout.write(json.dumps(verdict, separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
