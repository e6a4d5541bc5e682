"""`revocation_feeds.json`: what a feed of revocations tells, and what no longer counts because of it (semantics §3)."""

from collections.abc import Iterator, Sequence
from typing import Final

from capability_authority.offline import pae, sign, timestamp, to_wire
from capability_authority.v1.statements_pb2 import (
    REVOKED_KIND_APPROVAL,
    REVOKED_KIND_CAPABILITY,
    REVOKED_KIND_GRANT,
    REVOKED_KIND_ISSUER_KEY,
    REVOKED_KIND_PRINCIPAL,
    REVOKED_KIND_PRINCIPAL_KEY,
    REVOKED_KIND_RECORD,
    Revocation,
    RevocationHeartbeat,
    RevokedKind,
    SignedStatement,
)
from capability_authority.v1.types_pb2 import TenantRef
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.key_sets import ISSUER_KEYS, key_record
from capability_authority_conformance.golden.published_keys import published, published_key
from capability_authority_conformance.golden.samples import ISSUER, NOW_MS, SAMPLES, TENANT

__all__ = ["revocation_feeds"]

_FLAGS: Final = (
    Flag("Stands", "BASIC", "What nothing was withdrawn of.", "Nothing counts."),
    Flag(
        "Withdrawn",
        "REPLAY",
        "What rests on something that was withdrawn: itself, its holder, a key, an approval, a grant, a record.",
        "What was withdrawn goes on counting wherever nobody asks the authority.",
    ),
    Flag(
        "AnotherName",
        "CONFUSION",
        "Something of another kind, or of nearly the same name, was withdrawn: names are compared, never completed.",
        "A withdrawal of one thing withdraws another.",
    ),
    Flag(
        "Gap",
        "REPLAY",
        "Each item names the one before it, and a heartbeat how far the feed goes: nothing is left out or told twice.",
        "Whoever carries the feed leaves out what it likes.",
    ),
    Flag(
        "Stale",
        "REPLAY",
        "A feed proves that nothing else was withdrawn up to its last heartbeat, and no longer.",
        "Whoever cuts off the feed keeps what was withdrawn alive.",
    ),
    Flag("AnotherFeed", "CONFUSION", "Items of another tenant, issuer or key.", "Anyone withdraws, or hides it."),
)
_MINUTE_MS: Final = 60_000
_HEARD_MS: Final = NOW_MS + 10_000
_OTHER_TENANT: Final = TenantRef(namespace=TENANT.namespace, id="other")
_HOLDER: Final = published_key("holder").public_key.key_id


def revocation_feeds() -> VectorFile:
    """The file."""
    topics: tuple[tuple[str, list[Test]], ...] = (
        ("What stands, and what was withdrawn", [*_standing(), *_withdrawn()]),
        ("Withdrawals of something else", [*_others()]),
        ("Feeds with gaps", [*_gaps()]),
        ("Feeds that were not heard of for too long", [*_stale()]),
        ("Items of other feeds", [*_foreign()]),
    )
    names = [*ISSUER_KEYS, "stranger"]
    shared = {
        "tenant": {"namespace": TENANT.namespace, "id": TENANT.id},
        "issuer": ISSUER,
        "keys": [published(name) for name in names],
        "key_set": [key_record(name) for name in ISSUER_KEYS],
    }
    return VectorFile(
        "revocation_feeds",
        "Feeds of one tenant, told in this order to whoever verifies a statement afterwards.",
        _FLAGS,
        [Group(about, tests, shared) for about, tests in topics],
    )


def _item(
    kind: "RevokedKind.ValueType", subject: str, sequence: int = 3, previous: int = 0, *, tenant: TenantRef = TENANT
) -> SignedStatement:
    return sign(
        Revocation(
            issuer=ISSUER,
            tenant=tenant,
            sequence=sequence,
            previous_sequence=previous,
            kind=kind,
            subject=subject,
            revoke_time=timestamp(NOW_MS),
        ),
        published_key("revocation"),
    )


def _beat(sequence: int, *, at_ms: int = _HEARD_MS, tenant: TenantRef = TENANT) -> SignedStatement:
    heartbeat = RevocationHeartbeat(issuer=ISSUER, tenant=tenant, sequence=sequence, as_of_time=timestamp(at_ms))
    return sign(heartbeat, published_key("revocation"))


def _standing() -> Iterator[Test]:
    for kind in ("commit-capability", "decision-receipt", "commit-receipt", "grant", "validation-receipt"):
        yield _test(f"stands-{kind}", "nothing was withdrawn yet", "Stands", [_beat(0)], kind, None)
    unrelated = [_item(REVOKED_KIND_CAPABILITY, "cap_99"), _item(REVOKED_KIND_RECORD, "rec_99", 7, 3), _beat(7)]
    yield _test("stands-among-others", "other things were withdrawn", "Stands", unrelated, "commit-capability", None)


def _withdrawn() -> Iterator[Test]:
    grant = to_wire(SAMPLES["grant"].digest)
    for name, kind, subject, statement in (
        ("capability", REVOKED_KIND_CAPABILITY, "cap_01", "commit-capability"),
        ("capability-holder", REVOKED_KIND_PRINCIPAL, "workload|committer", "commit-capability"),
        ("capability-holder-key", REVOKED_KIND_PRINCIPAL_KEY, _HOLDER, "commit-capability"),
        ("capability-approval", REVOKED_KIND_APPROVAL, "appr_01", "commit-capability"),
        ("decision-holder", REVOKED_KIND_PRINCIPAL, "workload|committer", "decision-receipt"),
        ("decision-approval", REVOKED_KIND_APPROVAL, "appr_01", "decision-receipt"),
        ("receipt-record", REVOKED_KIND_RECORD, "rec_01", "commit-receipt"),
        ("grant", REVOKED_KIND_GRANT, grant, "grant"),
        ("grant-subject", REVOKED_KIND_PRINCIPAL, "cognitum-principal|mira", "grant"),
        ("grant-holder", REVOKED_KIND_PRINCIPAL, "workload|committer", "grant"),
        ("grant-holder-key", REVOKED_KIND_PRINCIPAL_KEY, _HOLDER, "grant"),
    ):
        yield _test(
            f"withdrawn-{name}",
            name.replace("-", " "),
            "Withdrawn",
            [_item(kind, subject), _beat(3)],
            statement,
            "withdrawn",
        )
    for signed, key in (("commit-capability", "capability"), ("commit-receipt", "receipt"), ("grant", "grant")):
        key_id = published_key(key).public_key.key_id
        feed = [_item(REVOKED_KIND_ISSUER_KEY, key_id), _beat(3)]
        yield _test(f"withdrawn-key-of-{signed}", "the key that signed it", "Withdrawn", feed, signed, "key_revoked")
    later = [
        _item(REVOKED_KIND_CAPABILITY, "cap_99"),
        _beat(3),
        _item(REVOKED_KIND_CAPABILITY, "cap_01", 4, 3),
        _beat(4),
    ]
    yield _test("withdrawn-later", "after a heartbeat", "Withdrawn", later, "commit-capability", "withdrawn")


def _others() -> Iterator[Test]:
    for name, comment, kind, subject, statement in (
        ("kind", "a record of the capability's name", REVOKED_KIND_RECORD, "cap_01", "commit-capability"),
        ("case", "another case", REVOKED_KIND_CAPABILITY, "CAP_01", "commit-capability"),
        ("prefix", "the beginning of its name", REVOKED_KIND_CAPABILITY, "cap_0", "commit-capability"),
        (
            "namespace",
            "the holder's id in another namespace",
            REVOKED_KIND_PRINCIPAL,
            "ruflo-agent|committer",
            "commit-capability",
        ),
        (
            "proposer",
            "its subject, who does not hold it",
            REVOKED_KIND_PRINCIPAL,
            "ruflo-agent|build-agent",
            "commit-capability",
        ),
        (
            "receipts-capability",
            "a receipt stays when its capability goes",
            REVOKED_KIND_CAPABILITY,
            "cap_01",
            "commit-receipt",
        ),
        (
            "key",
            "a principal's key under the name of an issuer's",
            REVOKED_KIND_PRINCIPAL_KEY,
            published_key("capability").public_key.key_id,
            "commit-capability",
        ),
    ):
        yield _test(f"other-{name}", comment, "AnotherName", [_item(kind, subject), _beat(3)], statement, None)


def _gaps() -> Iterator[Test]:
    first, second = _item(REVOKED_KIND_CAPABILITY, "cap_98"), _item(REVOKED_KIND_CAPABILITY, "cap_99", 5, 3)
    for name, comment, feed in (
        ("first-left-out", "the first item is missing", [second, _beat(5)]),
        (
            "middle-left-out",
            "an item between is missing",
            [first, _item(REVOKED_KIND_CAPABILITY, "cap_97", 9, 5), _beat(9)],
        ),
        ("last-left-out", "the heartbeat tells of more", [first, _beat(5)]),
        ("twice", "an item twice", [first, first, _beat(3)]),
        ("turned", "in another order", [second, first, _beat(5)]),
        (
            "goes-back",
            "a sequence that does not rise",
            [first, _item(REVOKED_KIND_CAPABILITY, "cap_99", 3, 3), _beat(3)],
        ),
        ("falls", "a sequence that falls", [first, _item(REVOKED_KIND_CAPABILITY, "cap_99", 2, 3), _beat(2)]),
        ("negative", "a first item below 0", [_item(REVOKED_KIND_CAPABILITY, "cap_99", -1), _beat(-1)]),
        ("heartbeat-behind", "a heartbeat that tells of less", [first, second, _beat(3)]),
        ("heartbeat-of-nothing", "a heartbeat of a feed that begins anew", [first, _beat(0)]),
    ):
        yield _test(f"gap-{name}", comment, "Gap", feed, "commit-capability", "feed_broken")


def _stale() -> Iterator[Test]:
    for name, comment, feed, now_ms, reason in (
        ("youngest", "heard of at this moment", [_beat(0)], _HEARD_MS, None),
        ("oldest", "as old as it may be", [_beat(0)], _HEARD_MS + _MINUTE_MS, None),
        ("too-old", "a millisecond older", [_beat(0)], _HEARD_MS + _MINUTE_MS + 1, "feed_stale"),
        ("long", "a day old", [_beat(0)], _HEARD_MS + 86_400_000, "feed_stale"),
        ("never", "no heartbeat", [], _HEARD_MS, "feed_stale"),
        ("item-alone", "an item is no heartbeat", [_item(REVOKED_KIND_CAPABILITY, "cap_99")], _HEARD_MS, "feed_stale"),
        (
            "older-after-newer",
            "an older one, from a replica whose clock is behind, changes nothing",
            [_beat(0), _beat(0, at_ms=_HEARD_MS - 50_000)],
            _HEARD_MS + _MINUTE_MS,
            None,
        ),
        ("ahead", "its clock is ahead of ours", [_beat(0)], _HEARD_MS - 5_000, None),
    ):
        yield _test(f"stale-{name}", comment, "Stale", feed, "commit-capability", reason, now_ms=now_ms)
    withdrawn_and_stale = [_item(REVOKED_KIND_CAPABILITY, "cap_01"), _beat(3)]
    yield _test(
        "stale-first",
        "what is too old is not asked at all",
        "Stale",
        withdrawn_and_stale,
        "commit-capability",
        "feed_stale",
        now_ms=_HEARD_MS + _MINUTE_MS + 1,
    )


def _foreign() -> Iterator[Test]:
    item = _item(REVOKED_KIND_CAPABILITY, "cap_99")
    message = Revocation.FromString(item.payload)
    other_issuer = Revocation.FromString(item.payload)
    other_issuer.issuer = "authority.elsewhere"
    forged = SignedStatement.FromString(item.SerializeToString())
    forged.signature.signature = published_key("stranger").sign(pae(item.payload_type, item.payload))
    for name, comment, feed, reason in (
        (
            "tenant",
            "an item of another tenant",
            [_item(REVOKED_KIND_CAPABILITY, "cap_99", tenant=_OTHER_TENANT)],
            "feed_broken",
        ),
        ("heartbeat-tenant", "a heartbeat of another tenant", [_beat(0, tenant=_OTHER_TENANT)], "feed_broken"),
        ("issuer", "an item of another issuer", [sign(other_issuer, published_key("revocation"))], "issuer_mismatch"),
        ("stranger", "by a key that is not in the set", [sign(message, published_key("stranger"))], "key_unknown"),
        ("purpose", "by the receipt key", [sign(message, published_key("receipt"))], "key_purpose_mismatch"),
        ("forged", "by a stranger under our key's name", [forged], "signature_invalid"),
    ):
        yield _test(f"foreign-{name}", comment, "AnotherFeed", [*feed, _beat(3)], "commit-capability", reason)


def _test(
    name: str,
    comment: str,
    flag: str,
    feed: Sequence[SignedStatement],
    statement: str,
    reason: str | None,
    *,
    now_ms: int = _HEARD_MS,
) -> Test:
    inputs = {
        "feed": [each.SerializeToString(deterministic=True).hex() for each in feed],
        "statement": SAMPLES[statement].statement().SerializeToString(deterministic=True).hex(),
        "now_ms": now_ms,
        "maximum_age_ms": _MINUTE_MS,
    }
    return Test(name, comment, (flag,), inputs, reason)
