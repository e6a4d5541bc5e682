"""Takes the fields of a JSON object one by one and notes what is wrong with them, as upstream's validator does.

Lengths are counted in UTF-16 code units and members are gone through in the order of JavaScript, so that both find the
same, in the same order.
"""

import datetime as dt
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeGuard

from capability_authority.offline.upstream.values import ActionRef, Issue, IssueCode

__all__ = ["TOKEN", "Fields", "Issues", "as_object", "utf16_length"]

TOKEN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*")
"""What ids that others compare are made of: a full match."""

_DIGEST: Final = re.compile(r"sha256:[a-f0-9]{64}")
_TIME: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_LARGEST_INDEX: Final = 2**32 - 2
_ID_LENGTH: Final = 256
_NAMESPACE_LENGTH: Final = 64
_DIGEST_LENGTH: Final = 71
_TIME_LENGTH: Final = 24
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_GREGORIAN_CYCLE: Final = dt.timedelta(days=146_097)
"""Four hundred years, after which the calendar repeats: Python has no year 0, JSON may."""
_CYCLE_YEARS: Final = 400
_MILLISECOND: Final = dt.timedelta(milliseconds=1)


class Issues(list[Issue]):
    """What was found wrong, in that order."""

    def note(self, path: str, code: IssueCode) -> None:
        """One more."""
        self.append(Issue(path, code))


def as_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether the value is a JSON object."""
    return isinstance(value, dict) and all(isinstance(name, str) for name in value)


def utf16_length(text: str) -> int:
    """How long JavaScript finds the text."""
    return len(text) + sum(character > "\uffff" for character in text)


@dataclass(frozen=True, slots=True)
class Fields:
    """The members of one object, which stands at `path`."""

    members: Mapping[str, object]
    path: str
    issues: Issues

    def refuse_unknown(self, known: Container[str]) -> None:
        """Notes every member that this schema does not have."""
        for name in _in_order(self.members):
            if name not in known:
                self.note(name, IssueCode.UNKNOWN_FIELD)

    def note(self, name: str, code: IssueCode) -> None:
        """Something is wrong with one member."""
        self.issues.note(f"{self.path}.{name}", code)

    def text(
        self, name: str, *, longest: int = _ID_LENGTH, form: re.Pattern[str] | None = None, optional: bool = False
    ) -> str | None:
        """A text neither empty nor too long, without control characters; None when it is absent or wrong."""
        if name not in self.members:
            if not optional:
                self.note(name, IssueCode.MISSING)
            return None
        value = self.members[name]
        if not isinstance(value, str):
            self.note(name, IssueCode.INVALID_TYPE)
            return None
        # The length in characters first: it is at hand, and never more than that in code units.
        is_long = len(value) > longest or utf16_length(value) > longest
        if not value or is_long or _CONTROL.search(value) or (form is not None and form.fullmatch(value) is None):
            self.note(name, IssueCode.INVALID_FORMAT)
            return None
        return value

    def word(self, name: str, words: Container[str], *, longest: int = _NAMESPACE_LENGTH) -> str | None:
        """A text that is one of the words; None for any other."""
        value = self.text(name, longest=longest)
        if value is None or value in words:
            return value
        self.note(name, IssueCode.UNSUPPORTED_VALUE)
        return None

    def token(self, name: str, *, longest: int = _ID_LENGTH, optional: bool = False) -> str | None:
        """An id as others compare it."""
        return self.text(name, longest=longest, form=TOKEN, optional=optional)

    def digest(self, name: str, *, optional: bool = False) -> str | None:
        """A SHA-256 digest: "sha256:" and 64 lowercase hexadecimal digits."""
        return self.text(name, longest=_DIGEST_LENGTH, form=_DIGEST, optional=optional)

    def time(self, name: str, *, optional: bool = False) -> int | None:
        """Milliseconds since 1970, of a time in UTC with exactly three decimals that exists in the calendar."""
        value = self.text(name, longest=_TIME_LENGTH, optional=optional)
        if value is None:
            return None
        instant = _instant(value)
        if instant is None:
            self.note(name, IssueCode.INVALID_FORMAT)
        return instant

    def reference(self, name: str, namespaces: Container[str], *, longest: int) -> ActionRef | None:
        """A reference `{namespace, id}`; its namespace is one of those given."""
        value, path = self.members.get(name), f"{self.path}.{name}"
        if not as_object(value):
            self.issues.note(path, IssueCode.INVALID_TYPE)
            return None
        fields = Fields(value, path, self.issues)
        fields.refuse_unknown({"namespace", "id"})
        namespace = fields.text("namespace", longest=_NAMESPACE_LENGTH)
        identifier = fields.text("id", longest=longest)
        if namespace is not None and namespace not in namespaces:
            fields.note("namespace", IssueCode.IDENTITY_NAMESPACE_REQUIRED)
            return None
        return None if namespace is None or identifier is None else ActionRef(namespace, identifier)


def _in_order(names: Iterable[str]) -> list[str]:
    """As JavaScript lists the members of an object: those that look like indices of a list first, by number."""
    return sorted(names, key=lambda name: int(name) if _is_index(name) else _LARGEST_INDEX + 1)


def _is_index(name: str) -> bool:
    return _INDEX.fullmatch(name) is not None and int(name) <= _LARGEST_INDEX


def _instant(text: str) -> int | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, millisecond = (int(part) for part in match.groups())
    cycle = _GREGORIAN_CYCLE if year == 0 else dt.timedelta(0)
    try:
        moment = dt.datetime(year or _CYCLE_YEARS, month, day, hour, minute, second, millisecond * 1_000, tzinfo=dt.UTC)
    except ValueError:
        return None
    return (moment - _EPOCH - cycle) // _MILLISECOND
