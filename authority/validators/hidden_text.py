"""What a text says that a person who looks at it would not see, and what it says however it is spelt."""

import base64
import contextlib
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from authority.domain.material import Material
from authority.validators.json_strings import json_strings
from authority.validators.normalizing import normalized
from authority.validators.windows import windows

DECODED = 32
"""Encoded parts of one text that are decoded: those beyond are not looked into."""
_DEPTH = 2
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_COMMENTS = (("<!--", "-->"), ("{/*", "*/}"), ("[//]: #", "\n"), ("[comment]: #", "\n"))
"""How comments begin and end in HTML, in MDX, and in Markdown."""
_COMMENTS_READ = 256
_UNSEEN_ELEMENT = re.compile(
    r"<(?:span|div|p|font)\b[^>]{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0"
    r"|color\s*:\s*(?:white|#fff))[^>]{0,200}>([^<]{1,2000})",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"\b(?:alt|title|aria-label|data-[a-z-]{1,30})\s*=\s*\"([^\"]{1,2000})\"", re.IGNORECASE)
_ZEROS = re.compile(r"&#0+(?=[0-9])")
_NO_CHARACTER = re.compile(r"&#[0-9]{9,};?")
"""References to numbers beyond all characters. Python reads no number of thousands of digits."""
_PIECE = 16 * 1024
"""Characters that are folded at once: a single one may become eighteen, without the interpreter being let go."""
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_TAG_BASE = 0xE0000
_FLAG = "\U0001f3f4"
"""Before tags that spell a flag, which are meant so."""
_JOINING = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad\u180e\u034f")
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһӏԛԝвнкмтΑΒΕΖΗΙΚΜΝΟΡΤΥΧαενικορτυɡɩ",
    "aeopcyxijsdhlqwbhkmtABEZHIKMNOPTYXaevikoptugi",
)


def visible_text(material: Material) -> str:
    """What a reader sees: of JSON its strings and names."""
    text = material.content.decode("utf-8", "replace")
    if material.media_type != "application/json":
        return text
    try:
        return "\n".join(said for _, said in json_strings(text))
    except (ValueError, RecursionError):
        return text


def folded(text: str) -> str:
    """The text as it is read aloud: letters of one look are one letter, and what is not seen is away."""
    seen = "".join(it for it in text if it not in _JOINING and it not in _TURNING)
    bare = "".join(_bare(seen[at : at + _PIECE]) for at in range(0, len(seen), _PIECE))
    return " ".join(bare.split())


def _bare(seen: str) -> str:
    # Before casefolding: a capital Greek or Cyrillic letter looks like another Latin one than its small form.
    alike = normalized("NFKC", seen).translate(_LOOKALIKES).casefold().translate(_LOOKALIKES)
    return "".join(it for it in normalized("NFD", alike) if not unicodedata.combining(it))


def hidden_texts(text: str, depth: int = _DEPTH) -> Iterator[str]:
    """What stands in comments, in elements that are not shown, in Unicode tags, in base64 and in hexadecimal."""
    yield from _tagged(text)
    yield from _commented(text)
    for part in windows(text):
        for pattern in (_UNSEEN_ELEMENT, _ATTRIBUTE):
            yield from (match[1] for match in pattern.finditer(part))
    decoded = [*_decoded(text)]
    yield from decoded
    if depth > 1:
        for inner in decoded:
            yield from hidden_texts(inner, depth - 1)


def respelt_texts(text: str) -> Iterator[str]:
    """The text with percent encoding undone, and with character references undone, where that makes a difference."""
    yield from (other for other in (unquote(text), _unescaped(text)) if other != text)


def _unescaped(text: str) -> str:
    return html.unescape(_NO_CHARACTER.sub("\ufffd", _ZEROS.sub("&#", text)))


def unseen_runs(text: str) -> int:
    """Characters without a look of their own that stand between letters, where no language has them."""
    return sum(
        1
        for before, it, behind in zip(text, text[1:], text[2:], strict=False)
        if it in _JOINING and before.isascii() and behind.isascii() and before.isalpha() and behind.isalpha()
    ) + sum(it in _TURNING for it in text)


def _commented(text: str) -> Iterator[str]:
    for opening, closing in _COMMENTS:
        at = text.find(opening)
        for _ in range(_COMMENTS_READ):
            if at < 0:
                break
            end = text.find(closing, at)
            end = len(text) if end < 0 else end
            yield text[at + len(opening) : end]
            at = text.find(opening, end)


def _tagged(text: str) -> Iterator[str]:
    for match in _TAGS.finditer(text):
        if text[max(match.start() - 1, 0) : match.start()] != _FLAG:
            yield "".join(chr(ord(it) - _TAG_BASE) for it in match[0])


def _decoded(text: str) -> Iterator[str]:
    for number, match in enumerate(_ENCODED.finditer(text)):
        if number >= DECODED:
            return
        for raw in _raw(match[0]):
            said = raw.decode("utf-8", "ignore")
            if said.isprintable() or "\n" in said:
                yield said


def _raw(encoded: str) -> Iterator[bytes]:
    bare = encoded.rstrip("=")
    with contextlib.suppress(ValueError):
        yield base64.b64decode(bare.replace("-", "+").replace("_", "/") + "=" * (-len(bare) % 4), validate=True)
    with contextlib.suppress(ValueError):
        yield bytes.fromhex(bare)
