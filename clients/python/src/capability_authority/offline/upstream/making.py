"""Makes and signs envelopes, for callers in Python."""

import datetime as dt
from collections.abc import Mapping

from capability_authority.offline.canonical_json import canonicalize
from capability_authority.offline.errors import ActionEnvelopeInvalid
from capability_authority.offline.keys import PrivateKey
from capability_authority.offline.upstream.signed import ALGORITHM, base64url
from capability_authority.offline.upstream.structure import read_action_envelope
from capability_authority.offline.upstream.values import ActionEnvelope

__all__ = ["ActionEnvelopeInvalid", "action_time", "sign_action_envelope"]


def sign_action_envelope(
    envelope: Mapping[str, object], private_key: PrivateKey, *, key_id: str | None = None
) -> bytes:
    """The signed envelope as JSON text, in its RFC 8785 form; equal arguments give equal bytes.

    `envelope` has the names of the wire (`schemaVersion`, `tenantRef`, …). `key_id` is an alias under which the key is
    registered; its thumbprint unless told otherwise. Raises `ActionEnvelopeInvalid`, and `JsonError` for half a
    surrogate pair.
    """
    members = dict(envelope)
    read = read_action_envelope(members)
    if not isinstance(read, ActionEnvelope):
        raise ActionEnvelopeInvalid(read)
    return canonicalize(
        {
            "envelope": members,
            "algorithm": ALGORITHM,
            "keyId": key_id or private_key.public_key.key_id,
            "signature": base64url(private_key.sign(canonicalize(members))),
        }
    )


def action_time(ms: int) -> str:
    """An instant, in milliseconds since 1970, as envelopes write it.

    Raises `ValueError` outside the years 1 to 9999.
    """
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=ms)
    except OverflowError:
        raise ValueError("a time lies between the years 1 and 9999") from None
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1_000:03}Z".rjust(24, "0")
