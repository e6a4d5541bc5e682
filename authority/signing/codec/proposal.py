"""The payload ProposalRevision: written only, to be digested; it is never signed and never presented."""

from google.protobuf.timestamp_pb2 import Timestamp

from authority.domain.proposal import Cost, ProposalRevision
from authority.domain.references import Instant
from authority.signing.codec.refs import principal_message, tenant_message
from authority.signing.codec.words import MEMORY_TYPES, PRINCIPAL_KINDS, PROVENANCES, VISIBILITIES
from capability_authority.offline import timestamp
from capability_authority.v1 import statements_pb2, types_pb2


def encode_proposal(revision: ProposalRevision) -> statements_pb2.ProposalRevision:
    """The message that says the revision; an absent instant is an absent field."""
    return statements_pb2.ProposalRevision(
        tenant=tenant_message(revision.tenant),
        memory_namespace=revision.memory_namespace,
        proposal_id=revision.proposal_id,
        revision=revision.revision,
        proposer=principal_message(revision.proposer),
        proposer_kind=PRINCIPAL_KINDS.encode(revision.proposer_kind),
        actor_chain=[principal_message(actor) for actor in revision.actor_chain],
        provenance=PROVENANCES.encode(revision.provenance),
        memory_type=MEMORY_TYPES.encode(revision.memory_type),
        content_digest=revision.content_digest,
        media_type=revision.media_type,
        source_refs=revision.source_refs,
        subject_refs=revision.subject_refs,
        evidence_digests=revision.evidence_digests,
        validator_profile=revision.validator_profile,
        visibility=VISIBILITIES.encode(revision.visibility),
        valid_from_time=_optional(revision.valid_from_time),
        valid_until_time=_optional(revision.valid_until_time),
        record_expire_time=_optional(revision.record_expire_time),
        correlation_id=revision.correlation_id,
        costs=[_encode_cost(cost) for cost in revision.costs],
        supersedes_record_id=revision.supersedes_record_id,
        create_time=timestamp(revision.create_time),
        visibility_scope=revision.visibility_scope,
        expire_time=_optional(revision.expire_time),
        subject=None if revision.subject is None else principal_message(revision.subject),
    )


def _optional(instant: Instant | None) -> Timestamp | None:
    return None if instant is None else timestamp(instant)


def _encode_cost(cost: Cost) -> types_pb2.Cost:
    return types_pb2.Cost(
        stage=cost.stage,
        model=cost.model,
        input_tokens=cost.input_tokens,
        output_tokens=cost.output_tokens,
        usd_micros=cost.usd_micros,
    )
