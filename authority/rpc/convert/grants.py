"""Messages of GrantService, and a grant that any request presents."""

from collections.abc import Sequence
from typing import Any, Protocol

from google.protobuf.message import Message

from authority.domain import limits
from authority.domain.grant import ACTIONS, AMOUNT_DIMENSIONS, EXACT_DIMENSIONS, FLAG_DIMENSIONS, SELECTOR_DIMENSIONS
from authority.domain.granting import GrantDimensions
from authority.domain.identity import Caller
from authority.domain.references import DAY
from authority.domain.refusal import malformed, over_limit
from authority.domain.shape import is_selector
from authority.domain.statement import Statement
from authority.rpc.convert import values
from authority.rpc.convert.digests import digest, digest_text, key_id
from authority.rpc.convert.marks import request_mark
from authority.rpc.convert.statements import sent_statement, statement, statement_message
from authority.rpc.convert.times import optional_lifetime, optional_timestamp, timestamp_message
from authority.rpc.refused import Refused
from authority.usecases.grants.look_after import FoundGrant, GrantRevocation, GrantState
from authority.usecases.grants.make import GrantExchange, GrantRequest
from authority.usecases.grants.presented import PresentedGrant
from authority.usecases.ports import MadeGrant, RevokedGrant
from capability_authority.v1 import grant_service_pb2 as pb
from capability_authority.v1.statements_pb2 import SignedStatement

_DEFAULT_LIFETIME_MS = DAY
_STATES = {
    GrantState.ACTIVE: pb.GetGrantResponse.STATE_ACTIVE,
    GrantState.EXPIRED: pb.GetGrantResponse.STATE_EXPIRED,
    GrantState.REVOKED: pb.GetGrantResponse.STATE_REVOKED,
}


class PresentsGrant(Protocol):
    """A request that may be made under a grant."""

    @property
    def grant_ancestors(self) -> Sequence[SignedStatement]:
        """Of the grant, root first."""
        ...


def optional_grant(request: PresentsGrant) -> PresentedGrant | None:
    """The grant that the request presents with its ancestors, or None; ancestors of nothing are MALFORMED."""
    assert isinstance(request, Message)
    if request.HasField("grant"):
        return presented_grant(request)
    if request.grant_ancestors:
        raise Refused(malformed("grant_ancestors", "only with a grant"))
    return None


def presented_grant(request: PresentsGrant) -> PresentedGrant:
    """The grant that the request presents, which must be set, with its ancestors."""
    assert isinstance(request, Message)
    return PresentedGrant(statement(request, "grant"), _ancestors(request.grant_ancestors))


def grant_request(caller: Caller, request: pb.IssueGrantRequest) -> GrantRequest:
    """The root that is asked for."""
    wanted_ms = optional_lifetime(request, "lifetime", limits.GRANT_LIFETIME_MS, "30 days")
    return GrantRequest(
        subject=values.principal(request, "subject"),
        holder=values.principal(request, "holder"),
        holder_key_id=key_id(request.holder_key_id, "holder_key_id"),
        dimensions=_dimensions(request),
        lifetime_ms=_DEFAULT_LIFETIME_MS if wanted_ms is None else wanted_ms,
        policy_version=digest(request.policy_version, "policy_version") if request.policy_version else b"",
        correlation_id=values.optional_identifier(request.correlation_id, "correlation_id"),
        mark=request_mark(caller, request),
    )


def grant_response(made: MadeGrant) -> pb.IssueGrantResponse:
    """The root, new or found."""
    return pb.IssueGrantResponse(
        grant=statement_message(made.grant.statement),
        grant_digest=digest_text(made.grant.digest),
        expire_time=timestamp_message(made.grant.terms.expire_time),
        replayed=made.replayed,
    )


def exchange_request(caller: Caller, request: pb.ExchangeGrantRequest) -> GrantExchange:
    """The child that is asked for."""
    return GrantExchange(
        presented=presented_grant(request),
        holder=values.principal(request, "holder"),
        holder_key_id=key_id(request.holder_key_id, "holder_key_id"),
        dimensions=_dimensions(request),
        lifetime_ms=optional_lifetime(request, "lifetime", limits.GRANT_LIFETIME_MS, "30 days"),
        correlation_id=values.optional_identifier(request.correlation_id, "correlation_id"),
        mark=request_mark(caller, request),
    )


def exchange_response(made: MadeGrant) -> pb.ExchangeGrantResponse:
    """The child, new or found."""
    return pb.ExchangeGrantResponse(
        grant=statement_message(made.grant.statement),
        grant_digest=digest_text(made.grant.digest),
        expire_time=timestamp_message(made.grant.terms.expire_time),
        replayed=made.replayed,
    )


def revocation_request(caller: Caller, request: pb.RevokeGrantRequest) -> GrantRevocation:
    """Which grant to withdraw: one is named, or one is presented."""
    presented = optional_grant(request)
    if presented and request.grant_digest:
        raise Refused(malformed("grant_digest", "only without a grant"))
    named = presented or digest(request.grant_digest, "grant_digest")
    return GrantRevocation(request_mark(caller, request), named)


def revocation_response(revoked: RevokedGrant) -> pb.RevokeGrantResponse:
    """When it was revoked first."""
    return pb.RevokeGrantResponse(revoke_time=timestamp_message(revoked.revoke_time), replayed=revoked.replayed)


def found_response(found: FoundGrant) -> pb.GetGrantResponse:
    """The grant, what became of it, and what was spent."""
    return pb.GetGrantResponse(
        grant=statement_message(found.grant.statement),
        grant_ancestors=(statement_message(block.statement) for block in found.ancestors),
        state=_STATES[found.state],
        revoke_time=optional_timestamp(found.revoke_time),
        spent=pb.GrantSpending(
            uses=found.spent.uses,
            tokens=found.spent.tokens,
            usd_micros=found.spent.usd_micros,
            live_capabilities=found.spent.live,
        ),
    )


def _ancestors(sent: Sequence[SignedStatement]) -> tuple[Statement, ...]:
    values.bound(sent, limits.DELEGATION_DEPTH, "grant_ancestors")
    return tuple(sent_statement(one, f"grant_ancestors[{index}]") for index, one in enumerate(sent))


def _dimensions(request: pb.IssueGrantRequest | pb.ExchangeGrantRequest) -> GrantDimensions:
    values.require(request, "terms")
    terms = request.terms
    if terms.delegation_depth > limits.DELEGATION_DEPTH:
        raise Refused(over_limit("terms.delegation_depth", str(limits.DELEGATION_DEPTH)))
    said: dict[str, Any] = {
        **{name: _names(terms, name) for name in (*EXACT_DIMENSIONS, *SELECTOR_DIMENSIONS)},
        **{name: _amount(terms, name) for name in AMOUNT_DIMENSIONS},
        **{name: _flag(terms, name) for name in FLAG_DIMENSIONS},
    }
    return GrantDimensions(**said, delegation_depth=terms.delegation_depth)


def _names(terms: Message, name: str) -> tuple[str, ...] | None:
    if not terms.HasField(name):
        return None
    path, sent = f"terms.{name}.names", tuple(getattr(terms, name).names)
    values.bound(sent, limits.SELECTORS, path)
    for index, text in enumerate(sent):
        _judge_name(name, values.identifier(text.removesuffix("/*"), f"{path}[{index}]"), text, f"{path}[{index}]")
    if len(set(sent)) != len(sent):
        raise Refused(malformed(path, "must not repeat"))
    return sent


def _judge_name(dimension: str, exact: str, text: str, path: str) -> None:
    if dimension in SELECTOR_DIMENSIONS and not is_selector(text):
        raise Refused(malformed(path, 'whole segments, or some and "/*"'))
    if dimension == "audiences" and exact != text:
        raise Refused(malformed(path, "an exact name"))
    if dimension == "actions" and text not in ACTIONS:
        raise Refused(malformed(path, "of " + ", ".join(sorted(ACTIONS))))


def _amount(terms: Message, name: str) -> int | None:
    return values.count(getattr(terms, name).most, f"terms.{name}.most") if terms.HasField(name) else None


def _flag(terms: Message, name: str) -> bool | None:
    return getattr(terms, name).allowed if terms.HasField(name) else None
