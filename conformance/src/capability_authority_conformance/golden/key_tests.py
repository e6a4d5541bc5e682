"""A vector of `key_states.json`."""

from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority_conformance.golden.form import Group, Inputs, Test
from capability_authority_conformance.golden.key_sets import ISSUER_KEYS
from capability_authority_conformance.golden.published_keys import published, published_key
from capability_authority_conformance.golden.samples import ISSUER

__all__ = ["key_group", "key_test"]


def key_test(
    name: str,
    comment: str,
    flag: str,
    statement: SignedStatement,
    reason: str | None,
    *,
    attestation: SignedStatement | None = None,
    content: bytes | None = None,
) -> Test:
    """One statement, and what comes with it."""
    inputs = {
        "statement": statement.SerializeToString(deterministic=True).hex(),
        "attestation": None if attestation is None else attestation.SerializeToString(deterministic=True).hex(),
        "content": None if content is None else content.hex(),
    }
    return Test(name, comment, (flag,), inputs, reason)


def key_group(about: str, records: list[Inputs], tests: list[Test]) -> Group:
    """Tests under one key set, with the seeds of its keys."""
    shown = {record["key_id"] for record in records}
    keys = [published(name) for name in (*ISSUER_KEYS, "stranger") if published_key(name).public_key.key_id in shown]
    return Group(about, tests, {"issuer": ISSUER, "keys": keys, "key_set": records})
