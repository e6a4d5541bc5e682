"""Reads signed envelopes of upstream, and judges who signed them."""

import asyncio
from collections.abc import Sequence
from typing import Final

from authority.domain import limits
from authority.domain.action_envelope import ActionEnvelope, ActionParty, OpenedEnvelope, unproven
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal, malformed
from capability_authority.offline import JsonError, KeyRefused, PublicKey, parse, sha256
from capability_authority.offline.upstream import ActionEnvelope as UpstreamEnvelope
from capability_authority.offline.upstream import (
    ActionEnvelopeRefused,
    ActionRef,
    Issue,
    read_action_envelope,
    read_signed_envelope_json,
)

_SHOWN_ISSUE: Final = 128
_READ_HERE_BYTES: Final = 4 * 1024
"""Envelopes up to this size, which nearly all are, are read at once: some 2 ms at worst."""


class SignedEnvelopeReader:
    """Implements the port `ActionEnvelopes`. Remembers nothing: envelopes come once."""

    def read(self, presented: bytes) -> OpenedEnvelope | Refusal:
        """The envelope, or PROOF_INVALID.

        This is the one place where bytes are encoded anew to verify what they say; text that has two readings, for one
        because a key stands in it twice, was refused before.
        """
        if len(presented) > limits.ACTION_ENVELOPE_BYTES:
            return unproven("malformed_signed_envelope")
        found = read_signed_envelope_json(presented)
        if isinstance(found, ActionEnvelopeRefused):
            return unproven(found.code.value, _told(found.issues))
        if found.canonical is None:
            return unproven("invalid_envelope")
        return OpenedEnvelope(
            presented=presented,
            says=_says(found.envelope),
            key_name=found.key_id,
            canonical=found.canonical,
            digest=sha256(found.canonical),
            signature=found.signature,
        )

    async def read_from_stranger(self, presented: bytes) -> OpenedEnvelope | Refusal:
        """The same, a large one in a thread: it would stop every other call for as long as 40 ms."""
        is_large = len(presented) > _READ_HERE_BYTES
        return await asyncio.to_thread(self.read, presented) if is_large else self.read(presented)

    def read_unsigned(self, text: bytes) -> ActionEnvelope | Refusal:
        """What an envelope says that comes without its signature, or MALFORMED `envelope_json`."""
        try:
            value = parse(text)
        except JsonError as error:
            return malformed("envelope_json", f"is no JSON with one reading: {error.problem}")
        found = read_action_envelope(value)
        if isinstance(found, UpstreamEnvelope):
            return _says(found)
        return malformed("envelope_json", f"is no action envelope: {_told(found)}")

    def is_signed_by(self, envelope: OpenedEnvelope, public_key: bytes) -> bool:
        """Whether exactly this key signed it; False for a key for which anyone could sign (case E03)."""
        try:
            key = PublicKey(public_key)
        except KeyRefused:
            return False
        return key.verify(envelope.signature, envelope.canonical)


def _told(issues: Sequence[Issue]) -> str:
    """Where the structure is wrong first, as upstream says it; names of fields that it does not know are cut off."""
    if not issues:
        return ""
    issue = issues[0]
    path = issue.path if issue.path.isascii() and issue.path.isprintable() else "$"
    return f"{path[:_SHOWN_ISSUE]} {issue.code.value}"


def _says(found: UpstreamEnvelope) -> ActionEnvelope:
    return ActionEnvelope(
        audience=found.audience,
        tenant=TenantRef(found.tenant.namespace, found.tenant.id),
        action=found.action,
        resource_refs=found.resource_refs,
        request_digest=found.request_digest or "",
        content_digest=found.content_digest or "",
        idempotency_key=found.idempotency_key or "",
        policy_receipt_id=found.policy_receipt_id,
        capability_id=found.capability_id or "",
        validation_receipt_id=found.validation_receipt_id or "",
        subject=_party(found.subject),
        actor=_party(found.actor) if found.actor else None,
        occur_time=Instant(found.occurred_ms),
        expire_time=None if found.expires_ms is None else Instant(found.expires_ms),
    )


def _party(reference: ActionRef) -> ActionParty:
    return ActionParty(reference.namespace, reference.id)
