"""The port `Citations`, and the verbs over it: what cites a record is found, whatever becomes of the record."""

import asyncio

import pytest

from authority.domain.citation import Citation, Cited, CitedContent, CitedRecord
from authority.domain.proposal import Visibility
from authority.domain.reasons import Reason
from authority.domain.references import HOUR, SECOND, after
from authority.domain.refusal import Refusal
from authority.usecases.paging import PageRequest
from tests.world.world import NAMESPACE, PERMIT_ALL, Person, World, must, reason_of

NOT_FOUND = Refusal(Reason.NOT_FOUND)


async def listed(world: World, cited: Cited, reader: Person | None = None) -> list[Citation]:
    """What ListCitations tells the reader, the agent unless named, in pages of two."""
    found: list[Citation] = []
    token = ""
    while True:
        page = must(
            await world.authority.do.list_citations((reader or world.agent).calls(), cited, PageRequest(2, token))
        )
        found.extend(page.items)
        if not page.next_token:
            return found
        token = page.next_token


async def test_a_citation_says_who_cites_what_under_which_proof(world: World) -> None:
    # given a record
    issued, answer = await world.committed()
    record_id = answer.receipt.record_id
    # when an agent cites it, then it is kept with the digests of content and receipt, and found by record and content
    citation = must(await world.cite(record_id, "answer 1", kind="answer"))
    digest = issued.ground.revision.content_digest
    assert citation == Citation(
        citation_id=citation.citation_id,
        tenant=world.tenant,
        record_id=record_id,
        memory_namespace=NAMESPACE,
        content_digest=digest,
        receipt_digest=world.authority.reader.digest(answer.receipt.statement),
        cited_by=world.agent.ref,
        citing_kind="answer",
        citing_ref="answer 1",
        create_time=world.now(),
    )
    assert await listed(world, CitedRecord(record_id)) == [citation]
    assert await listed(world, CitedContent(NAMESPACE, digest)) == [citation]


async def test_the_same_thing_cites_a_record_once(world: World) -> None:
    # given a citation
    _, answer = await world.committed()
    record_id = answer.receipt.record_id
    first = must(await world.cite(record_id, "answer 1", request_id="r"))
    world.authority.clock.advance(SECOND)
    # when it is told again, by the same request and by others at once, then the first is answered
    again = await asyncio.gather(
        world.cite(record_id, "answer 1", request_id="r"), *(world.cite(record_id, "answer 1") for _ in range(3))
    )
    assert again == [first] * 4
    # and another thing, kind or citer is another citation
    others = [
        must(await world.cite(record_id, "answer 2")),
        must(await world.cite(record_id, "answer 1", kind="plan")),
        must(await world.cite(record_id, "answer 1", by=world.user)),
    ]
    assert await listed(world, CitedRecord(record_id)) == [first, *others]
    # and the request id stays what it was used for
    assert reason_of(await world.cite(record_id, "answer 9", request_id="r")) is Reason.IDEMPOTENCY_CONFLICT


async def test_g02_what_one_cannot_see_one_cannot_cite(world: World) -> None:
    # given records: the user's own, one that expires, and a neighbour's
    neighbour = await world.neighbour()
    issued, answer = await world.committed(visibility=Visibility.PRIVATE)
    own, says = answer.receipt.record_id, CitedContent(NAMESPACE, issued.ground.revision.content_digest)
    brief = (await world.committed(record_expire_time=after(world.now(), HOUR)))[1].receipt.record_id
    theirs = (await neighbour.committed())[1].receipt.record_id
    must(await world.cite(brief, "in time"))
    world.authority.clock.advance(HOUR)
    # then none of them can be cited, nor what there is not, all in the same words, and no request id is used up
    for record_id in (own, brief, theirs, world.authority.ids.new()):
        assert await world.cite(record_id, "answer", request_id="r") == NOT_FOUND
    must(await world.cite(own, "mine", by=world.user))
    # and nothing is told of what others may not see, by the record or by what it says
    for cited in (CitedRecord(own), says):
        assert await listed(world, cited) == await listed(world, cited, world.admin) == []
        assert len(await listed(world, cited, world.user)) == 1
        assert await listed(neighbour, cited, neighbour.user) == []
    assert await listed(neighbour, CitedRecord(brief)) == []


async def test_g05_citations_of_withdrawn_content_are_found_and_no_new_one_is_taken(world: World) -> None:
    # given a cited record whose content is withdrawn
    issued, answer = await world.committed()
    record_id, digest = answer.receipt.record_id, issued.ground.revision.content_digest
    citation = must(await world.cite(record_id, "answer 1", request_id="r"))
    await world.authority.store.behind.bury(world.tenant, NAMESPACE, digest)
    # then what rests on it is found, a retry is answered, and nothing cites it from now on
    assert await listed(world, CitedRecord(record_id)) == [citation]
    assert await listed(world, CitedContent(NAMESPACE, digest)) == [citation]
    assert await world.cite(record_id, "answer 1", request_id="r") == citation
    assert await world.cite(record_id, "answer 2") == NOT_FOUND


async def test_a_content_is_cited_by_what_cites_any_record_of_it(world: World) -> None:
    # given the same content in two memory namespaces, and decided anew in one
    await world.make_namespace("ledger", PERMIT_ALL)
    issued, first = await world.committed(b"tea")
    digest = issued.ground.revision.content_digest
    cited = [must(await world.cite(first.receipt.record_id, "answer 1"))]
    await world.authority.store.behind.bury(world.tenant, NAMESPACE, digest)
    _, second = await world.committed(b"tea")
    cited.append(must(await world.cite(second.receipt.record_id, "answer 1")))
    _, elsewhere = await world.committed(b"tea", memory_namespace="ledger")
    there = must(await world.cite(elsewhere.receipt.record_id, "answer 1"))
    # then each namespace tells of its own
    assert await listed(world, CitedContent(NAMESPACE, digest)) == cited
    assert await listed(world, CitedContent("ledger", digest)) == [there]
    assert await listed(world, CitedContent("", digest)) == []


@pytest.mark.parametrize("verb", ["cite", "list"])
async def test_without_the_right_to_read_nothing_is_cited_or_told(world: World, verb: str) -> None:
    _, answer = await world.committed(by=world.observer)
    record_id = answer.receipt.record_id
    if verb == "cite":
        refused: object = await world.cite(record_id, "answer", by=world.observer)
    else:
        calls = world.observer.calls()
        refused = await world.authority.do.list_citations(calls, CitedRecord(record_id), PageRequest(2, ""))
    assert reason_of(refused) is Reason.NOT_ALLOWED
