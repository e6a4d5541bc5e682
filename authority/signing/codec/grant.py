"""The payload Grant."""

from typing import Final

from google.protobuf.message import Message

from authority.domain import limits, shape
from authority.domain.grant import ACTIONS, Grant
from authority.domain.references import PrincipalRef
from authority.signing.codec import fields
from authority.signing.codec.fields import Misshapen
from authority.signing.codec.refs import principal_message, tenant_message
from capability_authority.offline import sha256, timestamp
from capability_authority.v1 import statements_pb2

_SELECTOR_PROBLEM: Final = f'must be whole segments, or some and "/*", of at most {limits.ID_BYTES} bytes'


def encode_grant(terms: Grant) -> statements_pb2.Grant:
    """The message that says the terms."""
    return statements_pb2.Grant(
        issuer=terms.issuer,
        delegated_by=None if terms.delegated_by is None else principal_message(terms.delegated_by),
        tenant=tenant_message(terms.tenant),
        subject=principal_message(terms.subject),
        actor_chain=[principal_message(actor) for actor in terms.actor_chain],
        holder=principal_message(terms.holder),
        holder_key=terms.holder_key,
        audiences=_names_message(terms.audiences),
        actions=_names_message(terms.actions),
        resources=_names_message(terms.resources),
        read_memory_namespaces=_names_message(terms.read_memory_namespaces),
        write_memory_namespaces=_names_message(terms.write_memory_namespaces),
        tools=_names_message(terms.tools),
        providers=_names_message(terms.providers),
        models=_names_message(terms.models),
        usd_micros=_amount_message(terms.usd_micros),
        tokens=_amount_message(terms.tokens),
        latency_ms=_amount_message(terms.latency_ms),
        concurrency=_amount_message(terms.concurrency),
        uses=_amount_message(terms.uses),
        network=_flag_message(terms.network),
        destructive=_flag_message(terms.destructive),
        not_before_time=timestamp(terms.not_before_time),
        expire_time=timestamp(terms.expire_time),
        delegation_depth=terms.delegation_depth,
        policy_version=terms.policy_version,
        parent_digest=terms.parent_digest,
        correlation_id=terms.correlation_id,
        nonce=terms.nonce,
        holder_public_key=terms.holder_public_key,
    )


def decode_grant(message: statements_pb2.Grant) -> Grant:
    """The terms. Whether they hold is judged elsewhere; raises `Misshapen` for what no grant can say."""
    return Grant(
        issuer=fields.optional_identifier(message.issuer, "issuer"),
        delegated_by=_delegated_by(message),
        tenant=fields.tenant(message.tenant, "tenant"),
        subject=fields.principal(message.subject, "subject"),
        actor_chain=_actor_chain(message),
        holder=fields.principal(message.holder, "holder"),
        holder_key=fields.digest(message.holder_key, "holder_key"),
        audiences=_audiences(message),
        actions=_actions(message),
        resources=_selectors(message, "resources"),
        read_memory_namespaces=_selectors(message, "read_memory_namespaces"),
        write_memory_namespaces=_selectors(message, "write_memory_namespaces"),
        tools=_selectors(message, "tools"),
        providers=_selectors(message, "providers"),
        models=_selectors(message, "models"),
        usd_micros=_amount(message, "usd_micros"),
        tokens=_amount(message, "tokens"),
        latency_ms=_amount(message, "latency_ms"),
        concurrency=_amount(message, "concurrency"),
        uses=_amount(message, "uses"),
        network=message.network.allowed if message.HasField("network") else None,
        destructive=message.destructive.allowed if message.HasField("destructive") else None,
        not_before_time=fields.instant(message, "not_before_time"),
        expire_time=fields.instant(message, "expire_time"),
        delegation_depth=fields.between(message.delegation_depth, 0, limits.DELEGATION_DEPTH, "delegation_depth"),
        policy_version=fields.digest(message.policy_version, "policy_version"),
        parent_digest=fields.optional_digest(message.parent_digest, "parent_digest"),
        correlation_id=fields.optional_identifier(message.correlation_id, "correlation_id"),
        nonce=_nonce(message.nonce),
        holder_public_key=_holder_public_key(message),
    )


def _names_message(names: tuple[str, ...] | None) -> statements_pb2.GrantedNames | None:
    return None if names is None else statements_pb2.GrantedNames(names=names)


def _amount_message(most: int | None) -> statements_pb2.GrantedAmount | None:
    return None if most is None else statements_pb2.GrantedAmount(most=most)


def _flag_message(allowed: bool | None) -> statements_pb2.GrantedFlag | None:  # noqa: FBT001 - the value itself
    return None if allowed is None else statements_pb2.GrantedFlag(allowed=allowed)


def _delegated_by(message: statements_pb2.Grant) -> PrincipalRef | None:
    return fields.principal(message.delegated_by, "delegated_by") if message.HasField("delegated_by") else None


def _actor_chain(message: statements_pb2.Grant) -> tuple[PrincipalRef, ...]:
    if len(message.actor_chain) > limits.DELEGATION_DEPTH:
        raise Misshapen("actor_chain", f"must be at most {limits.DELEGATION_DEPTH}")
    return tuple(fields.principal(actor, "actor_chain") for actor in message.actor_chain)


def _audiences(message: statements_pb2.Grant) -> tuple[str, ...] | None:
    names = _names(message, "audiences")
    return None if names is None else fields.identifiers(names, "audiences")


def _actions(message: statements_pb2.Grant) -> tuple[str, ...] | None:
    names = _names(message, "actions")
    if names is not None and not ACTIONS.issuperset(names):
        raise Misshapen("actions", f"must be of: {', '.join(sorted(ACTIONS))}")
    return names


def _selectors(message: Message, name: str) -> tuple[str, ...] | None:
    names = _names(message, name)
    if names is not None and not all(map(shape.is_selector, names)):
        raise Misshapen(name, _SELECTOR_PROBLEM)
    return names


def _names(message: Message, name: str) -> tuple[str, ...] | None:
    """The names of a dimension; None when it is absent, which an empty list is not."""
    if not message.HasField(name):
        return None
    names = getattr(message, name).names
    if len(names) > limits.SELECTORS:
        raise Misshapen(name, f"must be at most {limits.SELECTORS}")
    if len(set(names)) != len(names):
        raise Misshapen(name, "must not repeat")
    return tuple(names)


def _amount(message: Message, name: str) -> int | None:
    if not message.HasField(name):
        return None
    return fields.between(getattr(message, name).most, 0, limits.INT64_MAX, name)


def _nonce(raw: bytes) -> bytes:
    if len(raw) != limits.GRANT_NONCE_BYTES:
        raise Misshapen("nonce", f"must be {limits.GRANT_NONCE_BYTES} bytes")
    return raw


def _holder_public_key(message: statements_pb2.Grant) -> bytes:
    """Whether it is a key that can be trusted is asked when it is used."""
    if message.holder_public_key and sha256(message.holder_public_key) != message.holder_key:
        raise Misshapen("holder_public_key", "must be what holder_key is the SHA-256 of, or empty")
    return message.holder_public_key
