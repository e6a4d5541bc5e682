"""Grants without a server: a holder hands one on, and whoever has the chain judges it (cases E17, E18, E21)."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from capability_authority.offline import (
    GrantExceeded,
    GrantExpired,
    GrantMalformed,
    GrantNotYetValid,
    GrantUse,
    IssuerMismatch,
    KeyRecord,
    KeyRevoked,
    KeyScopeMismatch,
    KeySet,
    KeyUnknown,
    Narrower,
    PayloadRefused,
    PayloadTypeMismatch,
    PrivateKey,
    RevocationFeed,
    SignatureInvalid,
    StatementError,
    Withdrawn,
    delegate,
    digest_of,
    sign,
    timestamp,
    to_wire,
    verify_as,
    verify_grant_chain,
)
from capability_authority.v1.statements_pb2 import (
    REVOKED_KIND_GRANT,
    REVOKED_KIND_ISSUER_KEY,
    REVOKED_KIND_PRINCIPAL,
    REVOKED_KIND_PRINCIPAL_KEY,
    CommitCapability,
    Grant,
    GrantedAmount,
    GrantedFlag,
    GrantedNames,
    Revocation,
    RevocationHeartbeat,
    RevokedKind,
    SignedStatement,
)
from capability_authority.v1.types_pb2 import (
    KEY_PURPOSE_CAPABILITY,
    KEY_PURPOSE_GRANT,
    KEY_PURPOSE_REVOCATION,
    KEY_STATE_ACTIVE,
    KEY_STATE_REVOKED,
    PrincipalRef,
    TenantRef,
)
from tests.unit.offline.builders import ISSUER, NOW_MS, capability, digest, private_key

HOUR_MS = 3_600_000
TENANT = TenantRef(namespace="acme", id="t1")
GRANT_KEY, FEED_KEY = private_key("grant"), private_key("feed")
ORCHESTRATOR, AGENT, TOOL = private_key("orchestrator"), private_key("agent"), private_key("tool")
GRANT_RECORD = KeyRecord(public_key=GRANT_KEY.public_key, purpose=KEY_PURPOSE_GRANT, state=KEY_STATE_ACTIVE)
FEED_RECORD = KeyRecord(public_key=FEED_KEY.public_key, purpose=KEY_PURPOSE_REVOCATION, state=KEY_STATE_ACTIVE)
KEY_SET = KeySet.of(ISSUER, GRANT_RECORD, FEED_RECORD)
USE = GrantUse(
    action="memory.propose",
    audience="memory.example",
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


def principal(name: str) -> PrincipalRef:
    return PrincipalRef(namespace="workload", id=name)


def names(*names: str) -> GrantedNames:
    return GrantedNames(names=names)


def root_terms(change: Callable[[Grant], object] | None = None) -> Grant:
    """The root's terms, for the orchestrator, changed in place."""
    terms = Grant(
        issuer=ISSUER,
        tenant=TENANT,
        subject=PrincipalRef(namespace="users", id="mira"),
        holder=principal("orchestrator"),
        holder_key=ORCHESTRATOR.public_key.thumbprint,
        audiences=names("memory.example", "search.example"),
        actions=names("memory.propose", "memory.recall"),
        resources=names("docs/*"),
        read_memory_namespaces=names("team/*"),
        write_memory_namespaces=names("team/build"),
        tools=names("search"),
        providers=names("local"),
        models=names("small/*"),
        usd_micros=GrantedAmount(most=1_000),
        tokens=GrantedAmount(most=2_000),
        latency_ms=GrantedAmount(most=3_000),
        concurrency=GrantedAmount(most=4),
        uses=GrantedAmount(most=5),
        network=GrantedFlag(allowed=True),
        destructive=GrantedFlag(allowed=True),
        not_before_time=timestamp(NOW_MS),
        expire_time=timestamp(NOW_MS + HOUR_MS),
        delegation_depth=2,
        policy_version=digest("policy"),
        correlation_id="run-4711",
        nonce=bytes(16),
        holder_public_key=ORCHESTRATOR.public_key.raw,
    )
    if change is not None:
        change(terms)
    return terms


def root(change: Callable[[Grant], object] | None = None, key: PrivateKey = GRANT_KEY) -> SignedStatement:
    return sign(root_terms(change), key)


def child(parent: SignedStatement, key: PrivateKey = ORCHESTRATOR, **narrower: Any) -> SignedStatement:
    """Handed on to the agent; by the agent, to the tool."""
    name, bound_to = ("agent", AGENT) if key is ORCHESTRATOR else ("tool", TOOL)
    return delegate(
        parent,
        key,
        holder=principal(name),
        bound_to=bound_to.public_key,
        nonce=bytes(range(16)),
        narrower=Narrower(**narrower),
    )


def forged(
    parent: SignedStatement, change: Callable[[Grant], object], key: PrivateKey = ORCHESTRATOR
) -> SignedStatement:
    """A child that no client of ours makes, by whoever has the key."""
    terms = verify_grant_chain([parent, child(parent)], KEY_SET, now_ms=NOW_MS).presented
    change(terms)
    return sign(terms, key)


def flipped(signature: bytes) -> bytes:
    """With one bit changed."""
    return signature[:-1] + bytes([signature[-1] ^ 1])


def said(name: str, value: object) -> dict[str, Any]:
    """One keyword argument."""
    return {name: value}


def without(*names: str) -> Callable[[Grant], object]:
    """Leaves dimensions out."""
    untyped: Callable[[Any], list[object]] = lambda terms: [terms.ClearField(name) for name in names]  # noqa: E731
    return untyped


def refused(
    kind: type[StatementError], *chain: SignedStatement, key_set: KeySet = KEY_SET, **more: Any
) -> StatementError:
    """The refusal of the chain, which must be of exactly this kind."""
    with pytest.raises(kind) as refusal:
        verify_grant_chain(chain, key_set, **{"now_ms": NOW_MS, **more})
    assert type(refusal.value) is kind
    return refusal.value


def exceeded(*chain: SignedStatement, **more: Any) -> str:
    """The dimension by which the chain is refused."""
    refusal = refused(GrantExceeded, *chain, **more)
    assert isinstance(refusal, GrantExceeded)
    return refusal.dimension


def test_a_grant_is_handed_on_twice_and_the_chain_holds() -> None:
    # Given a grant that its holder hands on, and whose new holder hands it on again
    chain = [root()]
    chain.append(child(chain[0], uses=3, actions=["memory.propose"]))
    chain.append(child(chain[1], AGENT, expire_ms=NOW_MS + 1_000))

    # When it is verified with nothing but the key set
    verified = verify_grant_chain(chain, KEY_SET, now_ms=NOW_MS, use=replace(USE, uses=3))

    # Then it says who acts for whom, and with what the last of them has to prove itself
    assert verified.subject.id == "mira"
    assert [actor.id for actor in verified.actors] == ["orchestrator", "agent", "tool"]
    assert verified.holder_key == TOOL.public_key.key_id
    assert verified.digests == tuple(map(digest_of, chain))
    assert verified.presented.uses.most == 3
    assert verified.presented.correlation_id == "run-4711"


NARROWER: tuple[tuple[str, Any], ...] = (
    ("audiences", ["memory.example"]),
    ("actions", ["memory.recall"]),
    ("resources", ["docs/a", "docs/b/*"]),
    ("read_memory_namespaces", ["team/a"]),
    ("write_memory_namespaces", []),
    ("tools", []),
    ("providers", []),
    ("models", ["small/1"]),
    ("usd_micros", 999),
    ("tokens", 0),
    ("latency_ms", 1),
    ("concurrency", 1),
    ("uses", 1),
    ("network", False),
    ("destructive", False),
    ("not_before_ms", NOW_MS + 1),
    ("expire_ms", NOW_MS + HOUR_MS - 1),
    ("delegation_depth", 0),
    ("correlation_id", "run-4712"),
)

WIDER: tuple[tuple[str, Any, str], ...] = (
    ("audiences", ["other.example"], "audiences"),
    ("actions", ["memory.recall", "memory.commit-validated"], "actions"),
    ("resources", ["docs"], "resources"),
    ("read_memory_namespaces", ["team1/*"], "read_memory_namespaces"),
    ("write_memory_namespaces", ["team/*"], "write_memory_namespaces"),
    ("tools", ["fetch"], "tools"),
    ("providers", ["Local"], "providers"),
    ("models", ["large/*"], "models"),
    ("usd_micros", 1_001, "usd_micros"),
    ("tokens", 2_001, "tokens"),
    ("latency_ms", 3_001, "latency_ms"),
    ("concurrency", 5, "concurrency"),
    ("uses", 6, "uses"),
    ("not_before_ms", NOW_MS - 1, "not_before_time"),
    ("expire_ms", NOW_MS + HOUR_MS + 1, "expire_time"),
    ("delegation_depth", 2, "delegation_depth"),
)


def test_every_term_that_can_be_narrowed_is_tried() -> None:
    assert {name for name, _ in NARROWER} == {each.name for each in fields(Narrower)}
    assert {name for name, *_ in WIDER} | {"network", "destructive", "correlation_id"} == {name for name, _ in NARROWER}


@pytest.mark.parametrize(("name", "value"), NARROWER)
def test_e17_a_narrower_child_is_made_and_verifies(name: str, value: object) -> None:
    narrow = child(root(), **said(name, value))

    now_ms = NOW_MS + 1 if name == "not_before_ms" else NOW_MS
    assert verify_grant_chain([root(), narrow], KEY_SET, now_ms=now_ms) is not None


@pytest.mark.parametrize(("name", "value", "dimension"), WIDER)
def test_e17_a_wider_child_is_not_made_and_the_dimension_is_named(name: str, value: object, dimension: str) -> None:
    with pytest.raises(GrantExceeded) as refusal:
        child(root(), **said(name, value))

    assert refusal.value.dimension == dimension
    assert dimension in str(refusal.value)


@pytest.mark.parametrize("flag", ["network", "destructive"])
def test_e17_a_flag_that_is_denied_is_not_given(flag: str) -> None:
    with pytest.raises(GrantExceeded) as refusal:
        child(root(without(flag)), **said(flag, value=True))

    assert refusal.value.dimension == flag


def test_what_the_parent_leaves_out_the_child_denies_in_so_many_words() -> None:
    # Given a root that says nothing of tools, uses and the network
    parent = root(without("tools", "uses", "network"))
    made = verify_grant_chain([parent, child(parent)], KEY_SET, now_ms=NOW_MS).presented

    assert made.HasField("tools")
    assert made.HasField("uses")
    assert made.HasField("network")
    assert (list(made.tools.names), made.uses.most, made.network.allowed) == ([], 0, False)


def test_a_grant_whose_depth_is_spent_is_not_handed_on() -> None:
    with pytest.raises(GrantExceeded) as refusal:
        child(root(lambda terms: terms.ClearField("delegation_depth")))

    assert refusal.value.dimension == "delegation_depth"


@pytest.mark.parametrize(
    ("narrower", "path"),
    [
        ({"resources": ["docs/../a"]}, "resources"),
        ({"tools": ["*"]}, "tools"),
        ({"actions": ["policy.promote"]}, "actions"),
        ({"models": ["small/1", "small/1"]}, "models"),
        ({"uses": -1}, "uses"),
        ({"delegation_depth": -1}, "delegation_depth"),
        ({"expire_ms": NOW_MS}, "expire_time"),
        ({"correlation_id": "a b"}, "correlation_id"),
    ],
)
def test_what_no_grant_can_say_is_not_made(narrower: dict[str, Any], path: str) -> None:
    with pytest.raises(GrantMalformed) as refusal:
        child(root(), **narrower)

    assert refusal.value.path == path


def test_a_grant_is_handed_on_with_the_bound_key_alone() -> None:
    for key in (AGENT, GRANT_KEY):
        with pytest.raises(SignatureInvalid):
            delegate(root(), key, holder=principal("agent"), bound_to=AGENT.public_key, nonce=bytes(16))
    with pytest.raises(GrantMalformed):
        delegate(root(), ORCHESTRATOR, holder=principal("agent"), bound_to=b"short", nonce=bytes(16))
    with pytest.raises(GrantMalformed):
        delegate(root(), ORCHESTRATOR, holder=principal("agent"), bound_to=AGENT.public_key, nonce=b"short")
    with pytest.raises(GrantMalformed):
        delegate(root(), ORCHESTRATOR, holder=principal("a b"), bound_to=AGENT.public_key, nonce=bytes(16))
    with pytest.raises(PayloadTypeMismatch):
        delegate(
            sign(capability(), GRANT_KEY), ORCHESTRATOR, holder=principal("a"), bound_to=bytes(32), nonce=bytes(16)
        )


def test_who_is_bound_to_another_credential_presents_a_grant_and_hands_nothing_on() -> None:
    # Given a child for a holder whose credential signs nothing, and what anybody would make of it
    parent = root()
    bound = delegate(parent, ORCHESTRATOR, holder=principal("agent"), bound_to=digest("spiffe"), nonce=bytes(16))
    terms = verify_grant_chain([parent, bound], KEY_SET, now_ms=NOW_MS).presented
    assert terms.holder_key == digest("spiffe")

    # Then nothing below it is believed
    with pytest.raises(SignatureInvalid):
        child(bound, AGENT)
    terms.delegated_by.CopyFrom(terms.holder)
    terms.parent_digest = digest_of(bound)
    refused(SignatureInvalid, parent, bound, sign(terms, AGENT))


def test_e21_002_a_root_by_another_authority_is_refused() -> None:
    stranger = private_key("stranger")
    refused(KeyUnknown, root(key=stranger))
    foreign = root(lambda terms: setattr(terms, "issuer", "other.example"))
    refused(IssuerMismatch, foreign)


def test_e21_003_004_005_broken_signatures_and_random_blocks_are_refused() -> None:
    chain = [root(), child(root())]
    for at in range(2):
        for signature in (b"", bytes(16), flipped(chain[at].signature.signature)):
            broken = [SignedStatement.FromString(each.SerializeToString()) for each in chain]
            broken[at].signature.signature = signature
            refused(SignatureInvalid, *broken)
        noise = [SignedStatement.FromString(each.SerializeToString()) for each in chain]
        noise[at].payload = b"\x07" * 100
        refused(PayloadRefused, *noise)
        noise[at].payload_type = "application/json"
        refused(PayloadTypeMismatch, *noise)


def test_e18_e21_006_reordered_truncated_and_re_parented_chains_are_refused() -> None:
    first, other = root(), root(lambda terms: setattr(terms, "nonce", b"\x01" * 16))
    second = child(first)
    third = child(second, AGENT)

    assert exceeded(other, second) == "parent_digest"
    refused(SignatureInvalid, first, third)
    refused(KeyUnknown, second, third)
    refused(KeyUnknown, second, first)
    refused(GrantExceeded, first, first)
    refused(SignatureInvalid, first, second, second)
    refused(GrantMalformed)
    refused(GrantMalformed, *[first] * 10)


def test_e17_e21_007_a_holder_gives_nothing_that_it_does_not_have() -> None:
    parent = root()
    changes: dict[str, Callable[[Grant], object]] = {
        "subject": lambda terms: setattr(terms.subject, "id", "root"),
        "tenant": lambda terms: setattr(terms.tenant, "id", "t2"),
        "actor_chain": lambda terms: terms.ClearField("actor_chain"),
        "delegated_by": lambda terms: setattr(terms.delegated_by, "id", "another"),
        "audiences": lambda terms: terms.audiences.names.append("other.example"),
        "usd_micros": lambda terms: setattr(terms.usd_micros, "most", 1_001),
        "network": lambda terms: terms.ClearField("network"),
        "policy_version": lambda terms: setattr(terms, "policy_version", digest("another")),
        "parent_digest": lambda terms: setattr(terms, "parent_digest", digest("another")),
    }
    for dimension, change in changes.items():
        assert exceeded(parent, forged(parent, change)) == dimension


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("holder_public_key", lambda terms: setattr(terms, "holder_public_key", TOOL.public_key.raw)),
        ("holder_key", lambda terms: setattr(terms, "holder_key", b"short")),
        ("nonce", lambda terms: setattr(terms, "nonce", b"short")),
        ("holder", lambda terms: setattr(terms.holder, "id", "a b")),
        ("actions", lambda terms: terms.actions.names.append("policy.promote")),
        ("resources", lambda terms: terms.resources.names.append("docs/../x")),
        ("uses", lambda terms: setattr(terms.uses, "most", -1)),
        ("delegation_depth", lambda terms: setattr(terms, "delegation_depth", 9)),
        ("expire_time", lambda terms: terms.ClearField("expire_time")),
        ("not_before_time", lambda terms: terms.ClearField("not_before_time")),
    ],
)
def test_what_no_grant_can_say_is_malformed_however_well_it_is_signed(
    path: str, change: Callable[[Grant], object]
) -> None:
    refusal = refused(GrantMalformed, root(), forged(root(), change))

    assert isinstance(refusal, GrantMalformed)
    assert refusal.path == path


def test_a_holder_does_not_speak_in_the_name_of_the_authority() -> None:
    def in_our_name(terms: Grant) -> None:
        terms.ClearField("delegated_by")
        terms.issuer = ISSUER

    refused(KeyUnknown, root(), forged(root(), in_our_name))
    refused(GrantMalformed, root(), forged(root(), lambda terms: setattr(terms, "issuer", ISSUER)))
    refused(SignatureInvalid, root(), forged(root(), lambda terms: terms, AGENT))


def test_e12_e21_009_each_block_has_its_time() -> None:
    chain = [root(), child(root(), not_before_ms=NOW_MS + 60_000, expire_ms=NOW_MS + 90_000)]

    refused(GrantNotYetValid, *chain, now_ms=NOW_MS + 29_999)
    verify_grant_chain(chain, KEY_SET, now_ms=NOW_MS + 30_000)
    verify_grant_chain(chain, KEY_SET, now_ms=NOW_MS + 89_999)
    refused(GrantExpired, *chain, now_ms=NOW_MS + 90_000)


TOO_MUCH: dict[str, tuple[str, Any]] = {
    "action": ("actions", "memory.commit-validated"),
    "audience": ("audiences", "other.example"),
    "resource": ("resources", "docs"),
    "read_memory_namespace": ("read_memory_namespaces", "team/../a"),
    "write_memory_namespace": ("write_memory_namespaces", "team/build/a"),
    "tool": ("tools", "*"),
    "provider": ("providers", "LOCAL"),
    "model": ("models", "small/*"),
    "usd_micros": ("usd_micros", 1_001),
    "tokens": ("tokens", 2_001),
    "latency_ms": ("latency_ms", 3_001),
    "concurrency": ("concurrency", 5),
    "uses": ("uses", 6),
    "network": ("network", None),
    "destructive": ("destructive", None),
}


def test_every_need_is_tried() -> None:
    assert set(TOO_MUCH) == {each.name for each in fields(GrantUse)}


@pytest.mark.parametrize(("need", "dimension", "much"), [(need, *rest) for need, rest in TOO_MUCH.items()])
def test_e21_008_what_any_block_does_not_allow_is_refused(need: str, dimension: str, much: object) -> None:
    # Given a chain that allows all of the use
    parent = root()
    chain = [parent, child(parent)]
    verify_grant_chain(chain, KEY_SET, now_ms=NOW_MS, use=USE)

    # When the use needs more, or a block denies the dimension, then it is refused by its name
    if much is not None:
        more: dict[str, Any] = {need: much}
        assert exceeded(*chain, use=replace(USE, **more)) == dimension
    nothing: object = 0 if isinstance(getattr(USE, need), int) else []
    assert exceeded(parent, child(parent, **said(dimension, nothing)), use=USE) == dimension
    assert exceeded(root(without(dimension)), use=USE) == dimension


def test_e09_a_grant_key_that_is_revoked_or_is_for_something_else_signs_no_grant() -> None:
    for record, kind in (
        (replace(GRANT_RECORD, state=KEY_STATE_REVOKED), KeyRevoked),
        (replace(GRANT_RECORD, compromised_since_ms=NOW_MS), KeyRevoked),
        (replace(GRANT_RECORD, memory_namespace="team/build"), KeyScopeMismatch),
        (replace(GRANT_RECORD, tenant=("acme", "t2")), KeyScopeMismatch),
    ):
        refused(kind, root(), child(root()), key_set=KeySet.of(ISSUER, record))
    capability_record = replace(GRANT_RECORD, purpose=KEY_PURPOSE_CAPABILITY)
    with pytest.raises(StatementError, match="another purpose"):
        verify_grant_chain([root()], KeySet.of(ISSUER, capability_record), now_ms=NOW_MS)


def feed_of(*revoked: tuple[RevokedKind.ValueType, str]) -> RevocationFeed:
    """A feed that has told just this, and is up to date."""
    feed = RevocationFeed(TENANT)
    for number, (kind, subject) in enumerate(revoked, start=1):
        item = Revocation(
            issuer=ISSUER,
            tenant=TENANT,
            sequence=number,
            previous_sequence=number - 1,
            kind=kind,
            subject=subject,
            revoke_time=timestamp(NOW_MS),
        )
        feed.take(sign(item, FEED_KEY), KEY_SET)
    heartbeat = RevocationHeartbeat(issuer=ISSUER, tenant=TENANT, sequence=len(revoked), as_of_time=timestamp(NOW_MS))
    feed.hear(sign(heartbeat, FEED_KEY), KEY_SET)
    return feed


def test_e18_whatever_a_chain_rests_on_ends_it_once_the_feed_tells() -> None:
    # Given a chain of three, and a feed that tells of one withdrawal
    first = root()
    second = child(first)
    chain = [first, second, child(second, AGENT)]
    withdrawn = [
        *((REVOKED_KIND_GRANT, to_wire(digest_of(statement))) for statement in chain),
        (REVOKED_KIND_PRINCIPAL, "users|mira"),
        *((REVOKED_KIND_PRINCIPAL, f"workload|{name}") for name in ("orchestrator", "agent", "tool")),
        *((REVOKED_KIND_PRINCIPAL_KEY, key.public_key.key_id) for key in (ORCHESTRATOR, AGENT, TOOL)),
    ]

    for one in withdrawn:
        view = feed_of(one).view(now_ms=NOW_MS, maximum_age_ms=1_000)

        # Then the chain is refused, whichever of its blocks rests on it
        refused(Withdrawn, *chain, revocations=view)
    key = (REVOKED_KIND_ISSUER_KEY, GRANT_KEY.public_key.key_id)
    refused(KeyRevoked, *chain, revocations=feed_of(key).view(now_ms=NOW_MS, maximum_age_ms=1_000))


def test_a_grant_by_itself_ends_with_whoever_came_before_its_holder() -> None:
    # Given an exchanged grant, which names its parent and who held that
    def exchanged(terms: Grant) -> None:
        terms.actor_chain.append(principal("orchestrator"))
        terms.holder.CopyFrom(principal("agent"))
        terms.parent_digest = digest("parent")

    # Then it ends when either is withdrawn, whether its ancestors are at hand or not
    for one in ((REVOKED_KIND_PRINCIPAL, "workload|orchestrator"), (REVOKED_KIND_GRANT, to_wire(digest("parent")))):
        view = feed_of(one).view(now_ms=NOW_MS, maximum_age_ms=1_000)
        with pytest.raises(Withdrawn):
            verify_as(root(exchanged), KEY_SET, Grant, revocations=view)


def test_what_has_nothing_to_do_with_a_chain_does_not_end_it() -> None:
    chain = [root(), child(root())]
    others = ((REVOKED_KIND_GRANT, to_wire(digest("another"))), (REVOKED_KIND_PRINCIPAL, "workload|another"))

    view = feed_of(*others).view(now_ms=NOW_MS, maximum_age_ms=1_000)

    assert verify_grant_chain(chain, KEY_SET, now_ms=NOW_MS, revocations=view) is not None


def test_a_capability_ends_with_the_grant_that_it_was_issued_under() -> None:
    # Given a capability under a grant that was withdrawn
    terms = capability()
    terms.tenant.CopyFrom(TENANT)
    terms.grant_digest = digest("grant")
    record = replace(GRANT_RECORD, purpose=KEY_PURPOSE_CAPABILITY)
    statement = sign(terms, GRANT_KEY)
    view = feed_of((REVOKED_KIND_GRANT, to_wire(digest("grant")))).view(now_ms=NOW_MS, maximum_age_ms=1_000)

    with pytest.raises(Withdrawn):
        verify_as(statement, KeySet.of(ISSUER, record), CommitCapability, revocations=view)


def test_the_payloads_of_a_chain_have_a_limit_together() -> None:
    def full(terms: Grant) -> None:
        for name in ("resources", "tools", "models"):
            getattr(terms, name).names[:] = [f"{name}/{number:0200}" for number in range(64)]

    parent = root(full)
    heir = child(parent)
    assert len(parent.payload) + len(heir.payload) > 32 * 1024

    refused(GrantMalformed, parent, heir)
