"""One use of a chain: every block allows it, at this time, and whoever presents it is its holder."""

from dataclasses import fields, replace
from typing import Any

import pytest

from authority.domain.grant import GrantAction
from authority.domain.grant_use import GrantUse, judge_holder, judge_use
from authority.domain.reasons import Reason
from authority.domain.references import DAY, SECOND, Instant, PrincipalRef, TenantRef, after
from authority.domain.refusal import Refusal
from tests.unit.domain.grants import NOW, ROOT, TENANT, chain_of, child_of

USE = GrantUse(
    action="memory.propose",
    audience="memory",
    resource="docs/a",
    read_memory_namespace="team/a",
    write_memory_namespace="team/build",
    tool="search",
    provider="local",
    model="small/1",
    usd_micros=1_000,
    tokens=2_000,
    latency_ms=3_000,
    concurrency=4,
    uses=5,
    network=True,
    destructive=True,
)
"""All that the root allows, at once."""

DIMENSIONS = {
    "action": ("actions", "memory.commit-validated"),
    "audience": ("audiences", "elsewhere"),
    "resource": ("resources", "docs"),
    "read_memory_namespace": ("read_memory_namespaces", "team1/a"),
    "write_memory_namespace": ("write_memory_namespaces", "team/build/../x"),
    "tool": ("tools", "Search"),
    "provider": ("providers", "other"),
    "model": ("models", "small/*"),
    "usd_micros": ("usd_micros", 1_001),
    "tokens": ("tokens", 2_001),
    "latency_ms": ("latency_ms", 3_001),
    "concurrency": ("concurrency", 5),
    "uses": ("uses", 6),
    "network": ("network", True),
    "destructive": ("destructive", True),
}
"""What each need is asked of, and a need that is too much."""


def exceeded(dimension: str) -> Refusal:
    return Refusal(Reason.GRANT_EXCEEDED, {"dimension": dimension})


def test_a_use_that_needs_all_there_is_is_allowed() -> None:
    assert judge_use(chain_of(ROOT, child_of(ROOT)), USE, NOW) is None


def test_every_need_is_asked_of_a_dimension() -> None:
    assert set(DIMENSIONS) == {need.name for need in fields(GrantUse)}


@pytest.mark.parametrize(("need", "dimension", "much"), [(need, *rest) for need, rest in DIMENSIONS.items()])
@pytest.mark.parametrize("narrow_block", [0, 1])
def test_a_use_that_needs_more_than_any_block_gives_is_refused(
    need: str, dimension: str, much: object, narrow_block: int
) -> None:
    # Given a chain of which one block allows less than the other: absent, or denied
    nothing: Any = type(getattr(ROOT, dimension))()
    for less in (None, nothing):
        changes: dict[str, Any] = {dimension: less}
        blocks = [ROOT, child_of(ROOT)]
        blocks[narrow_block] = replace(blocks[narrow_block], **changes)

        # Then what the other allows is refused
        assert judge_use(chain_of(*blocks), USE, NOW) == exceeded(dimension)

    # And so is what neither does
    if not isinstance(much, bool):
        needs: dict[str, Any] = {need: much}
        assert judge_use(chain_of(ROOT), replace(USE, **needs), NOW) == exceeded(dimension)


def test_what_a_use_does_not_need_is_not_asked() -> None:
    bare = replace(ROOT, tools=None, tokens=None, network=None)

    assert judge_use(chain_of(bare), GrantUse(action="memory.recall", audience="memory"), NOW) is None


def test_every_use_is_one() -> None:
    for none in (0, None):
        spent = replace(ROOT, uses=none)
        assert judge_use(chain_of(spent), GrantUse(action="memory.recall", audience="memory"), NOW) == exceeded("uses")


@pytest.mark.parametrize(
    "action",
    ["", "*", "memory.*", "memory.recall ", "Memory.Recall", "policy.promote", "deploy", "iam.grant", "secrets.read"],
)
def test_nothing_outside_the_closed_vocabulary_is_allowed(action: str) -> None:
    every = replace(ROOT, actions=tuple(each.value for each in GrantAction))

    assert judge_use(chain_of(every), replace(USE, action=action), NOW) == exceeded("actions")


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        (NOW - 30 * SECOND - 1, Reason.NOT_YET_VALID),
        (NOW - 30 * SECOND, None),
        (NOW, None),
        (NOW + DAY - 1, None),
        (NOW + DAY, Reason.EXPIRED),
        (NOW + 2 * DAY, Reason.EXPIRED),
    ],
)
def test_e12_a_chain_lives_from_its_beginning_to_its_expiry(at: int, reason: Reason | None) -> None:
    refusal = judge_use(chain_of(ROOT), USE, Instant(at))

    assert (refusal.reason if refusal else None) is reason


def test_e17_e18_an_expired_parent_ends_its_child() -> None:
    # Given a child that outlives its parent, as no good chain has it
    child = child_of(ROOT, expire_time=after(NOW, 2 * DAY))

    refusal = judge_use(chain_of(ROOT, child), USE, after(NOW, DAY))

    assert refusal is not None
    assert refusal.reason is Reason.EXPIRED


def test_e14_a_grant_is_presented_by_its_holder_alone_and_with_the_bound_credential() -> None:
    ours = (TENANT, ROOT.holder, ROOT.holder_key)
    assert judge_holder(ROOT, *ours) is None

    mismatch = Refusal(Reason.HOLDER_MISMATCH)
    assert judge_holder(ROOT, TenantRef("cognitum-tenant", "other"), *ours[1:]) == mismatch
    assert judge_holder(ROOT, TENANT, ROOT.subject, ROOT.holder_key) == mismatch
    assert judge_holder(ROOT, TENANT, PrincipalRef("other", ROOT.holder.id), ROOT.holder_key) == mismatch
    assert judge_holder(ROOT, TENANT, ROOT.holder, b"\x02" * 32) == mismatch
    assert judge_holder(ROOT, TENANT, ROOT.holder, None) == mismatch
