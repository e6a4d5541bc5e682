"""Hosts a validator for a Capability Authority: `python host.py 127.0.0.1:50200`.

It needs the client's package alone (`pip install capability-authority-client`), and prints the address that it listens
at. The authority is told of it by a file of profiles, which docs/validators.md shows.
"""

import asyncio
import re
import sys

from grpc import aio

from capability_authority.v1 import types_pb2 as types
from capability_authority.v1 import validator_service_pb2 as pb
from capability_authority.v1.validator_service_pb2_grpc import (
    ValidatorServiceServicer,
    add_ValidatorServiceServicer_to_server,
)

NAME, VERSION = "no-promises", "1"
_PROMISE = re.compile(rb"\b(?:we|I) (?:promise|guarantee)\b", re.IGNORECASE)


class NoPromises(ValidatorServiceServicer):
    """Leaves to a person whatever promises something."""

    async def Judge(self, request: pb.JudgeRequest, context: object) -> pb.JudgeResponse:  # noqa: N802, ARG002 - gRPC's
        """A finding about the content. It names the validator and the version that were asked for."""
        promises = _PROMISE.search(request.content)
        finding = types.ValidationFinding(
            validator=request.validator,
            validator_version=VERSION,
            outcome=types.VALIDATION_OUTCOME_REVIEW if promises else types.VALIDATION_OUTCOME_PASS,
            reason="promise" if promises else "",
            confidence_permille=700 if promises else 1000,
        )
        return pb.JudgeResponse(finding=finding)


async def main(address: str) -> None:
    """Serves until it is stopped."""
    server = aio.server()
    add_ValidatorServiceServicer_to_server(NoPromises(), server)
    port = server.add_insecure_port(address)
    await server.start()
    print(f"hosting {NAME}@{VERSION} at {address.rpartition(':')[0]}:{port}", flush=True)  # noqa: T201 - for people
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
