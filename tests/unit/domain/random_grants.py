"""Random chains of grants, most of which hold, and random uses of them."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from authority.domain.grant import AMOUNT_DIMENSIONS, FLAG_DIMENSIONS, SELECTOR_DIMENSIONS, Grant, GrantAction
from authority.domain.grant_use import GrantUse
from authority.domain.references import DAY, Instant, after
from tests.unit.domain.grants import NOW, ROOT, child_of

NAMES = st.sampled_from(["t", "t1", "t/a", "t/a/b", "t/b", "u", "u/a", "T/a", "t/..", "t/./a", "t//a"])
SELECTORS = NAMES | NAMES.map(lambda name: f"{name}/*") | st.sampled_from(["*", "t*", "t/*/*", ""])
ACTIONS = st.sampled_from([action.value for action in GrantAction])
AMOUNTS = st.none() | st.integers(0, 4)
INSTANTS = st.integers(-3, 3).map(lambda tenths: Instant(NOW + tenths * (DAY // 10)))

WIDEST = replace(
    ROOT,
    audiences=("t", "u"),
    actions=("memory.recall", "memory.propose"),
    resources=("t/*", "u"),
    read_memory_namespaces=("t/*", "t"),
    write_memory_namespaces=("t/a/*", "u"),
    tools=("t",),
    providers=("t", "t1"),
    models=("t/*",),
    usd_micros=4,
    tokens=4,
    latency_ms=4,
    concurrency=4,
    uses=4,
    delegation_depth=4,
)


def listed(names: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...] | None]:
    return st.none() | st.lists(names, max_size=3, unique=True).map(tuple)


BY_DIMENSION: dict[str, st.SearchStrategy[Any]] = {
    "audiences": listed(NAMES),
    "actions": listed(ACTIONS),
    **dict.fromkeys(SELECTOR_DIMENSIONS, listed(SELECTORS)),
    **dict.fromkeys(AMOUNT_DIMENSIONS, AMOUNTS),
    **dict.fromkeys(FLAG_DIMENSIONS, st.none() | st.booleans()),
    "not_before_time": INSTANTS,
    "expire_time": INSTANTS.map(lambda instant: after(instant, DAY)),
    "delegation_depth": st.integers(0, 4),
}

USES = st.builds(
    GrantUse,
    action=ACTIONS,
    audience=NAMES,
    resource=st.none() | NAMES,
    read_memory_namespace=st.none() | NAMES,
    write_memory_namespace=st.none() | NAMES,
    tool=st.none() | NAMES,
    provider=st.none() | NAMES,
    model=st.none() | NAMES,
    usd_micros=st.integers(0, 4),
    tokens=st.integers(0, 4),
    latency_ms=st.integers(0, 4),
    concurrency=st.integers(0, 4),
    uses=st.integers(0, 4),
    network=st.booleans(),
    destructive=st.booleans(),
)


CHANGED = st.lists(st.sampled_from(sorted(BY_DIMENSION)), max_size=5, unique=True)
"""Few dimensions at a time, so that chains often hold."""


def no_wider(said: Any) -> st.SearchStrategy[Any]:  # of the dimension's type
    """What is no wider than the parent's, by construction."""
    if isinstance(said, tuple):
        below = (f"{name.removesuffix('/*')}/a" for name in said if name.endswith("/*"))
        items = sorted({*said, *below})
        return st.lists(st.sampled_from(items), max_size=3, unique=True).map(tuple) if items else st.just(())
    return st.booleans().map(lambda flag: flag and said) if isinstance(said, bool) else st.integers(0, said)


def nothing_of(dimension: str) -> Any:  # of the dimension's type
    """What denies, said in so many words."""
    return type(getattr(ROOT, dimension))()


@st.composite
def chains(draw: st.DrawFn) -> list[Grant]:
    """A root and up to three generations, most of which hold."""
    chain = [replace(WIDEST, **{name: draw(BY_DIMENSION[name]) for name in draw(CHANGED)})]
    for _ in range(draw(st.integers(1, 3))):
        parent = chain[-1]
        changes = {name: nothing_of(name) for name in BY_DIMENSION if getattr(parent, name) is None}
        for name in draw(CHANGED):
            is_wild = draw(st.integers(0, 9)) == 0 or name in {"not_before_time", "expire_time", "delegation_depth"}
            changes[name] = draw(BY_DIMENSION[name] if is_wild else no_wider(getattr(parent, name) or nothing_of(name)))
        chain.append(child_of(parent, **changes))
    return chain
