"""A commit's event and audit event carry on the trace of whoever asked for it."""

import psycopg

from tests.installation.installation import Installation
from tests.installation.team import Team

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE_ID}-00f067aa0ba902b7-01"


async def test_the_outbox_and_the_audit_log_name_the_callers_trace(installation: Installation, team: Team) -> None:
    # Given a commit that is part of a trace, and one that is not
    ready, other = await team.ready(), await team.ready()
    traced = await team.service.commit(ready.capability, content=ready.content, traceparent=TRACEPARENT)
    untraced = await team.service.commit(other.capability, content=other.content)
    # Then the one's event and audit event carry it on, and the other's carry none
    with psycopg.connect(installation.admin_url, autocommit=True) as superuser:
        for committed, expected in ((traced, (TRACEPARENT, TRACE_ID)), (untraced, ("", ""))):
            found = superuser.execute(
                "select o.traceparent, a.trace_id from authority.outbox o"
                " join authority.audit_event a on a.tenant = o.tenant and a.subject = o.aggregateid"
                " where o.aggregateid = %s",
                (committed.record_id,),
            ).fetchall()
            assert found == [expected]
