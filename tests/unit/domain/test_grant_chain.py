"""A chain of grants only narrows: each dimension narrower, equal, wider and absent, and what makes a chain one."""

from dataclasses import replace
from typing import Any

import pytest

from authority.domain import limits
from authority.domain.grant import Grant, OpenedGrant
from authority.domain.grant_chain import exceeded_dimension, judge_chain
from authority.domain.reasons import Reason
from authority.domain.references import DAY, PrincipalRef, TenantRef, after
from authority.domain.refusal import Refusal
from authority.domain.statement import Statement
from tests.unit.domain.grants import ISSUER, LIMITED, NOW, ROOT, TENANT, chain_of, child_of, digest_of, opened

STRANGER = PrincipalRef("workload", "stranger")

NARROWER: tuple[tuple[str, Any], ...] = (
    ("audiences", ("memory",)),
    ("audiences", ()),
    ("actions", ("memory.recall",)),
    ("actions", ()),
    ("resources", ("docs/a", "docs/b/*")),
    ("resources", ()),
    ("read_memory_namespaces", ("team/build", "team/a/b", "notes")),
    ("read_memory_namespaces", ()),
    ("write_memory_namespaces", ()),
    ("tools", ()),
    ("providers", ()),
    ("models", ("small/1",)),
    ("usd_micros", 0),
    ("tokens", 1_999),
    ("latency_ms", 1),
    ("concurrency", 1),
    ("uses", 0),
    ("network", False),
    ("destructive", False),
    ("not_before_time", after(NOW, 1)),
    ("expire_time", after(NOW, DAY - 1)),
    ("delegation_depth", 0),
)

WIDER: tuple[tuple[str, Any], ...] = (
    ("tenant", TenantRef("cognitum-tenant", "other")),
    ("tenant", TenantRef("other", "acme")),
    ("subject", STRANGER),
    ("actor_chain", ()),
    ("actor_chain", (STRANGER,)),
    ("actor_chain", (ROOT.holder, ROOT.holder)),
    ("actor_chain", (STRANGER, ROOT.holder)),
    ("audiences", ("memory", "another")),
    ("audiences", ("Memory",)),
    ("audiences", ("*",)),
    ("actions", ("memory.propose", "memory.commit-validated")),
    ("resources", ("docs/*", "wiki")),
    ("resources", ("docs",)),
    ("read_memory_namespaces", ("team1",)),
    ("read_memory_namespaces", ("notes/*",)),
    ("read_memory_namespaces", ("notes/a",)),
    ("write_memory_namespaces", ("team/*",)),
    ("write_memory_namespaces", ("team/build/sub",)),
    ("write_memory_namespaces", ("TEAM/build",)),
    ("tools", ("search", "fetch")),
    ("providers", ("other",)),
    ("models", ("small", "small/1")),
    ("usd_micros", 1_001),
    ("tokens", limits.INT64_MAX),
    ("latency_ms", 3_001),
    ("concurrency", 5),
    ("uses", 6),
    ("not_before_time", after(NOW, -1)),
    ("expire_time", after(NOW, DAY + 1)),
    ("delegation_depth", 3),
    ("delegation_depth", 8),
    ("policy_version", b"\x09" * 32),
    ("parent_digest", b"\x0a" * 32),
    ("parent_digest", b""),
)

BOUNDED = tuple(name for name in LIMITED if getattr(ROOT, name) is not None and name in dict(NARROWER))
"""What a child can say less of."""
ABSENT = tuple(name for name in BOUNDED if name not in {"not_before_time", "expire_time", "delegation_depth"})
"""What can be left out."""


def judge(*grants: Grant, signatures: tuple[Refusal | None, ...] | None = None) -> Refusal | None:
    return judge_chain(chain_of(*grants), signatures or (None,) * len(grants), ISSUER)


def exceeded(dimension: str) -> Refusal:
    return Refusal(Reason.GRANT_EXCEEDED, {"dimension": dimension})


def test_e17_a_child_that_says_the_same_again_is_allowed() -> None:
    assert judge(ROOT, child_of(ROOT)) is None
    assert judge(ROOT, child_of(ROOT), child_of(child_of(ROOT))) is None
    assert judge(ROOT) is None


@pytest.mark.parametrize(("dimension", "value"), NARROWER)
def test_e17_a_narrower_child_is_allowed(dimension: str, value: object) -> None:
    assert judge(ROOT, child_of(ROOT, **{dimension: value})) is None


@pytest.mark.parametrize(("dimension", "value"), WIDER)
def test_e17_i15_a_wider_child_is_refused_by_the_dimension(dimension: str, value: object) -> None:
    assert judge(ROOT, child_of(ROOT, **{dimension: value})) == exceeded(dimension)


ROUTE = replace(ROOT, actions=("cognition.route",), network=False, destructive=False)
"""What a router may do: recommend, and nothing that it recommends."""
ADDED_BY_A_ROUTE: dict[str, Any] = {
    "actions": ("cognition.route", "memory.propose"),
    "tools": ("search", "fetch"),
    "providers": ("local", "other"),
    "models": ("small/*", "large"),
    "usd_micros": 1_001,
    "tokens": 2_001,
    "network": True,
    "destructive": True,
    "delegation_depth": ROOT.delegation_depth,
}


@pytest.mark.parametrize("dimension", ADDED_BY_A_ROUTE)
def test_adr328_01_a_route_adds_no_action_tool_provider_budget_network_or_depth(dimension: str) -> None:
    assert judge(ROUTE, child_of(ROUTE)) is None
    assert judge(ROUTE, child_of(ROUTE, **{dimension: ADDED_BY_A_ROUTE[dimension]})) == exceeded(dimension)


@pytest.mark.parametrize("dimension", ABSENT)
def test_i15_a_dimension_that_is_left_out_is_refused_and_never_inherited(dimension: str) -> None:
    assert judge(ROOT, child_of(ROOT, **{dimension: None})) == exceeded(dimension)


@pytest.mark.parametrize("dimension", ABSENT)
def test_what_is_absent_in_the_parent_denies_and_a_child_can_say_only_nothing(dimension: str) -> None:
    # Given a parent that says nothing of the dimension
    nothing: dict[str, Any] = {dimension: None}
    parent = replace(ROOT, **nothing)
    of_none: Any = type(getattr(ROOT, dimension))()

    # Then a child denies it too, and says so
    assert judge(parent, child_of(parent, **{dimension: of_none})) is None
    assert judge(parent, child_of(parent, **{dimension: getattr(ROOT, dimension)})) == exceeded(dimension)
    assert judge(parent, child_of(parent)) == exceeded(dimension)


def test_a_flag_that_the_parent_denies_stays_denied() -> None:
    parent = replace(ROOT, network=False, destructive=False)

    assert judge(parent, child_of(parent, network=True)) == exceeded("network")
    assert judge(parent, child_of(parent, destructive=True)) == exceeded("destructive")


def test_e17_a_holder_derives_from_its_own_grant_alone() -> None:
    # Given a child that the parent's holder signed, and one that somebody else did
    own = child_of(ROOT, issuer="", delegated_by=ROOT.holder)
    strangers = replace(own, delegated_by=STRANGER)

    # Then only the first is one, and of the root's holder, not of its own
    assert judge(ROOT, own) is None
    assert judge(ROOT, strangers) == exceeded("delegated_by")
    assert judge(ROOT, own, child_of(own, delegated_by=ROOT.holder)) == exceeded("delegated_by")
    assert judge(ROOT, own, child_of(own, delegated_by=own.holder)) is None


def test_every_field_that_a_parent_limits_has_its_wider_case() -> None:
    # Given every field of a grant but those that say who holds it and which one it is
    denied = {"network", "destructive", "delegated_by"}

    # Then there is a case in which it is wider, or, of flags and of who signed, a test of its own
    assert {dimension for dimension, _ in WIDER} | denied == set(LIMITED)
    assert {dimension for dimension, _ in NARROWER} == set(BOUNDED)


def test_the_first_of_several_dimensions_is_named_in_the_order_of_the_payload() -> None:
    child = child_of(ROOT, uses=6, audiences=None, expire_time=after(NOW, 2 * DAY))

    assert exceeded_dimension(ROOT, digest_of(ROOT), child) == "audiences"


def test_depth_ends_the_chain() -> None:
    # Given a chain that was handed on as often as its root allows
    chain = [ROOT]
    while chain[-1].delegation_depth:
        chain.append(child_of(chain[-1]))

    # Then it holds, and no child of its last does, whatever depth that one says
    assert judge(*chain) is None
    assert judge(*chain, child_of(chain[-1], delegation_depth=0)) == exceeded("delegation_depth")


def test_a_grandchild_is_judged_under_every_ancestor() -> None:
    # Given a child that is too wide, and a child of it that fits it, and would fit the root
    wide = child_of(ROOT, uses=6)
    grandchild = child_of(wide, uses=1)

    # Then the chain is refused all the same
    assert judge(ROOT, wide, grandchild) == exceeded("uses")


def test_e18_a_loop_is_refused() -> None:
    child = child_of(ROOT)

    assert judge(ROOT, child, ROOT) is not None
    assert judge(ROOT, ROOT) == exceeded("actor_chain")
    assert judge(child, child) is not None
    assert judge(replace(ROOT, parent_digest=digest_of(ROOT))) == exceeded("parent_digest")


def test_e21_reordered_truncated_and_re_parented_chains_are_refused() -> None:
    # Given a good chain of three, and another root that says the same but for its nonce
    child = child_of(ROOT)
    grandchild = child_of(child)
    twin = replace(ROOT, nonce=b"\x0b" * 16)

    # Then no other sequence of its blocks is one
    assert judge(child, ROOT, grandchild) is not None
    assert judge(ROOT, grandchild, child) is not None
    assert judge(ROOT, grandchild) == exceeded("actor_chain")
    assert judge(child, grandchild) == exceeded("parent_digest")
    assert judge(twin, child) == exceeded("parent_digest")


def test_a_root_is_made_by_the_authority_and_has_nobody_before_it() -> None:
    assert judge(replace(ROOT, issuer="", delegated_by=STRANGER)) == exceeded("delegated_by")
    assert judge(replace(ROOT, actor_chain=(STRANGER,))) == exceeded("actor_chain")
    assert judge(replace(ROOT, issuer="another")) == Refusal(Reason.ISSUER_UNKNOWN)


@pytest.mark.parametrize("changes", [{"issuer": ""}, {"issuer": ISSUER, "delegated_by": ROOT.holder}])
def test_a_block_says_of_one_maker_that_it_is_its(changes: dict[str, Any]) -> None:
    refusal = judge(ROOT, child_of(ROOT, **changes))

    assert refusal is not None
    assert (refusal.reason, refusal.facts["field"]) == (Reason.MALFORMED, "grant.issuer")


@pytest.mark.parametrize("lifetime", [-1, 0, 30 * DAY + 1])
def test_a_grant_lives_for_30_days_at_most(lifetime: int) -> None:
    refusal = judge(replace(ROOT, expire_time=after(NOW, lifetime)))

    assert refusal is not None
    assert (refusal.reason, refusal.facts["field"]) == (Reason.MALFORMED, "grant.expire_time")
    assert judge(replace(ROOT, expire_time=after(NOW, 30 * DAY))) is None


def test_no_chain_and_one_that_is_too_long_are_refused() -> None:
    assert judge_chain((), (), ISSUER) == Refusal(Reason.MALFORMED, {"field": "grant", "problem": "must be set"})
    refusal = judge(*[ROOT] * 10)
    assert refusal is not None
    assert refusal.reason is Reason.LIMIT_EXCEEDED


def test_payloads_of_a_chain_have_32_kib_together() -> None:
    # Given a good chain of two blocks, whose payloads have a certain size
    def sized(total: int) -> tuple[OpenedGrant, ...]:
        root, child = chain_of(ROOT, child_of(ROOT))
        return (
            replace(root, statement=Statement("type", bytes(total - 100), "key", b"")),
            replace(child, statement=Statement("type", bytes(100), "key", b"")),
        )

    # Then the limit is on their sum
    assert judge_chain(sized(32 * 1024), (None, None), ISSUER) is None
    refusal = judge_chain(sized(32 * 1024 + 1), (None, None), ISSUER)
    assert refusal is not None
    assert refusal.reason is Reason.LIMIT_EXCEEDED


@pytest.mark.parametrize("reason", [Reason.SIGNATURE_INVALID, Reason.ISSUER_UNKNOWN, Reason.KEY_REVOKED])
@pytest.mark.parametrize("block", [0, 1])
def test_e18_e21_one_bad_signature_anywhere_refuses_the_chain(reason: Reason, block: int) -> None:
    signatures = tuple(Refusal(reason) if block == at else None for at in range(2))

    assert judge(ROOT, child_of(ROOT), signatures=signatures) == Refusal(reason)
    # Also when the chain is too wide: what nobody signed is not quoted.
    assert judge(ROOT, child_of(ROOT, uses=6), signatures=signatures) == Refusal(reason)


def test_every_signature_is_judged() -> None:
    with pytest.raises(ValueError, match="one judgement for each signature"):
        judge_chain((opened(ROOT),), (), ISSUER)


def test_the_tenant_of_the_samples_is_that_of_the_chain() -> None:
    assert {TENANT} == {block.terms.tenant for block in chain_of(ROOT, child_of(ROOT))}
