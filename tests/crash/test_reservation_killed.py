"""kill -9 of the service amid a reservation: it stands and the same request finds it, or nobody has it."""

import asyncio
import time

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from capability_authority.v1 import interop_service_pb2 as interop
from tests.crash.conftest import DOOMED, Site
from tests.installation.gates import gate
from tests.installation.processes import eventually
from tests.installation.team import ONCE, team_at


@pytest.mark.parametrize("is_durable", [False, True])
async def test_f10_killed_amid_a_reservation_lets_the_envelope_pass_once(site: Site, *, is_durable: bool) -> None:
    # Given a reservation under way: in its transaction, or about to commit
    tenant = await site.installation.tenant()
    request = interop.ReserveReplayRequest(
        request_id="r",
        replay_key="key",
        envelope_digest=f"sha256:{'0' * 64}",
        expire_time=Timestamp(seconds=int(time.time()) + 3_600),
    )
    doomed = await site.processes.serving(DOOMED)
    async with team_at(site.survivor.address, tenant) as team, team_at(doomed.address, tenant, retries=ONCE) as side:
        with gate(site.installation.admin_url, "replay_reservation", at_commit=is_durable) as closed:
            running = asyncio.ensure_future(side.service.call("ReserveReplay", request))
            await eventually(lambda: bool(closed.waiting()), "it is inside the database")
            # When the service is killed, and what was sent to the database goes on
            await doomed.kill()
            closed.open()
            (lost,) = await asyncio.gather(running, return_exceptions=True)
        assert isinstance(lost, Exception)
        # Then the same request has it, and no other gets it
        outcomes = []
        for request_id in ("r", "another", "r"):
            request.request_id = request_id
            answer = await team.service.call("ReserveReplay", request)
            assert isinstance(answer, interop.ReserveReplayResponse)
            outcomes.append(answer.outcome)
        reserved, replay = interop.ReserveReplayResponse.OUTCOME_RESERVED, interop.ReserveReplayResponse.OUTCOME_REPLAY
        assert outcomes == [reserved, replay, reserved]
