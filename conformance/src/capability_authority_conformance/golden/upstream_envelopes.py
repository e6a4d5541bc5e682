"""`upstream_envelopes.json`: signed envelopes of upstream as the proof of a commit (semantics §5)."""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from capability_authority.offline import canonicalize, sha256, to_wire
from capability_authority.offline.upstream import action_time
from capability_authority.offline.upstream.signed import base64url
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.published_keys import published, published_key
from capability_authority_conformance.golden.upstream_samples import (
    ALIAS,
    OCCURRED_MS,
    Members,
    capability,
    envelope,
    signed,
    upstream_test,
    wrapper,
)
from capability_authority_conformance.golden.upstream_shapes import structures, texts, wrappers

__all__ = ["upstream_envelopes"]

_FLAGS: Final = (
    Flag("Fits", "BASIC", "An envelope for exactly this commit.", "Upstream's callers cannot commit."),
    Flag(
        "OneReading",
        "EDGE_CASE",
        "Only what the text says is signed: spaces, order and escapes may be others than in the canonical form.",
        "Good envelopes are refused.",
    ),
    Flag(
        "TwoReadings",
        "AMBIGUITY",
        "Text that two parsers read as two envelopes: a name twice, or what is no JSON.",
        "What was verified is not what is acted on.",
    ),
    Flag("Structure", "AMBIGUITY", "What upstream's closed schema does not take.", "A reader guesses."),
    Flag(
        "Wrapper",
        "AMBIGUITY",
        "What is not exactly an envelope, algorithm, key id and signature.",
        "The header chooses.",
    ),
    Flag(
        "AnotherCommit", "REPLAY", "An envelope for another commit than this one.", "It proves what nobody asked for."
    ),
    Flag(
        "Time", "REPLAY", "5 minutes old at most, from 30 s ahead, and not expired.", "An overheard envelope is used."
    ),
    Flag("Signature", "FORGERY", "What no key of the holder signed.", "Anyone commits."),
)
_AGE_MS: Final = 300_000
_SKEW_MS: Final = 30_000


def upstream_envelopes() -> VectorFile:
    """The file."""
    groups: tuple[tuple[str, list[Test]], ...] = (
        ("Envelopes for exactly this commit", [*_fitting()]),
        ("Envelopes at other times", [*_times()]),
        ("Envelopes for another commit", [*_for_others()]),
        ("Envelopes that others signed", [*_by_others()]),
        ("What is no signed envelope", [*wrappers(), *texts()]),
        ("What is no envelope", [*structures()]),
    )
    shared = {
        "capability": capability().SerializeToString(deterministic=True).hex(),
        "key": published("holder"),
        "key_names": [published_key("holder").public_key.key_id, ALIAS],
    }
    return VectorFile(
        "upstream_envelopes",
        "Signed envelopes, each presented as the proof of committing what the capability of its group binds.",
        _FLAGS,
        [Group(about, tests, shared) for about, tests in groups],
    )


def _fitting() -> Iterator[Test]:
    yield upstream_test("usual", "named by the key's thumbprint", "Fits", signed(), None)
    yield upstream_test("alias", "named by a name that an operator gave the key", "Fits", signed(key_id=ALIAS), None)
    actor = {"namespace": "ruflo-agent", "id": "build-agent"}
    yield upstream_test(
        "actor", "somebody acts for its subject", "Fits", signed(lambda it: it.update(actor=actor)), None
    )
    usual = wrapper(envelope())
    turned = {name: usual[name] for name in reversed(usual)} | {"envelope": dict(reversed(usual["envelope"].items()))}
    yield upstream_test(
        "spaces", "spaces, and members in another order", "OneReading", json.dumps(turned, indent=2).encode(), None
    )
    escaped = canonicalize(usual).replace(b'"ruflo.memory"', b'"\\u0072uflo.memory"')
    yield upstream_test("escapes", "a letter as an escape", "OneReading", escaped, None)


def _times() -> Iterator[Test]:
    for name, comment, now_ms, reason in (
        ("oldest", "5 minutes old", OCCURRED_MS + _AGE_MS, None),
        ("too-old", "a millisecond older", OCCURRED_MS + _AGE_MS + 1, "occurred_at"),
        ("earliest", "30 s before it was made, by this clock", OCCURRED_MS - _SKEW_MS, None),
        ("too-early", "a millisecond earlier", OCCURRED_MS - _SKEW_MS - 1, "occurred_at"),
    ):
        yield upstream_test(f"time-{name}", comment, "Time", signed(), reason, now_ms=now_ms)
    brief = signed(lambda it: it.update(expiresAt=action_time(OCCURRED_MS + 2_000)))
    yield upstream_test(
        "time-last", "the last millisecond before it expires", "Time", brief, None, now_ms=OCCURRED_MS + 1_999
    )
    yield upstream_test(
        "time-expired", "the millisecond in which it expires", "Time", brief, "expires_at", now_ms=OCCURRED_MS + 2_000
    )
    yield upstream_test("time-after", "a millisecond later", "Time", brief, "expires_at", now_ms=OCCURRED_MS + 2_001)


def _for_others() -> Iterator[Test]:
    other = to_wire(sha256(b"other"))
    changes: tuple[tuple[str, str, str, Callable[[Members], object]], ...] = (
        ("audience", "another authority", "audience", lambda it: it.update(audience="ruflo.policy")),
        ("tenant", "another tenant", "tenant_ref", _tenant("cognitum-tenant", "other")),
        ("tenant-namespace", "the same id in another namespace", "tenant_ref", _tenant("comms-tenant", "acme")),
        ("action", "proposing", "action", lambda it: it.update(action="memory.propose")),
        ("capability", "another capability", "capability_id", lambda it: it.update(capabilityId="cap_02")),
        ("memory", "another memory namespace", "resource_refs", lambda it: it.update(resourceRefs=["team/other"])),
        (
            "memory-and-more",
            "another one beside it",
            "resource_refs",
            lambda it: it["resourceRefs"].append("team/other"),
        ),
        ("memory-before", "another one before it", "resource_refs", lambda it: it["resourceRefs"].insert(0, "team/a")),
        ("memory-prefix", "a selector", "resource_refs", lambda it: it.update(resourceRefs=["team"])),
        ("memory-case", "another case", "resource_refs", lambda it: it.update(resourceRefs=["Team/build"])),
        ("content", "other content", "content_digest", lambda it: it.update(contentDigest=other)),
        ("key", "another idempotency key", "idempotency_key", lambda it: it.update(idempotencyKey="commit-4712")),
        ("request", "another request", "request_digest", lambda it: it.update(requestDigest=other)),
        (
            "request-content",
            "the content's digest for the request's",
            "request_digest",
            lambda it: it.update(requestDigest=it["contentDigest"]),
        ),
        ("policy", "another decision", "policy_receipt_id", lambda it: it.update(policyReceiptId=other)),
        (
            "policy-digits",
            "the digits of its digest",
            "policy_receipt_id",
            lambda it: it.update(policyReceiptId=it["policyReceiptId"].removeprefix("sha256:")),
        ),
        ("validation", "another validation", "validation_receipt_id", lambda it: it.update(validationReceiptId=other)),
        (
            "validation-id",
            "its id, for its digest",
            "validation_receipt_id",
            lambda it: it.update(validationReceiptId="val_01"),
        ),
    )
    for name, comment, reason, change in changes:
        yield upstream_test(f"other-{name}", comment, "AnotherCommit", signed(change), reason)


def _tenant(namespace: str, name: str) -> Callable[[Members], object]:
    """Everywhere in the envelope, so that it does not contradict itself."""

    def change(members: Members) -> None:
        members["tenantRef"] = members["authoritativeSource"]["tenantRef"] = {"namespace": namespace, "id": name}

    return change


def _by_others() -> Iterator[Test]:
    stranger = published_key("stranger").public_key.key_id
    holder = published_key("holder")
    usual = wrapper(envelope())
    yield upstream_test("by-a-stranger", "under its own name", "Signature", signed(key="stranger"), "key_id")
    yield upstream_test(
        "by-a-stranger-as-holder",
        "under the holder's name",
        "Signature",
        signed(key="stranger", key_id=holder.public_key.key_id),
        "signature",
    )
    yield upstream_test(
        "by-a-stranger-as-alias",
        "under the holder's alias",
        "Signature",
        signed(key="stranger", key_id=ALIAS),
        "signature",
    )
    yield upstream_test(
        "as-a-stranger", "by the holder, under another name", "Signature", signed(key_id=stranger), "key_id"
    )
    yield upstream_test("alias-case", "an alias in another case", "Signature", signed(key_id=ALIAS.upper()), "key_id")
    yield upstream_test(
        "key-short",
        "the first digits of the thumbprint",
        "Signature",
        signed(key_id=holder.public_key.key_id[:23]),
        "key_id",
    )
    changed = usual | {"envelope": usual["envelope"] | {"correlationId": "run-4712"}}
    yield upstream_test(
        "changed-afterwards",
        "another correlation id, after it was signed",
        "Signature",
        canonicalize(changed),
        "signature",
    )
    flipped = holder.sign(canonicalize(usual["envelope"] | {"eventId": "event-4712"}))
    yield upstream_test(
        "of-another-envelope",
        "the signature of another envelope",
        "Signature",
        _with(usual, signature=base64url(flipped)),
        "signature",
    )
    whole = holder.sign(json.dumps(usual["envelope"]).encode())
    yield upstream_test(
        "of-the-text",
        "over another text of the same envelope",
        "Signature",
        _with(usual, signature=base64url(whole)),
        "signature",
    )
    dsse = holder.sign(b"DSSEv1 0  %d " % len(canonicalize(usual["envelope"])) + canonicalize(usual["envelope"]))
    yield upstream_test(
        "of-dsse", "over a DSSE encoding of it", "Signature", _with(usual, signature=base64url(dsse)), "signature"
    )


def _with(members: Members, **changes: Any) -> bytes:  # noqa: ANN401 - JSON
    return canonicalize(members | changes)
