"""Validators that somebody else hosts, asked over gRPC (validator_service.proto)."""

import asyncio
import ipaddress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import grpc
from grpc import aio

from authority.domain.material import Material, Need
from authority.domain.validation import Judgement, ValidationOutcome, ValidatorName
from capability_authority.v1 import types_pb2 as types
from capability_authority.v1 import validator_service_pb2 as pb
from capability_authority.v1.validator_service_pb2_grpc import ValidatorServiceStub

if TYPE_CHECKING:
    from capability_authority.v1.validator_service_pb2_grpc import ValidatorServiceAsyncStub

ANSWER_BYTES: Final = 4 * 1024
_SLACK_S: Final = 0.5
_OPTIONS: Final = (
    # A request is sent once: what is away is a finding, and a validation can be asked for again.
    ("grpc.enable_retries", 0),
    # Content goes to whom the operator named, whatever proxy the environment names.
    ("grpc.enable_http_proxy", 0),
    ("grpc.max_receive_message_length", ANSWER_BYTES),
    ("grpc.initial_reconnect_backoff_ms", 500),
    ("grpc.max_reconnect_backoff_ms", 5_000),
)
_OUTCOMES: Final = {
    types.VALIDATION_OUTCOME_PASS: ValidationOutcome.PASS,
    types.VALIDATION_OUTCOME_REVIEW: ValidationOutcome.REVIEW,
    types.VALIDATION_OUTCOME_FAIL: ValidationOutcome.FAIL,
}


class NotThisValidator(Exception):
    """The host answered for another validator, or another version, than it was asked for."""


@dataclass(frozen=True)
class Hosted:
    """A validator at an address. It sees the content and where it is from, and not whose it is: no tenant, no ids.

    `certificate` is a PEM file with the authority that signed the host's certificate; without one the address must be
    on this machine (`is_loopback`).
    """

    name: ValidatorName
    address: str
    limit_s: float
    certificate: Path | None = None
    needs: frozenset[Need] = frozenset()

    @property
    def origin(self) -> str:
        """Where it comes from, in words."""
        return f"hosted at {self.address}"

    async def judge(self, material: Material) -> Judgement:
        """What the host says. Raises TimeoutError, grpc.RpcError, NotThisValidator, KeyError for an unknown outcome."""
        try:
            # Beside the call's own deadline: whatever gRPC does with it, nobody waits longer.
            async with asyncio.timeout(self.limit_s + _SLACK_S):
                answer = await self._stub.Judge(self._request(material), timeout=self.limit_s)
        except aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise TimeoutError from error
            raise
        found = answer.finding
        if (found.validator, found.validator_version) != (self.name.name, self.name.version):
            raise NotThisValidator
        return Judgement(_OUTCOMES[found.outcome], found.reason, found.confidence_permille)

    async def close(self) -> None:
        """Ends the connection, if there is one."""
        if "_channel" in self.__dict__:
            await self._channel.close()

    def _request(self, material: Material) -> pb.JudgeRequest:
        return pb.JudgeRequest(
            validator=self.name.name,
            validator_version=self.name.version,
            content=material.content,
            media_type=material.media_type,
            memory_type=types.MemoryType.Value(f"MEMORY_TYPE_{material.memory_type.name}"),
            proposer_kind=types.PrincipalKind.Value(f"PRINCIPAL_KIND_{material.proposer_kind.name}"),
            provenance=types.Provenance.Value(f"PROVENANCE_{material.provenance.name}"),
            source_refs=material.source_refs,
            subject_refs=material.subject_refs,
        )

    @cached_property
    def _channel(self) -> aio.Channel:
        """Opened when it is first asked: a channel belongs to the event loop that runs then."""
        if self.certificate is None:
            return aio.insecure_channel(self.address, _OPTIONS)
        credentials = grpc.ssl_channel_credentials(self.certificate.read_bytes())
        return aio.secure_channel(self.address, credentials, _OPTIONS)

    @cached_property
    def _stub(self) -> "ValidatorServiceAsyncStub":
        return ValidatorServiceStub(self._channel)


def is_loopback(address: str) -> bool:
    """Whether HOST:PORT or unix:PATH is on this machine, by its literal address: a name may mean any machine."""
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
