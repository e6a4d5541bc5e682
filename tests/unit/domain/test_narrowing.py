"""For random chains and random uses: a child never allows what any of its ancestors does not (semantics §6)."""

from hypothesis import assume, event, given
from hypothesis import strategies as st

from authority.domain.grant import Grant
from authority.domain.grant_chain import judge_chain
from authority.domain.grant_use import GrantUse, judge_use
from authority.domain.references import DAY, Instant
from tests.unit.domain.grants import ISSUER, NOW, chain_of
from tests.unit.domain.random_grants import USES, chains


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
