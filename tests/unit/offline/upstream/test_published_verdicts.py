"""The verdicts of the published upstream verifier over signed envelopes: each is ours, too."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from capability_authority.offline import PublicKey, sha256, to_wire
from capability_authority.offline.canonical_json import canonicalize
from capability_authority.offline.upstream import (
    ActionEnvelopeRefused,
    ActionRef,
    EnvelopeHooks,
    Reservation,
    SignedActionEnvelope,
    read_signed_envelope_json,
    verify_action_envelope,
)

VECTORS = Path(__file__).parents[4] / "conformance" / "vectors" / "cognitum-action-v1" / "envelopes.json"
FILE: dict[str, Any] = json.loads(VECTORS.read_text(encoding="utf-8"))
KEY = PublicKey(bytes.fromhex(FILE["publicKeyHex"]))
CASES = {case["name"]: case for case in FILE["cases"]}


def hooks_of(case: dict[str, Any]) -> EnvelopeHooks:
    played = case["hooks"]
    assert not played["throws"], "no case has a hook that throws"
    return EnvelopeHooks(
        resolve_key=lambda _, key_id: KEY if played["keyKnown"] and key_id == FILE["keyId"] else None,
        allows_policy=lambda _: bool(played["policy"]),
        allows_capability=lambda _: bool(played["capability"]),
        reserve=lambda *_: Reservation(played["reserve"]),
    )


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_the_issues_and_the_digest_are_the_published_ones(name: str) -> None:
    case = CASES[name]

    found = verify_action_envelope(
        case["signed"],
        audience=case["expectedAudience"],
        tenant=ActionRef(**case["expectedTenantRef"]),
        now_ms=round(dt.datetime.fromisoformat(case["now"]).timestamp() * 1_000),
        hooks=hooks_of(case),
    )

    if isinstance(found, ActionEnvelopeRefused):
        issues = [{"path": issue.path, "code": issue.code.value} for issue in found.issues]
        assert (False, found.code.value, issues) == (case["ok"], case["code"], case["issues"])
    else:
        assert (True, found.digest) == (case["ok"], case["digest"])
    assert to_wire(sha256(canonicalize(case["signed"]["envelope"]))) == case["digest"]


def test_the_file_is_whole_and_has_both_verdicts() -> None:
    assert len(CASES) == len(FILE["cases"]) == 33
    assert sum(case["ok"] for case in FILE["cases"]) == 5


def test_whatever_is_left_of_one_is_answered() -> None:
    text = json.dumps(CASES["commit-ok"]["signed"]).encode()

    for cut in range(0, len(text), 41):
        assert isinstance(read_signed_envelope_json(text[:cut]), ActionEnvelopeRefused), cut
    assert isinstance(read_signed_envelope_json(text), SignedActionEnvelope)
