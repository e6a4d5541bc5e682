"""Messages of VerifyGrant."""

from authority.domain.grant_use import GrantUse
from authority.rpc.convert import values
from authority.rpc.convert.enums import ERROR_REASONS
from authority.rpc.convert.grants import presented_grant
from authority.usecases.grants.verify import GrantQuestion, GrantVerdict
from capability_authority.v1 import grant_service_pb2 as pb


def grant_question(request: pb.VerifyGrantRequest) -> GrantQuestion:
    """The chain, and what is asked of it."""
    return GrantQuestion(presented_grant(request), _use(request.use) if request.HasField("use") else None)


def verdict_response(verdict: GrantVerdict) -> pb.VerifyGrantResponse:
    """The verdict as data: a refusal of the grant is no error of the call."""
    if verdict.refusal is None:
        return pb.VerifyGrantResponse(verdict=pb.VerifyGrantResponse.VERDICT_GRANTED)
    return pb.VerifyGrantResponse(
        verdict=pb.VerifyGrantResponse.VERDICT_REFUSED,
        reason=ERROR_REASONS.number(verdict.refusal.reason),
        facts=verdict.refusal.facts,
    )


def _use(use: pb.GrantUse) -> GrantUse:
    return GrantUse(
        action=values.identifier(use.action, "use.action"),
        audience=values.identifier(use.audience, "use.audience"),
        resource=_name(use.resource, "use.resource"),
        read_memory_namespace=_name(use.read_memory_namespace, "use.read_memory_namespace"),
        write_memory_namespace=_name(use.write_memory_namespace, "use.write_memory_namespace"),
        tool=_name(use.tool, "use.tool"),
        provider=_name(use.provider, "use.provider"),
        model=_name(use.model, "use.model"),
        usd_micros=values.count(use.usd_micros, "use.usd_micros"),
        tokens=values.count(use.tokens, "use.tokens"),
        latency_ms=values.count(use.latency_ms, "use.latency_ms"),
        concurrency=values.count(use.concurrency, "use.concurrency"),
        network=use.network,
        destructive=use.destructive,
    )


def _name(text: str, path: str) -> str | None:
    return values.identifier(text, path) if text else None
