"""Vectors are worth what they find: each fault here, put into the client on purpose, fails those flagged for it.

A fault that no vector finds would be one that an implementation may have and still pass.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.message import Message

from capability_authority.offline import (
    GrantUse,
    KeyRecord,
    canonical_json,
    fingerprint,
    grants,
    keys,
    narrowing,
    reading,
    selectors,
    statements,
    verification,
)
from capability_authority.offline.revocations import RevocationState, RevocationView
from tests.vectors import (
    test_golden_bytes,
    test_golden_statements,
    test_golden_upstream,
    test_golden_verification,
)
from tests.vectors.vector_runs import Vector, vectors

JUDGES: dict[str, Callable[[Vector], object]] = {
    "canonical_json": lambda vector: test_golden_bytes.judge_document(vector.test),
    "fingerprints": lambda vector: test_golden_bytes.judge_fingerprint(vector.test),
    "signing_input": lambda vector: test_golden_bytes.judge_signing_input(vector.test),
    "statements": test_golden_statements.judge,
    "reading": test_golden_statements.judge_payload,
    "public_keys": lambda vector: None if test_golden_verification.judge_key(vector.test) else vector.test["reason"],
    "key_states": test_golden_verification.judge_key_state,
    "revocation_feeds": test_golden_verification.judge_feed,
    "times": test_golden_verification.judge_time,
    "grant_chains": lambda vector: test_golden_verification.judge_chain(vector)[0],
    "upstream_envelopes": test_golden_upstream.judge,
}
"""The reason for which the client refuses a vector, by file."""


def found_by(file: str) -> set[str]:
    """The flags of vectors on which the client, as it is now, gives another answer than it must."""
    judge = JUDGES[file]
    flags: set[str] = set()
    for vector in vectors(file):
        try:
            is_right = judge(vector) == vector.test["reason"]
        except Exception:  # noqa: BLE001 - a fault may break anything, which shows it just as well
            is_right = False
        flags |= set() if is_right else set(vector.test["flags"])
    return flags


@pytest.mark.parametrize("file", JUDGES)
def test_the_client_as_it_is_has_no_fault(file: str) -> None:
    assert found_by(file) == set()


def sorted_by_code_point(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def lenient_reading(data: bytes, message_class: type[Message], **_: Any) -> Message:
    """Whatever the parser takes."""
    return message_class.FromString(data)


def reading_without_enums(data: bytes, message_class: type[Message], **more: Any) -> Message:
    """By encoding again alone."""
    message = message_class.FromString(data)
    if message.SerializeToString(deterministic=True) != data:
        raise more.get("refusal", reading.PayloadRefused)("not_deterministic")
    return message


def is_under(wider: str, selector: str) -> bool:
    """By the letters of a prefix, without segments."""
    return selector == wider or (wider.endswith("/*") and selector.startswith(wider.removesuffix("/*")))


def unless_empty(parent: Any, child: Any) -> Any:
    """Narrowing in which an empty list of the parent means unrestricted, as upstream's does."""
    return (
        name
        for name in SOUND_WIDER(parent, child)
        if name not in (*narrowing.EXACT, *narrowing.SELECTORS) or getattr(parent, name).names
    )


SOUND_WIDER = narrowing._wider  # noqa: SLF001 - the rule that the faults are put into
SOUND_REQUIRED = grants._require_current  # noqa: SLF001
SOUND_ALLOWED = grants._require_allowed  # noqa: SLF001


def unless_absent(parent: Any, child: Any) -> Any:
    """Narrowing in which a child inherits what it leaves out."""
    return (name for name in SOUND_WIDER(parent, child) if child.HasField(name))


def a_millisecond_longer(grant: Any, now_ms: int) -> None:
    SOUND_REQUIRED(grant, now_ms - 1)


def allowed_without_names(grant: Any, use: GrantUse) -> None:
    """Nothing is asked of a dimension that the grant leaves out."""
    if all(grant.HasField(name) for name in narrowing.SELECTORS):
        SOUND_ALLOWED(grant, use)


def believed_for_ever(self: Any, state: RevocationState, **_: Any) -> None:
    self._state = state


def taken_as_it_comes(self: RevocationState, item: Any) -> None:
    self.revoked[item.kind, item.subject] = item
    self.sequence = item.sequence


FAULTS: list[tuple[str, Any, str, Any, str, str]] = [
    (
        "names sorted by code point",
        test_golden_bytes,
        "canonicalize",
        sorted_by_code_point,
        "canonical_json",
        "KeyOrder",
    ),
    ("no lengths", fingerprint, "_length_prefixed", lambda part: part, "fingerprints", "Shifted"),
    ("any form of a digest", fingerprint, "from_wire", lambda _: b"", "fingerprints", "DigestForm"),
    ("no type in what is signed", statements, "pae", lambda _, payload: payload, "statements", "AnotherSignature"),
    ("the parser's own reading", statements, "read_exactly", lenient_reading, "statements", "TwoReadings"),
    ("the parser's own reading", statements, "read_exactly", lenient_reading, "reading", "SecondEncoding"),
    ("the parser's own reading", statements, "read_exactly", lenient_reading, "reading", "UnknownField"),
    ("unknown enum values", statements, "read_exactly", reading_without_enums, "reading", "UnknownEnumValue"),
    ("any instant", statements, "read_exactly", reading_without_enums, "reading", "Instant"),
    ("any key", keys, "_refuse_weak_encoding", lambda _: None, "public_keys", "SmallOrder"),
    ("second encodings of keys", keys, "_SMALL_ORDER_Y", frozenset({0, 1}), "public_keys", "SmallOrder"),
    ("revoked keys", KeyRecord, "verifies", True, "key_states", "Revoked"),
    ("keys of any scope", KeyRecord, "covers", lambda *_: True, "key_states", "Scope"),
    ("attestations for anything", verification, "_require_equal", lambda *_: None, "key_states", "Attestation"),
    ("withdrawn things", RevocationView, "require_standing", lambda *_, **__: None, "revocation_feeds", "Withdrawn"),
    ("any age of a feed", RevocationView, "__init__", believed_for_ever, "revocation_feeds", "Stale"),
    ("items left out", RevocationState, "take", taken_as_it_comes, "revocation_feeds", "Gap"),
    ("a millisecond after the end", grants, "_require_current", a_millisecond_longer, "times", "Boundary"),
    ("no skew", grants, "NOT_BEFORE_SKEW_MS", 0, "times", "Skew"),
    ("prefixes of letters", selectors, "_reaches", is_under, "grant_chains", "Selectors"),
    ("an empty list allows all", narrowing, "_wider", unless_empty, "grant_chains", "EmptyList"),
    ("what is absent is inherited", narrowing, "_wider", unless_absent, "grant_chains", "Absent"),
    ("a use of what is absent", grants, "_require_allowed", allowed_without_names, "grant_chains", "Absent"),
    ("anything can be said", grants, "require_shape", lambda _: None, "grant_chains", "Malformed"),
    ("roots with parents", grants, "_require_root", lambda _: None, "grant_chains", "Root"),
    ("children of any parent", grants, "require_narrower", lambda *_: None, "grant_chains", "Links"),
    (
        "names twice in JSON",
        canonical_json._Reader,  # noqa: SLF001
        "_members",
        lambda _, pairs: dict(pairs),
        "upstream_envelopes",
        "TwoReadings",
    ),
    ("digests of nothing", test_golden_bytes, "sha256", lambda _: bytes(32), "canonical_json", "Ordinary"),
]
"""What is taken for good, where it is put in, which file finds it, and by vectors of which flag."""


@pytest.mark.parametrize(
    ("owner", "name", "fault", "file", "flag"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS]
)
def test_a_fault_is_found(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, fault: Any, file: str, flag: str
) -> None:
    monkeypatch.setattr(owner, name, fault)

    assert flag in found_by(file)
