"""The key set of a group of vectors, as the client holds it."""

from typing import Any

from capability_authority.offline import KeyRecord, KeySet, PublicKey
from capability_authority.v1.types_pb2 import KeyPurpose, KeyState

_UNHEARD = 99


def key_set_of(group: dict[str, Any]) -> KeySet:
    return KeySet.of(group["issuer"], *(_record(each) for each in group["key_set"]))


def _record(told: dict[str, Any]) -> KeyRecord:
    public_key = PublicKey(bytes.fromhex(told["public_key"]))
    assert public_key.key_id == told["key_id"]
    tenant = told["tenant"]
    return KeyRecord(
        public_key=public_key,
        purpose=_number(KeyPurpose, "KEY_PURPOSE_", told["purpose"]),
        state=_number(KeyState, "KEY_STATE_", told["state"]),
        compromised_since_ms=told["compromised_since_ms"],
        tenant=None if tenant is None else (tenant["namespace"], tenant["id"]),
        memory_namespace=told["memory_namespace"],
    )


def _number(enum: Any, prefix: str, name: str) -> Any:
    return _UNHEARD if name == "unknown" else enum.Value(prefix + name.upper())
