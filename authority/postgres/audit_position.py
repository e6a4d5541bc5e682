"""How far a reader of the audit log has come: by snapshots, since no order of ids is that of becoming visible (H01)."""

import re
from dataclasses import dataclass, replace
from typing import Final, Self

_SNAPSHOT: Final = re.compile(r"(\d{1,20}):(\d{1,20}):(?:\d{1,20}(?:,\d{1,20})*)?")
_PLACE: Final = re.compile(r"[A-Za-z0-9]{1,64}-\d{1,10}")


@dataclass(frozen=True, slots=True)
class Place:
    """Which database a position is of. One that was restored to a point in time, or promoted, has a new timeline."""

    cluster: str
    timeline: int

    def __str__(self) -> str:
        return f"{self.cluster}-{self.timeline}"


@dataclass(frozen=True, slots=True)
class Seen:
    """A snapshot of the database: which transactions are visible. None of text for none at all."""

    snapshot: str | None
    least: int
    """Every transaction before this one is visible."""
    most: int
    """None from this one on is."""

    @classmethod
    def of(cls, snapshot: str) -> Self:
        """From PostgreSQL's own form, "xmin:xmax:xip,…". Raises ValueError for another."""
        match = _SNAPSHOT.fullmatch(snapshot)
        if match is None:
            raise ValueError("no snapshot")
        return cls(snapshot, int(match[1]), int(match[2]))


BEGINNING: Final = Seen(None, 0, 0)
"""Nothing is seen."""


@dataclass(frozen=True, slots=True)
class Position:
    """Everything in `seen` was told; and of what `until_seen` shows beyond it, all up to (`xid`, `event_id`)."""

    place: Place
    seen: Seen
    until_seen: Seen | None = None
    xid: int = 0
    event_id: int = 0

    def __str__(self) -> str:
        return ";".join(
            (
                str(self.place),
                self.seen.snapshot or "",
                (self.until_seen.snapshot if self.until_seen else None) or "",
                str(self.xid),
                str(self.event_id),
            )
        )

    def is_ahead_of(self, now: Seen) -> bool:
        """Whether it has seen what this database has not had yet: then it was of another, put back since."""
        reached = self.until_seen or self.seen
        return reached.most > now.most

    def until(self, now: Seen) -> "Position":
        """What is being read: unless a part is left of what was begun, all that `now` shows beyond."""
        return self if self.until_seen else replace(self, until_seen=now)

    def within(self, xid: int, event_id: int) -> "Position":
        """Told up to here."""
        return replace(self, xid=xid, event_id=event_id)

    def done(self) -> "Position":
        """All of it was told."""
        assert self.until_seen
        return Position(self.place, self.until_seen)

    def bounds(self) -> tuple[object, ...]:
        """What the query of news takes: both snapshots, the transactions between, and what was told of them."""
        assert self.until_seen
        first = max(self.seen.least, self.xid)
        return (
            self.seen.snapshot,
            self.until_seen.snapshot,
            str(first),
            str(self.until_seen.most),
            str(self.xid),
            self.event_id,
        )


def position_of(text: str) -> Position | None:
    """The position that was written so; None for what is none."""
    parts = text.split(";")
    if len(parts) != 5 or not _PLACE.fullmatch(parts[0]):  # noqa: PLR2004 - as many as `Position` writes
        return None
    cluster, _, timeline = parts[0].rpartition("-")
    try:
        seen, until_seen = (Seen.of(part) if part else None for part in parts[1:3])
        return Position(Place(cluster, int(timeline)), seen or BEGINNING, until_seen, int(parts[3]), int(parts[4]))
    except ValueError:
        return None
