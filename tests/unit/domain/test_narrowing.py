"""For random chains and random uses: a child never allows what any of its ancestors does not (semantics §6)."""

from dataclasses import replace
from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st

from authority.domain.grant import AMOUNT_DIMENSIONS, FLAG_DIMENSIONS, SELECTOR_DIMENSIONS, Grant, GrantAction
from authority.domain.grant_chain import judge_chain
from authority.domain.grant_use import GrantUse, judge_use
from authority.domain.references import DAY, Instant, after
from tests.unit.domain.grants import ISSUER, NOW, ROOT, chain_of, child_of

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


@given(grants=chains(), use=USES, tenths=st.integers(-5, 25))
def test_a_child_allows_nothing_that_an_ancestor_does_not(grants: list[Grant], use: GrantUse, tenths: int) -> None:
    # Given a chain that holds, and any use of its last block alone, at any time
    chain = chain_of(*grants)
    holds = judge_chain(chain, (None,) * len(chain), ISSUER) is None
    event(f"holds: {holds}")
    assume(holds)
    now = Instant(NOW + tenths * (DAY // 10))
    *ancestors, presented = chain

    # When the last block allows it
    if judge_use((presented,), use, now) is None:
        event("allowed")

        # Then so does every ancestor, and the whole chain
        assert all(judge_use((ancestor,), use, now) is None for ancestor in ancestors)
        assert judge_use(chain, use, now) is None


@given(grants=chains(), data=st.data())
def test_whatever_a_child_names_its_ancestors_select(grants: list[Grant], data: st.DataObject) -> None:
    # Given a chain that holds, and a use made of what its last block itself says, so that it is often allowed
    chain = chain_of(*grants)
    assume(judge_chain(chain, (None,) * len(chain), ISSUER) is None)
    terms = grants[-1]

    def one_of(names: tuple[str, ...] | None) -> str | None:
        concrete = [name.replace("*", "a") for name in names or ()]
        return data.draw(st.sampled_from(concrete)) if concrete else None

    use = GrantUse(
        action=one_of(terms.actions) or "memory.recall",
        audience=one_of(terms.audiences) or "t",
        resource=one_of(terms.resources),
        read_memory_namespace=one_of(terms.read_memory_namespaces),
        write_memory_namespace=one_of(terms.write_memory_namespaces),
        tool=one_of(terms.tools),
        provider=one_of(terms.providers),
        model=one_of(terms.models),
        usd_micros=terms.usd_micros or 0,
        tokens=terms.tokens or 0,
        latency_ms=terms.latency_ms or 0,
        concurrency=terms.concurrency or 0,
        uses=terms.uses or 0,
        network=bool(terms.network),
        destructive=bool(terms.destructive),
    )
    now = terms.not_before_time
    is_allowed = judge_use(chain[-1:], use, now) is None
    event(f"allowed: {is_allowed}")

    # Then so does every ancestor
    assert not is_allowed or all(judge_use((ancestor,), use, now) is None for ancestor in chain)
