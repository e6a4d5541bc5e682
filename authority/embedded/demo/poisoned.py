"""Content that should not become memory as it stands, and content that only looks so (cases G12 and G14).

Each line of poisoned.jsonl names a technique, and what the profile `guarded` says of it: the outcome, and the validator
that finds something. Everything in it is made up, credentials too.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class Poisoned:
    """One piece of content. `outcome` is pass, review or fail; `validator` is empty where nothing is found."""

    name: str
    technique: str
    media_type: str
    content: bytes
    outcome: str
    validator: str


def poisoned_contents() -> Iterator[Poisoned]:
    """All of them, in the order of the file."""
    text = resources.files(__package__).joinpath("poisoned.jsonl").read_text("utf-8")
    for line in text.splitlines():
        said = json.loads(line)
        content, expect = said["content"], said["expect"]
        is_text = isinstance(content, str)
        # Objects of strings alone: sorted and tight they are canonical.
        written = content if is_text else json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        yield Poisoned(
            said["name"],
            said["technique"],
            said["media_type"],
            written.encode(),
            expect["outcome"],
            expect["validator"],
        )
