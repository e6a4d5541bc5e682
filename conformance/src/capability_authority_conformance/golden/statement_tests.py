"""A vector of `statements.json`."""

from typing import Any

from capability_authority.offline import pae, statement_digest, to_wire
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority_conformance.golden.form import Inputs, Test
from capability_authority_conformance.golden.published_keys import published, published_key

__all__ = ["inputs", "of_bytes", "refused", "shared", "signed"]


def refused(name: str, comment: str, flag: str, statement: SignedStatement, reason: str) -> Test:
    """A statement to be refused."""
    return Test(name, comment, (flag,), inputs(statement) | {"message": None}, reason)


def inputs(statement: SignedStatement) -> dict[str, Any]:
    """What every test of a statement has beside its message."""
    return {
        "statement": statement.SerializeToString(deterministic=True).hex(),
        "statement_digest": to_wire(statement_digest(statement.payload_type, statement.payload)),
    }


def of_bytes(data: bytes) -> Inputs:
    """The same, of bytes that are no statement."""
    return {"statement": data.hex(), "statement_digest": None, "message": None}


def shared(key: str, payload_type: str) -> Inputs:
    """What a group shares: the kind that is asked for, and the key."""
    return {"payload_type": payload_type, "key": published(key)}


def signed(key: str, payload_type: str, payload: bytes) -> bytes:
    """The signature of a published key."""
    return published_key(key).sign(pae(payload_type, payload))
