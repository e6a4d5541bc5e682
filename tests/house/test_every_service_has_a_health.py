"""Each service of the contract has a health of its own, which `authority health` asks for."""

from authority.rpc.server import SERVICES
from capability_authority.client.rpcs import RPCS


def test_every_service_of_the_contract_has_a_health() -> None:
    assert {rpc.path.split("/")[1] for rpc in RPCS.values()} == set(SERVICES)
