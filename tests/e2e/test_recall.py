"""Recall as callers meet it: what was revoked is gone everywhere at once, and no request shows what is another's."""

import json

from capability_authority.client import CapabilityAuthority, Malformed, NotFound
from capability_authority.v1.memory_service_pb2 import RecallRecordsRequest, RecallRecordsResponse
from tests.installation.installation import NAMESPACE, OTHER_NAMESPACE, Installation
from tests.installation.processes import ServiceProcess
from tests.installation.storage import Storage
from tests.installation.team import Team, refused, team_at


async def recalled(client: CapabilityAuthority, words: str, **narrowed: str) -> list[str]:
    """The ids of the records that these words find."""
    found = client.recall(words, memory_namespace=NAMESPACE, **narrowed)  # type: ignore[arg-type]
    return [hit.record_id async for hit in found]


async def page(client: CapabilityAuthority, token: str, size: int = 1) -> RecallRecordsResponse:
    """A page of what says "tea"."""
    request = RecallRecordsRequest(memory_namespace=NAMESPACE, query="tea", page_size=size, page_token=token)
    answer = await client.call("RecallRecords", request)
    assert isinstance(answer, RecallRecordsResponse)
    return answer


async def test_g05_a_revoked_record_is_gone_from_every_read_of_every_process_at_once(
    team: Team, services: tuple[ServiceProcess, ...], storage: Storage
) -> None:
    # Given two records, a page that has the newer one, and the token of the next, which has the older
    ready = await team.ready("Tea is preferred.")
    older, newer = await team.commit(ready), await team.commit(await team.ready("Tea is out."))
    first = await page(team.user, "")
    assert [hit.record.record_id for hit in first.hits] == [newer.record_id]
    cited = await team.agent.cite(older.record_id, citing_kind="answer", citing_ref="answer 1")

    # When the older one is revoked
    revoked = await team.admin.revoke_record(older.record_id, note="It was a joke.")

    # Then it is absent from the next page, from searches and lists, by its id, and in every other process
    async def absent(client: CapabilityAuthority) -> None:
        assert [hit.record.record_id for hit in (await page(client, "", 10)).hits] == [newer.record_id]
        assert await recalled(client, "preferred") == []
        assert await recalled(client, "tea", at_least_as_fresh_as=revoked.revision_token) == [newer.record_id]
        listed = [record.record_id async for record in client.list_records(memory_namespace=NAMESPACE)]
        assert listed == [newer.record_id]
        await refused(client.get_record(older.record_id), NotFound)
        await refused(client.cite(older.record_id, citing_kind="answer", citing_ref="answer 2"), NotFound)
        await refused(client.export(older.record_id), NotFound)

    assert list((await page(team.user, first.next_page_token)).hits) == []
    await absent(team.user)
    for process in services[1:]:
        async with team_at(process.address, team.tenant) as elsewhere:
            await absent(elsewhere.user)

    # And the replay of its commit gives the first receipt and brings nothing back (case G07)
    replay = await team.commit(ready)
    assert (replay.replayed, replay.record_id) == (True, older.record_id)
    assert await recalled(team.user, "preferred") == []

    # And what rests on it is found, and an admin can prove what it was
    assert [it async for it in team.user.citations(record_id=older.record_id)] == [cited]
    export = await team.admin.export(older.record_id, form="audit")
    assert (export.state, export.message.trail.revoke_note) == ("revoked", "It was a joke.")
    storage.assert_whole()


async def test_g04_no_query_and_no_filter_shows_what_is_anothers(
    team: Team, services: tuple[ServiceProcess, ...], installation: Installation, storage: Storage
) -> None:
    # Given records of another tenant, of another memory namespace, and of somebody alone
    async with team_at(services[0].address, await installation.tenant()) as strangers:
        theirs = await strangers.commit(await strangers.ready("Tea of strangers.", subject_refs=["client:7"]))
        tenant = strangers.tenant["user"].tenant
        assert await recalled(strangers.user, "tea") == [theirs.record_id]
    await team.commit(await team.ready("Tea elsewhere.", memory_namespace=OTHER_NAMESPACE))
    await team.commit(await team.ready("Tea in private.", visibility="private"))

    # When an agent asks for them by whatever could be read as a condition
    for words in (
        "tea",
        f"tea or tenant:{tenant.namespace}|{tenant.id}",
        json.dumps({"tenant": tenant.id, "query": "tea"}),
        "tea' or '1'='1",
        "tea) or (1=1",
        "-nothing",
    ):
        # Then nothing is found
        assert await recalled(team.agent, words) == [], words
    for narrowed in ({"subject_refs": ["client:7"]}, {"source_refs": ["client:7"]}, {"provenances": ["user_claim"]}):
        assert await recalled(team.agent, "tea", **narrowed) == []  # type: ignore[arg-type]

    # And a request that names no memory namespace, or none that there can be, is refused (case G01)
    for memory_namespace in ("", " ", "*", "null\0"):
        hits = team.agent.recall("tea", memory_namespace=memory_namespace)
        await refused(anext(hits), Malformed)
    await refused(anext(team.agent.recall("tea", memory_namespace="null")), NotFound)
    storage.assert_whole()
