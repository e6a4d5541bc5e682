"""Which versions of client, service and contract meet."""

from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from capability_authority.v1.types_pb2 import ContractRevision

__all__ = ["CONTRACT_REVISION", "Versions", "client_version", "user_agent"]

CONTRACT_REVISION: Final = max(ContractRevision.values())
"""The revision of the contract that this client was generated from."""


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of this client and of an authority, and what they have in common."""

    client: str
    service: str
    """Empty for an authority that is older than its telling."""
    client_contract: int
    """A revision of the contract, as every number here."""
    service_contract: int
    """0 for an authority that is older than its telling."""

    @property
    def contract(self) -> int:
        """What both speak: everything up to this revision works, be the client older or the authority."""
        return min(self.client_contract, self.service_contract)

    @property
    def authority_is_older(self) -> bool:
        """Whether this client has fields and RPCs that the authority refuses, with MALFORMED and NOT_IMPLEMENTED."""
        return self.service_contract < self.client_contract


@cache
def client_version() -> str:
    """Of this package; "unknown" where it is used without being installed."""
    try:
        return version("capability-authority-client")
    except PackageNotFoundError:
        return "unknown"


def user_agent() -> str:
    """What calls say of the client, before what gRPC says of itself. An authority's traces show it."""
    return f"capability-authority-python/{client_version()} contract/{CONTRACT_REVISION}"
