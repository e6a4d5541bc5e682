"""A small authority for tests of the client: a real gRPC server, real proofs and real signatures, kept in memory.

It judges only what the client's behaviour depends on. What an authority must judge is tested on the authority itself.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
from grpc import aio

from capability_authority.client import Credentials, Reference
from capability_authority.offline import PrivateKey, PublicKey, digest_of, sha256, sign, timestamp
from capability_authority.v1 import capability_service_pb2 as capability_pb
from capability_authority.v1 import types_pb2 as types
from capability_authority.v1.capability_service_pb2_grpc import add_CapabilityServiceServicer_to_server
from capability_authority.v1.evidence_service_pb2_grpc import add_EvidenceServiceServicer_to_server
from capability_authority.v1.interop_service_pb2_grpc import add_InteropServiceServicer_to_server
from capability_authority.v1.memory_service_pb2_grpc import add_MemoryServiceServicer_to_server
from capability_authority.v1.policy_service_pb2_grpc import add_PolicyServiceServicer_to_server
from capability_authority.v1.proposal_service_pb2_grpc import add_ProposalServiceServicer_to_server
from capability_authority.v1.statements_pb2 import KeyAttestation, SignedStatement
from tests.integration.client.evidence_servicer import EvidenceServicer
from tests.integration.client.interop_servicer import InteropServicer
from tests.integration.client.servicers import CapabilityServicer, MemoryServicer, PolicyServicer, ProposalServicer
from tests.integration.client.state import AUDIENCE, ISSUER, NOW_MS, TENANT, State
from tests.integration.client.witness import Fault, Received, Witness


class SmallAuthority:
    """Serves every RPC of the contract that the client has a verb for."""

    def __init__(self) -> None:
        self.state = State()
        self.target = ""
        self._holder_keys: dict[str, PublicKey] = {}
        self._witness = Witness(AUDIENCE, self._holder_keys)

    @asynccontextmanager
    async def serving(
        self, address: str = "127.0.0.1:0", tls: grpc.ServerCredentials | None = None
    ) -> AsyncIterator["SmallAuthority"]:
        """Listens while entered."""
        server = aio.server(interceptors=[self._witness])
        add_CapabilityServiceServicer_to_server(CapabilityServicer(self.state), server)
        add_ProposalServiceServicer_to_server(ProposalServicer(self.state), server)
        add_PolicyServiceServicer_to_server(PolicyServicer(self.state), server)
        add_EvidenceServiceServicer_to_server(EvidenceServicer(self.state), server)
        add_InteropServiceServicer_to_server(InteropServicer(self.state), server)
        add_MemoryServiceServicer_to_server(MemoryServicer(self.state), server)
        port = server.add_insecure_port(address) if tls is None else server.add_secure_port(address, tls)
        self.target = f"{address.rpartition(':')[0]}:{port}"
        await server.start()
        try:
            yield self
        finally:
            await server.stop(0)

    def register(self, name: str = "committer") -> Credentials:
        """Credentials of a newly registered principal."""
        credentials = Credentials(
            target=self.target,
            issuer=ISSUER,
            audience=AUDIENCE,
            tenant=Reference(TENANT.namespace, TENANT.id),
            principal=Reference("workload", name),
            private_key=PrivateKey.generate(),
        )
        self.accept(credentials)
        return credentials

    def accept(self, credentials: Credentials) -> None:
        """Register the key of credentials made elsewhere."""
        self._holder_keys[credentials.key_id] = credentials.signing_key.public_key

    def upset(self, rpc: str, *faults: Fault) -> None:
        """What happens to the next calls of the RPC, in this order; after that they are served."""
        self._witness.faults[rpc].extend(faults)

    def attempts(self, rpc: str) -> list[Received]:
        """Every attempt of the RPC as it arrived."""
        return [received for received in self._witness.received if received.rpc == rpc]

    def rotate_receipt_key(self, state: "types.KeyState.ValueType") -> None:
        """A new key signs receipts from now on; the old one is in this state."""
        old = self.state.signing[types.KEY_PURPOSE_RECEIPT].public_key
        self.state.old_keys.append(
            capability_pb.GetKeySetResponse.Key(
                key_id=old.key_id, public_key=old.raw, purpose=types.KEY_PURPOSE_RECEIPT, state=state
            )
        )
        self.state.signing[types.KEY_PURPOSE_RECEIPT] = PrivateKey.generate()

    def vouch_for(self, receipt: SignedStatement) -> SignedStatement:
        """An attestation of the current receipt key."""
        vouching = KeyAttestation(
            issuer=self.state.issuer,
            tenant=TENANT,
            statement_digest=digest_of(receipt),
            signature_digest=sha256(receipt.signature.signature),
            key_id=receipt.signature.key_id,
            attest_time=timestamp(NOW_MS),
        )
        return sign(vouching, self.state.signing[types.KEY_PURPOSE_RECEIPT])
