"""Digests: text on the wire, 32 raw bytes inside (semantics §3)."""

import re
from collections.abc import Sequence

from authority.domain import limits
from authority.domain.refusal import malformed
from authority.rpc.convert.values import bound
from authority.rpc.refused import Refused

_PREFIX = "sha256:"
_FORM = re.compile(_PREFIX + "[0-9a-f]{64}")
_RULE = "must be sha256: and 64 lowercase hexadecimal digits"


def digest(text: str, path: str) -> bytes:
    """The raw digest; only the one exact form is one."""
    if not _FORM.fullmatch(text):
        raise Refused(malformed(path, _RULE if text else "required"))
    return bytes.fromhex(text.removeprefix(_PREFIX))


def key_id(text: str, path: str) -> str:
    """A key's id, which is the digest of the key and stays text."""
    digest(text, path)
    return text


def evidence_digests(texts: Sequence[str], path: str) -> tuple[bytes, ...]:
    """Digests in their order, which is bound; a second one of the same evidence is MALFORMED (case D10)."""
    bound(texts, limits.EVIDENCE_DIGESTS, path)
    seen: dict[bytes, None] = {}
    for index, text in enumerate(texts):
        raw = digest(text, f"{path}[{index}]")
        if raw in seen:
            raise Refused(malformed(f"{path}[{index}]", "must not repeat an earlier one"))
        seen[raw] = None
    return tuple(seen)


def digest_text(raw: bytes) -> str:
    """The digest as it is sent."""
    return _PREFIX + raw.hex()
