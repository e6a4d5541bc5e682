"""The shape of single values: pure checks that name what is wrong and leave the saying to their caller."""

import re

from authority.domain import limits
from authority.domain.references import Instant

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+/-]*")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ANY_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+")
_URI_PASSWORD = re.compile(r"[^:]+://[^/?#]*:[^/?#]*@")
_NO_SEGMENTS = frozenset({"", ".", ".."})
_MEDIA_TYPES = frozenset({"application/json", "text/plain"})

ID_RULE = "ASCII letters, digits and . _ : @ + / - , beginning with a letter or digit"


def is_id(text: str, most_bytes: int = limits.ID_BYTES) -> bool:
    """Whether `text` is an id, namespace or key: compared byte for byte, nothing trimmed (semantics §2, case A09)."""
    return len(text) <= most_bytes and _ID.fullmatch(text) is not None


def is_selector(text: str) -> bool:
    """Whether `text` can stand in a grant: whole segments, or a prefix of them and `/*` (semantics §6).

    Segments that are empty, `.` or `..` select nothing and are none, and `*` stands for nothing but whole segments.
    """
    name = text.removesuffix("/*")
    return len(text) <= limits.ID_BYTES and is_id(name) and not _NO_SEGMENTS.intersection(name.split("/"))


def is_uuid(text: str) -> bool:
    """Whether `text` has the form of the ids this authority makes: a lowercase UUID."""
    return _UUID.fullmatch(text) is not None


def is_media_type(text: str) -> bool:
    """Whether content of this media type can be proposed."""
    return text in _MEDIA_TYPES


def is_any_media_type(text: str) -> bool:
    """Whether evidence can be of this media type: `type/subtype` in lower case, without parameters (RFC 6838)."""
    return len(text) <= limits.ID_BYTES and _ANY_MEDIA_TYPE.fullmatch(text) is not None


def is_uri(text: str) -> bool:
    """Whether evidence can be referred to by it: an absolute URI (RFC 3986) in printable ASCII."""
    return len(text) <= limits.URI_BYTES and _URI.fullmatch(text) is not None


def holds_password(uri: str) -> bool:
    """Whether a URI's authority part names a user and a password, which no evidence may hold."""
    return _URI_PASSWORD.match(uri) is not None


def is_instant(milliseconds: int) -> bool:
    """Whether the instant lies in the range that every reader can hold (case C15)."""
    return limits.EARLIEST_MS <= milliseconds <= limits.LATEST_MS


def is_reference(text: str) -> bool:
    """Whether `text` can stand as a source or subject reference: printable, not empty, without NUL."""
    return 0 < len(text.encode()) <= limits.REF_BYTES and text.isprintable()


def is_within(instant: Instant, not_before: Instant, expire: Instant) -> bool:
    """Whether `instant` lies in `[not_before, expire)`."""
    return not_before <= instant < expire
