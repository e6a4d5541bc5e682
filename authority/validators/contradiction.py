"""Whether living memory says something else of the same subject and predicate.

Content asserts something when it is a JSON object with `predicate` and `value`, and says of what by its `subject`, or
else by each of the proposal's subject refs; `assertions` in it may hold a list of such objects. Names are compared
without regard to case and white space, values exactly.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import islice

from authority.domain.likeness import MARK_BYTES, Assertion
from authority.domain.material import Material, Need
from authority.domain.validation import Judgement
from authority.validators.protocol import passes, review

ASSERTIONS = 64
"""Of one content: what it asserts beyond is not compared."""
CONFIDENCE = 900


class Contradiction:
    """No living record of the memory namespace says another value of the same subject and predicate."""

    name = "contradiction"
    version = "1"
    needs = frozenset({Need.ASSERTIONS})

    def judge(self, material: Material) -> Judgement:
        """Leaves a contradiction to a person, naming the record: which of the two is true nobody knows here."""
        alike = material.alike
        if alike is None:
            return review("not_compared")
        if alike.contradicted:
            return review(f"contradicts:{alike.contradicted[0]}", CONFIDENCE)
        return passes() if alike.is_complete else review("too_many_to_compare")


def assertions_of(content: bytes, media_type: str, subject_refs: Iterable[str]) -> tuple[Assertion, ...]:
    """What the content asserts, at most `ASSERTIONS` things. None for what is no JSON object."""
    if media_type != "application/json":
        return ()
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(document, dict):
        return ()
    listed = document.get("assertions")
    objects = [document, *(listed if isinstance(listed, list) else [])]
    found = (made for one in objects if isinstance(one, dict) for made in _made(one, tuple(subject_refs)))
    return tuple(dict.fromkeys(islice(found, ASSERTIONS)))


def _made(said: dict[str, object], subject_refs: tuple[str, ...]) -> Iterator[Assertion]:
    predicate, subject = said.get("predicate"), said.get("subject")
    if not isinstance(predicate, str) or "value" not in said:
        return
    value = _digest("value", json.dumps(said["value"], sort_keys=True, ensure_ascii=True))
    for name in (subject,) if isinstance(subject, str) else subject_refs:
        yield Assertion(_digest("about", _folded(name), _folded(predicate)), value)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


def _digest(*parts: str) -> bytes:
    hashed = hashlib.sha256()
    for part in parts:
        encoded = part.encode(errors="surrogatepass")
        hashed.update(len(encoded).to_bytes(4) + encoded)
    return hashed.digest()[:MARK_BYTES]
