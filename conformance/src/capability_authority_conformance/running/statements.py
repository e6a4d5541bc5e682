"""Statements that a case signs or changes itself (suite.proto: ChildGrant, ChangedStatement)."""

import os
from base64 import b64encode
from collections.abc import Mapping
from typing import Final, TypeVar

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Value

from capability_authority.offline import (
    PAYLOAD_CLASSES,
    PrivateKey,
    digest_of,
    pae,
    payload_type_of,
    read_payload,
)
from capability_authority.v1.statements_pb2 import Grant, Signature, SignedStatement
from capability_authority_conformance.paths import as_json
from capability_authority_conformance.set_up import Caller
from capability_authority_conformance.substitution import Names, NothingThere, looked_up, replaced
from capability_authority_conformance.v1.suite_pb2 import ChangedStatement, ChildGrant
from capability_authority_conformance.values import Json, members_of, of_value

__all__ = ["UNKNOWN_FIELD", "caller_named", "changed_statement", "child_grant", "statement_of"]

M = TypeVar("M", bound=Message)

UNKNOWN_FIELD: Final = b"\xc2\x3e\x01x"
"""Field 1000, length-delimited: no message of the contract has it."""
_NONCE_BYTES: Final = 16


def statement_of(value: Json) -> SignedStatement:
    """The statement in what was saved. Raises `NothingThere` when it is none."""
    try:
        return ParseDict(members_of(value), SignedStatement())
    except (ParseError, ValueError):
        raise NothingThere("what was saved is no SignedStatement") from None


def caller_named(value: Json, callers: Mapping[str, Caller]) -> Caller:
    """The principal that a name, or the whole of one that was handed on, stands for. Raises `NothingThere`."""
    name = value.get("name") if isinstance(value, dict) else value
    if not isinstance(name, str) or name not in callers:
        raise NothingThere(f"{name!r} is no principal of the set-up contract")
    return callers[name]


def child_grant(child: ChildGrant, names: Names, callers: Mapping[str, Caller]) -> SignedStatement:
    """A child of a saved grant: what its terms say, the parent's where they are silent."""
    parent = statement_of(looked_up(child.parent, names))
    above = read_payload(parent.payload_type, parent.payload, Grant)
    terms = _with_holder(_mapping(child.terms, names), callers)
    grant = Grant()
    grant.CopyFrom(above)
    grant.issuer = ""
    grant.delegated_by.CopyFrom(above.holder)
    grant.actor_chain.append(above.holder)
    grant.parent_digest = digest_of(parent)
    grant.nonce = os.urandom(_NONCE_BYTES)
    grant.delegation_depth = max(above.delegation_depth - 1, 0)
    signer = caller_named(replaced(child.signed_by, names), callers)
    return _signed(payload_type_of(Grant), _with_fields(grant, terms), signer.private_key)


def _with_holder(terms: dict[str, Json], callers: Mapping[str, Caller]) -> dict[str, Json]:
    """A holder that is named by a principal's name brings its key along, unless the terms say another."""
    holder = terms.get("holder")
    if not (isinstance(holder, str) or (isinstance(holder, dict) and "name" in holder)):
        return terms
    caller = caller_named(holder, callers)
    key: dict[str, Json] = {
        "holder_key": b64encode(caller.thumbprint).decode(),
        "holder_public_key": b64encode(caller.public_key).decode(),
    }
    return {**key, **terms, "holder": as_json(caller.principal)}


def changed_statement(changed: ChangedStatement, names: Names, callers: Mapping[str, Caller]) -> SignedStatement:
    """A saved statement with one change; signed anew where somebody is named who does."""
    statement = statement_of(looked_up(changed.of, names))
    match changed.WhichOneof("change"):
        case "forge_signature":
            signature = bytearray(statement.signature.signature)
            signature[0] ^= 1
            statement.signature.signature = bytes(signature)
        case "truncate":
            statement.payload = statement.payload[:-1]
        case "append_unknown_field":
            statement.payload += UNKNOWN_FIELD
        case "fields":
            message = read_payload(statement.payload_type, statement.payload, PAYLOAD_CLASSES[statement.payload_type])
            statement.payload = _with_fields(message, _mapping(changed.fields, names))
        case "payload_type":
            statement.payload_type = str(replaced(changed.payload_type, names))
        case "key_id":
            statement.signature.key_id = str(replaced(changed.key_id, names))
        case _:
            pass
    if not changed.signed_by:
        return statement
    signer = caller_named(replaced(changed.signed_by, names), callers)
    return _signed(statement.payload_type, statement.payload, signer.private_key)


def _mapping(value: Value, names: Names) -> dict[str, Json]:
    return members_of(replaced(of_value(value), names)) if value.WhichOneof("kind") else {}


def _with_fields(message: Message, fields: Mapping[str, Json]) -> bytes:
    """The payload with these fields in place of those that stand there; None leaves one out."""
    document = MessageToDict(message, preserving_proto_field_name=True)
    document.update(fields)
    kept = {name: value for name, value in document.items() if value is not None}
    payload: bytes = ParseDict(kept, type(message)()).SerializeToString(deterministic=True)
    return payload


def _signed(payload_type: str, payload: bytes, key: PrivateKey) -> SignedStatement:
    """Signed whatever it says: `offline.sign` would refuse what nobody can read back."""
    signature = Signature(key_id=key.public_key.key_id, signature=key.sign(pae(payload_type, payload)))
    return SignedStatement(payload_type=payload_type, payload=payload, signature=signature)
