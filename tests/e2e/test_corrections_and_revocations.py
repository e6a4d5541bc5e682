"""RevokeRecord and CorrectRecord over the wire: what every process keeps to at once, also while commits race."""

from capability_authority.client import (
    CapabilityAuthority,
    Committed,
    MemoryRecord,
    NotFound,
    NotValidated,
    RecordRevocation,
    Revoked,
)
from tests.installation.installation import NAMESPACE
from tests.installation.storage import Storage
from tests.installation.team import Ready, Team, barrier, refused


async def listed(client: CapabilityAuthority) -> dict[str, MemoryRecord]:
    """What the client can read, by id."""
    return {it.record_id: it async for it in client.list_records(memory_namespace=NAMESPACE)}


def events(storage: Storage, team: Team) -> dict[str, list[str]]:
    """The events of each of the tenant's records, in their order."""
    rows = storage.ask(
        "select aggregateid, array_agg(type || ' ' || sequence order by sequence) from authority.outbox"
        " where tenant = %s group by aggregateid",
        str(team.tenant.ref),
    )
    return dict(rows)


async def correcting(team: Team, committed: Committed, content: str, by: CapabilityAuthority | None = None) -> Ready:
    """A capability for a correction of the record."""
    return await team.issue(await team.allowed(await (by or team.user).correct(committed, content=content)))


async def test_adr328_06_g07_commits_that_race_with_a_revocation_leave_nothing_to_read(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    for number in range(6):
        # Given a record, and capabilities for the same content, decided before
        content = f"The code of door {number} is 0000."
        grounds = [await team.ground(content) for _ in range(5)]
        first, *others = [await team.issue(ground) for ground in grounds]
        record = await team.commit(first)
        # When they are committed, and the record is revoked, at once, at two processes
        members = (team, team_elsewhere) * 2
        revoking = team_elsewhere.admin.revoke_record(record, note="It was posted by mistake.")
        commits = [member.commit(ready) for member, ready in zip(members, others, strict=True)]
        *answers, revoked = await barrier([*commits, revoking])
        # Then each commit came before and went along, or is refused, and none is read by anybody
        assert isinstance(revoked, RecordRevocation)
        landed = [answer for answer in answers if isinstance(answer, Committed)]
        assert {type(answer) for answer in answers if answer not in landed} <= {Revoked}
        for member in (team, team_elsewhere):
            assert await listed(member.user) == {}
            for committed in (record, *landed):
                await refused(member.user.get_record(committed.record_id), NotFound)
                again = await member.user.revoke_record(committed)
                assert (again.replayed, again.sequence, again.revoke_time) == (
                    True,
                    revoked.sequence,
                    revoked.revoke_time,
                )
        # And each was told of once, and a late retry of any commit brings nothing back
        told = events(storage, team)
        assert all(told[it.record_id] == ["memory.committed.v1 1", "memory.revoked.v1 2"] for it in (record, *landed))
        assert (await team_elsewhere.commit(first)).receipt.statement == record.receipt.statement
        storage.assert_whole()
    # And what is decided anew is a record of its own
    anew = await team.commit(await team.ready("The code of door 0 is 0000."))
    assert (await listed(team.user)).keys() == {anew.record_id}


async def test_a_correction_takes_the_place_of_its_record_in_every_process(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    # Given a record, and a correction of it that an agent opened and a person approved
    old = await team.commit(await team.ready("The office opens at nine."))
    proposal = await team.agent.correct(old, content="The office opens at eight.")
    assert proposal.supersedes_record_id == old.record_id
    assert (await team.admin.get_proposal(proposal.proposal_id)).supersedes_record_id == old.record_id
    ready = await team.issue(await team.allowed(proposal))
    assert (await listed(team_elsewhere.user)).keys() == {old.record_id}
    # When it is committed
    new = await team.commit(ready)
    # Then it is read in place of the old one, as what an agent said, by whichever process
    for member in (team, team_elsewhere):
        (found,) = (await listed(member.user)).values()
        assert (found.record_id, found.supersedes_record_id) == (new.record_id, old.record_id)
        assert (found.content, found.provenance) == (b"The office opens at eight.", "agent_output")
        await refused(member.user.get_record(old.record_id), NotFound)
        await refused(member.user.correct(old, content="It never opens."), NotFound)
    assert events(storage, team) == {
        old.record_id: ["memory.committed.v1 1", "memory.corrected.v1 2"],
        new.record_id: ["memory.committed.v1 1"],
    }
    # And the receipts of both stay
    for committed in (old, new):
        receipt = await team_elsewhere.service.get_receipt(record_id=committed.record_id)
        assert receipt.receipt_id == committed.receipt_id
    storage.assert_whole()


async def test_of_corrections_that_race_at_two_processes_exactly_one_wins(
    team: Team, team_elsewhere: Team, storage: Storage
) -> None:
    current = await team.commit(await team.ready("The office has one door."))
    for number in range(4):
        # Given several corrections of one record, when all are committed at once at two processes
        members = (team, team_elsewhere) * 2
        corrections = [
            await correcting(team, current, f"The office has {number}{way} doors.") for way in range(len(members))
        ]
        answers = await barrier(member.commit(it) for member, it in zip(members, corrections, strict=True))
        # Then one won, and is what everybody reads
        won = [answer for answer in answers if isinstance(answer, Committed)]
        assert {type(answer) for answer in answers if answer not in won} == {NotValidated}
        (current,) = won
        for member in (team, team_elsewhere):
            assert (await listed(member.user)).keys() == {current.record_id}
        storage.assert_whole()
    # And when the last of the chain is revoked, then none comes back
    await team.admin.revoke_record(current)
    assert await listed(team_elsewhere.user) == {}
