"""While it serves, Python looks for cycles of garbage rarely, but it does look."""

import gc
import weakref

from authority.cli.garbage import collecting_rarely


class Knot:
    """Refers to itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.itself = self


def test_cycles_are_freed_all_the_same() -> None:
    with collecting_rarely():
        # given a cycle that nobody refers to
        knot = weakref.ref(Knot())
        # when as many objects are made, and kept, as call for a collection
        kept: list[list[int]] = []
        while knot() is not None and len(kept) < 2 * gc.get_threshold()[0]:
            kept.append([])
        # then it is gone
        assert knot() is None


def test_what_was_there_before_is_left_alone_and_all_is_as_before_at_the_end() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with collecting_rarely():
        assert gc.get_freeze_count() > frozen
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
