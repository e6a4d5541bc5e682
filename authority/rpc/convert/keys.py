"""Messages of CapabilityService that tell the authority's keys."""

from typing import Final

from authority.domain.statement import IssuerKey
from authority.rpc.convert.enums import KEY_PURPOSES, KEY_STATES
from authority.rpc.convert.times import optional_timestamp, timestamp_message
from authority.rpc.convert.values import tenant_message
from authority.usecases.read_key_set import PublishedKeySet
from capability_authority.v1 import capability_service_pb2 as pb
from capability_authority.v1 import types_pb2

CONTRACT_REVISION: Final = max(types_pb2.ContractRevision.values())
"""The revision of the contract that this code was generated from, and serves."""


def key_set_response(published: PublishedKeySet) -> pb.GetKeySetResponse:
    """The key set."""
    return pb.GetKeySetResponse(
        issuer=published.here.issuer,
        audience=published.here.audience,
        keys=[_key(key) for key in published.keys],
        accepted_payload_types=published.accepted_payload_types,
        service_version=published.service_version,
        contract_revision=CONTRACT_REVISION,
    )


def _key(key: IssuerKey) -> pb.GetKeySetResponse.Key:
    return pb.GetKeySetResponse.Key(
        key_id=key.key_id,
        public_key=key.public_key,
        purpose=KEY_PURPOSES.number(key.purpose),
        state=KEY_STATES.number(key.state),
        compromised_since_time=optional_timestamp(key.compromised_since),
        create_time=timestamp_message(key.create_time),
        tenant=None if key.tenant is None else tenant_message(key.tenant),
        memory_namespace=key.memory_namespace or "",
    )
