"""A feed of revocations: what is forged, left out, told twice or out of order is refused, and so is an old feed."""

from collections.abc import Callable

import pytest

from capability_authority.offline import (
    FeedBroken,
    FeedStale,
    KeyPurposeMismatch,
    KeyRecord,
    KeyRevoked,
    KeySet,
    KeyUnknown,
    OfflineError,
    PrivateKey,
    RevocationFeed,
    SignatureInvalid,
    Withdrawn,
    sign,
    timestamp,
    to_wire,
    verify_as,
    verify_receipt,
    verify_statement,
)
from capability_authority.v1.statements_pb2 import (
    REVOKED_KIND_APPROVAL,
    REVOKED_KIND_CAPABILITY,
    REVOKED_KIND_ISSUER_KEY,
    REVOKED_KIND_PRINCIPAL,
    REVOKED_KIND_PRINCIPAL_KEY,
    REVOKED_KIND_RECORD,
    CommitCapability,
    CommitReceipt,
    DecisionReceipt,
    Revocation,
    RevocationHeartbeat,
    RevokedKind,
    SignedStatement,
)
from capability_authority.v1.types_pb2 import (
    KEY_PURPOSE_CAPABILITY,
    KEY_PURPOSE_DECISION,
    KEY_PURPOSE_RECEIPT,
    KEY_PURPOSE_REVOCATION,
    KEY_STATE_ACTIVE,
    PrincipalRef,
    TenantRef,
)

ISSUER, NOW_MS, MINUTE_MS = "authority.example", 1_790_000_000_000, 60_000
TENANT, OTHER_TENANT = TenantRef(namespace="acme", id="t1"), TenantRef(namespace="acme", id="t2")
HOLDER = PrincipalRef(namespace="services", id="writer")
KEYS = {
    purpose: PrivateKey.generate()
    for purpose in (KEY_PURPOSE_CAPABILITY, KEY_PURPOSE_DECISION, KEY_PURPOSE_RECEIPT, KEY_PURPOSE_REVOCATION)
}
KEY_SET = KeySet.of(
    ISSUER,
    *(KeyRecord(public_key=key.public_key, purpose=purpose, state=KEY_STATE_ACTIVE) for purpose, key in KEYS.items()),
)
SIGNER = KEYS[KEY_PURPOSE_REVOCATION]

CAPABILITY = CommitCapability(
    capability_id="c-1",
    issuer=ISSUER,
    tenant=TENANT,
    holder=HOLDER,
    holder_key=bytes(32),
    approval_reference="a-1",
    content_digest=bytes(32),
)
RECEIPT = CommitReceipt(record_id="r-1", issuer=ISSUER, capability=CAPABILITY, commit_time=timestamp(NOW_MS))
DECISION = DecisionReceipt(issuer=ISSUER, tenant=TENANT, holder=HOLDER, approval_references=["a-0", "a-1"])
RESTING: dict[str, tuple[SignedStatement, type[CommitCapability | CommitReceipt | DecisionReceipt]]] = {
    "capability": (sign(CAPABILITY, KEYS[KEY_PURPOSE_CAPABILITY]), CommitCapability),
    "receipt": (sign(RECEIPT, KEYS[KEY_PURPOSE_RECEIPT]), CommitReceipt),
    "decision": (sign(DECISION, KEYS[KEY_PURPOSE_DECISION]), DecisionReceipt),
}


def item(
    sequence: int,
    previous: int,
    *,
    kind: "RevokedKind.ValueType" = REVOKED_KIND_CAPABILITY,
    subject: str = "",
    tenant: TenantRef = TENANT,
    signer: PrivateKey = SIGNER,
) -> SignedStatement:
    """An item of the feed."""
    says = Revocation(
        issuer=ISSUER,
        tenant=tenant,
        sequence=sequence,
        previous_sequence=previous,
        kind=kind,
        subject=subject or f"thing-{sequence}",
        revoke_time=timestamp(NOW_MS),
    )
    return sign(says, signer)


def heartbeat(sequence: int, *, at_ms: int = NOW_MS, tenant: TenantRef = TENANT) -> SignedStatement:
    """A heartbeat."""
    says = RevocationHeartbeat(issuer=ISSUER, tenant=tenant, sequence=sequence, as_of_time=timestamp(at_ms))
    return sign(says, SIGNER)


def fed(*statements: SignedStatement, at_ms: int = NOW_MS) -> RevocationFeed:
    """A feed that has taken these in, and heard that there are no others."""
    feed = RevocationFeed(TENANT)
    for statement in statements:
        feed.take(statement, KEY_SET)
    feed.hear(heartbeat(feed.cursor, at_ms=at_ms), KEY_SET)
    return feed


def flipped(statement: SignedStatement) -> SignedStatement:
    """The same with another sequence, under the signature of before."""
    forged = SignedStatement.FromString(statement.SerializeToString())
    says = Revocation.FromString(statement.payload)
    says.subject += "x"
    forged.payload = says.SerializeToString(deterministic=True)
    return forged


REFUSED: dict[str, tuple[Callable[[], SignedStatement], type[OfflineError]]] = {
    "forged": (lambda: flipped(item(9, 5)), SignatureInvalid),
    "signed by a stranger": (lambda: item(9, 5, signer=PrivateKey.generate()), KeyUnknown),
    "signed by a key of another purpose": (
        lambda: item(9, 5, signer=KEYS[KEY_PURPOSE_RECEIPT]),
        KeyPurposeMismatch,
    ),
    "one left out": (lambda: item(12, 9), FeedBroken),
    "told twice": (lambda: item(5, 3), FeedBroken),
    "told again from the start": (lambda: item(3, 0), FeedBroken),
    "that goes back": (lambda: item(4, 5), FeedBroken),
    "that follows nothing": (lambda: item(9, 0), FeedBroken),
    "of another tenant": (lambda: item(9, 5, tenant=OTHER_TENANT), FeedBroken),
}


@pytest.mark.parametrize(("made", "error"), REFUSED.values(), ids=REFUSED)
def test_an_item_is_refused(made: Callable[[], SignedStatement], error: type[OfflineError]) -> None:
    # Given a feed of two items
    feed = fed(item(3, 0), item(5, 3))

    # When this comes, then it is refused, and the feed stays as it was
    with pytest.raises(error):
        feed.take(made(), KEY_SET)
    assert (feed.cursor, feed.as_of_ms) == (5, NOW_MS)
    feed.take(item(9, 5), KEY_SET)
    feed.hear(heartbeat(9), KEY_SET)


@pytest.mark.parametrize(
    "made",
    [lambda: heartbeat(9), lambda: heartbeat(3), lambda: heartbeat(5, tenant=OTHER_TENANT)],
    ids=["an item withheld", "put back", "another tenant"],
)
def test_a_heartbeat_of_another_end_is_refused(made: Callable[[], SignedStatement]) -> None:
    feed = fed(item(3, 0), item(5, 3))
    with pytest.raises(FeedBroken):
        feed.hear(made(), KEY_SET)
    assert feed.as_of_ms == NOW_MS


def test_an_item_is_no_heartbeat_and_a_heartbeat_no_item() -> None:
    feed = fed()
    with pytest.raises(OfflineError, match="another kind"):
        feed.hear(item(1, 0), KEY_SET)
    with pytest.raises(OfflineError, match="another kind"):
        feed.take(heartbeat(0), KEY_SET)


def test_a_feed_is_as_old_as_its_last_heartbeat() -> None:
    feed = fed(item(3, 0), at_ms=NOW_MS)
    # An older one, of a replica whose clock is behind, makes it no older.
    feed.hear(heartbeat(3, at_ms=NOW_MS - MINUTE_MS), KEY_SET)
    feed.view(now_ms=NOW_MS + MINUTE_MS, maximum_age_ms=MINUTE_MS)
    with pytest.raises(FeedStale, match="at most 60000 ms old, presented one that is 60001 ms old"):
        feed.view(now_ms=NOW_MS + MINUTE_MS + 1, maximum_age_ms=MINUTE_MS)


def test_a_feed_that_heard_nothing_answers_nothing() -> None:
    feed = RevocationFeed(TENANT)
    feed.take(item(3, 0), KEY_SET)
    with pytest.raises(FeedStale, match="no heartbeat yet"):
        feed.view(now_ms=NOW_MS, maximum_age_ms=10**12)


WITHDRAWN: dict[str, tuple["RevokedKind.ValueType", str, set[str]]] = {
    "capability": (REVOKED_KIND_CAPABILITY, "c-1", {"capability"}),
    "holder": (REVOKED_KIND_PRINCIPAL, "services|writer", {"capability", "decision"}),
    "holder key": (REVOKED_KIND_PRINCIPAL_KEY, to_wire(bytes(32)), {"capability"}),
    "approval": (REVOKED_KIND_APPROVAL, "a-1", {"capability", "decision"}),
    "record": (REVOKED_KIND_RECORD, "r-1", {"receipt"}),
    "another capability": (REVOKED_KIND_CAPABILITY, "c-2", set()),
    "a record of the capability's name": (REVOKED_KIND_RECORD, "c-1", set()),
}


@pytest.mark.parametrize(("kind", "subject", "falling"), WITHDRAWN.values(), ids=WITHDRAWN)
def test_what_rests_on_it_falls_and_nothing_else(
    kind: "RevokedKind.ValueType", subject: str, falling: set[str]
) -> None:
    view = fed(item(3, 0, kind=kind, subject=subject)).view(now_ms=NOW_MS, maximum_age_ms=MINUTE_MS)
    for name, (statement, expected) in RESTING.items():
        verify_statement(statement, KEY_SET)
        if name in falling:
            with pytest.raises(Withdrawn, match="item 3 of the feed"):
                verify_as(statement, KEY_SET, expected, revocations=view)
        else:
            verify_as(statement, KEY_SET, expected, revocations=view)


def test_a_receipt_of_a_withdrawn_record_says_so_only_when_asked() -> None:
    view = fed(item(3, 0, kind=REVOKED_KIND_RECORD, subject="r-1")).view(now_ms=NOW_MS, maximum_age_ms=MINUTE_MS)
    statement, _ = RESTING["receipt"]
    assert verify_receipt(statement, KEY_SET).record_id == "r-1"
    with pytest.raises(Withdrawn):
        verify_receipt(statement, KEY_SET, revocations=view)


def test_a_key_that_the_feed_revokes_counts_no_more_though_the_key_set_is_older() -> None:
    key_id = KEYS[KEY_PURPOSE_RECEIPT].public_key.key_id
    view = fed(item(3, 0, kind=REVOKED_KIND_ISSUER_KEY, subject=key_id)).view(now_ms=NOW_MS, maximum_age_ms=MINUTE_MS)
    statement, _ = RESTING["receipt"]
    with pytest.raises(KeyRevoked):
        verify_receipt(statement, KEY_SET, revocations=view)
    with pytest.raises(KeyRevoked):
        verify_statement(statement, KEY_SET, revocations=view)
    verify_statement(RESTING["capability"][0], KEY_SET, revocations=view)


def test_the_feed_of_another_tenant_says_nothing_of_this_one() -> None:
    feed = RevocationFeed(OTHER_TENANT)
    feed.hear(heartbeat(0, tenant=OTHER_TENANT), KEY_SET)
    view = feed.view(now_ms=NOW_MS, maximum_age_ms=MINUTE_MS)
    for statement, expected in RESTING.values():
        with pytest.raises(FeedBroken):
            verify_as(statement, KEY_SET, expected, revocations=view)
