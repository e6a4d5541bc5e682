"""Envelopes of upstream for one commit, and what else could be presented, for `upstream_envelopes.json`."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from capability_authority.offline import canonicalize, sign
from capability_authority.offline.upstream import ActionRef, action_time, commit_action_envelope
from capability_authority.offline.upstream.signed import base64url
from capability_authority.v1.statements_pb2 import CommitCapability, SignedStatement
from capability_authority_conformance.golden.form import Test
from capability_authority_conformance.golden.published_keys import published_key
from capability_authority_conformance.golden.samples import NOW_MS, SAMPLES

__all__ = [
    "ALIAS",
    "MIDDLE_MS",
    "OCCURRED_MS",
    "Members",
    "capability",
    "envelope",
    "signed",
    "terms",
    "upstream_test",
    "wrapper",
]

Members: TypeAlias = dict[str, Any]
"""Of a JSON object."""

ALIAS: Final = "committer-2026"
"""A name that an operator gave to the holder's key."""
OCCURRED_MS: Final = NOW_MS + 60_000
MIDDLE_MS: Final = OCCURRED_MS + 1_000
"""When most are presented."""
_IDS: Final = tuple(f"0199a3c5-0000-7000-8000-00000000000{number}" for number in range(3))


def terms() -> CommitCapability:
    """The sample capability, with ids as an authority makes them, for an audience that upstream knows."""
    message = CommitCapability()
    message.CopyFrom(SAMPLES["commit-capability"].message)  # type: ignore[arg-type]  # it is one
    message.capability_id, message.proposal_id, message.approval_reference = _IDS
    message.audience = "ruflo.memory"
    return message


def capability() -> SignedStatement:
    """The capability as its holder has it."""
    return sign(terms(), published_key("capability"))


def envelope(change: Callable[[Members], object] | None = None) -> Members:
    """The envelope for exactly that commit, changed in place."""
    members: Members = commit_action_envelope(
        terms(),
        event_id="event-4711",
        subject=ActionRef("cognitum-principal", "mira"),
        occurred_ms=OCCURRED_MS,
    )
    members["expiresAt"] = action_time(OCCURRED_MS + 600_000)
    if change is not None:
        change(members)
    return members


def wrapper(members: Mapping[str, Any], *, key: str = "holder", key_id: str | None = None) -> Members:
    """The envelope with a good signature of a key."""
    private_key = published_key(key)
    return {
        "envelope": dict(members),
        "algorithm": "Ed25519",
        "keyId": key_id or private_key.public_key.key_id,
        "signature": base64url(private_key.sign(canonicalize(dict(members)))),
    }


def signed(change: Callable[[Members], object] | None = None, **more: Any) -> bytes:  # noqa: ANN401 - as `wrapper`
    """The text of a signed envelope, changed before it was signed."""
    return canonicalize(wrapper(envelope(change), **more))


def upstream_test(
    name: str,
    comment: str,
    flag: str,
    text: bytes,
    reason: str | None,
    issues: list[tuple[str, str]] | None = None,
    *,
    now_ms: int = MIDDLE_MS,
) -> Test:
    """One text that is presented."""
    inputs = {
        "presented": text.hex(),
        "now_ms": now_ms,
        "issues": None if issues is None else [{"path": path, "code": code} for path, code in issues],
    }
    return Test(name, comment, (flag,), inputs, reason)
