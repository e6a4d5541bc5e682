"""Whatever is listed: the token of a page goes on with that very list, for the caller who has it, and with no other."""

from collections.abc import Awaitable, Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any, TypeAlias

import pytest

from authority.domain import limits
from authority.domain.audit import AuditFilter
from authority.domain.citation import CitedContent, CitedRecord
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import MemoryType, ProposalState, Provenance
from authority.domain.reasons import Reason
from authority.domain.recall import RecallQuery
from authority.domain.references import Instant, PrincipalRef
from authority.domain.refusal import Refusal
from authority.rpc.use_cases import UseCases
from authority.usecases.paging import Page, PageRequest
from authority.usecases.recall_records import RecallRequest
from tests.world.world import NAMESPACE, Person, World, must

ELSEWHERE = "ledger"
List: TypeAlias = Callable[[Person, PageRequest], Awaitable[Page[Any] | Refusal]]

RECALLED = RecallQuery(memory_namespace=NAMESPACE, text="tea")
OTHER_QUERIES: dict[str, object] = {
    "memory_namespace": ELSEWHERE,
    "text": "tea or coffee",
    "memory_types": (MemoryType.DURABLE_FACT,),
    "provenances": (Provenance.USER_CLAIM,),
    "source_refs": ("thread:1",),
    "subject_refs": ("client:7",),
    "created_after_time": Instant(0),
    "created_before_time": Instant(2**42),
    "with_unvalidated": True,
}
"""Each field of a recall, and another value of it, which finds the same."""


OTHER_FILTERS: dict[str, object] = {
    "kind": "proposal.create",
    "actor": PrincipalRef("test", "user"),
    "subject": "1",
    "correlation_id": "run-1",
    "start": Instant(0),
    "end": Instant(2**42),
}
"""Each condition on audit events, and a value of it."""


def all_lists(world: World, record_id: str, other_id: str, digest: bytes) -> dict[str, List]:
    """Every list there is, with each of its conditions changed in turn; of those with a star there is a second page."""
    do = world.authority.do

    async def citations(cited: CitedRecord | CitedContent, by: Person, page: PageRequest) -> Page[Any] | Refusal:
        return await do.list_citations(by.calls(), cited, page)

    async def proposals(
        namespace: str, state: ProposalState | None, by: Person, page: PageRequest
    ) -> Page[Any] | Refusal:
        return await do.list_proposals(by.calls(), namespace, state, page)

    async def audit(wanted: AuditFilter, by: Person, page: PageRequest, *, oldest_first: bool) -> Page[Any] | Refusal:
        return await do.list_audit_events(by.calls(), wanted, page, oldest_first=oldest_first)

    async def recall(query: RecallQuery, by: Person, page: PageRequest) -> Page[Any] | Refusal:
        return await do.recall(by.calls(), RecallRequest(query, page, ""))

    return {
        "records *": lambda by, page: do.list_records(by.calls(), NAMESPACE, page),
        "records elsewhere": lambda by, page: do.list_records(by.calls(), ELSEWHERE, page),
        "records, all": lambda by, page: do.list_records(by.calls(), NAMESPACE, page, with_unvalidated=True),
        "receipts *": lambda by, page: do.list_receipts(by.calls(), NAMESPACE, page),
        "receipts elsewhere": lambda by, page: do.list_receipts(by.calls(), ELSEWHERE, page),
        "proposals *": partial(proposals, NAMESPACE, None),
        "reviews *": lambda by, page: do.list_reviews(by.calls(), NAMESPACE, page),
        "reviews elsewhere": lambda by, page: do.list_reviews(by.calls(), ELSEWHERE, page),
        "proposals elsewhere": partial(proposals, ELSEWHERE, None),
        "committed proposals": partial(proposals, NAMESPACE, ProposalState.COMMITTED),
        "citations of a record *": partial(citations, CitedRecord(record_id)),
        "citations of another record": partial(citations, CitedRecord(other_id)),
        "citations of a content *": partial(citations, CitedContent(NAMESPACE, digest)),
        "citations of it elsewhere": partial(citations, CitedContent(ELSEWHERE, digest)),
        "citations of another content": partial(citations, CitedContent(NAMESPACE, bytes(32))),
        "audit events *": partial(audit, AuditFilter(), oldest_first=False),
        "audit events, oldest first *": partial(audit, AuditFilter(), oldest_first=True),
        "hits *": partial(recall, RECALLED),
        **{
            f"audit events of one {name}": partial(
                audit,
                replace(AuditFilter(), **{name: value}),  # type: ignore[arg-type] # a field by its name
                oldest_first=False,
            )
            for name, value in OTHER_FILTERS.items()
        },
        **{
            f"hits by another {name}": partial(recall, replace(RECALLED, **{name: value}))  # type: ignore[arg-type] # as above
            for name, value in OTHER_QUERIES.items()
        },
    }


def test_everything_that_is_listed_and_every_condition_of_it_is_here() -> None:
    assert {it.name for it in fields(UseCases) if it.name.startswith("list_")} == {
        "list_audit_events", "list_citations", "list_proposals", "list_receipts", "list_records", "list_reviews",
    }  # fmt: skip
    assert set(OTHER_QUERIES) == {it.name for it in fields(RecallQuery)}
    assert set(OTHER_FILTERS) == {it.name for it in fields(AuditFilter)}


async def test_g04_g05_a_page_token_goes_on_with_its_own_list_and_no_other(world: World) -> None:
    # given a second page of everything that can be listed
    await world.make_namespace(ELSEWHERE, "permit (principal, action, resource);")
    colleague = await world.register(PrincipalKind.ADMIN, "colleague")
    namesake = (await world.neighbour()).admin
    assert namesake.ref == world.admin.ref
    first, answer = await world.committed(b"tea")
    _, other = await world.committed(b"tea again")
    record_id, digest = answer.receipt.record_id, first.ground.revision.content_digest
    for number in range(2):
        must(await world.cite(record_id, f"answer {number}"))
        must(await world.decide(await world.validated(by=world.agent)))
    lists = all_lists(world, record_id, other.receipt.record_id, digest)
    tokens = {
        name: must(await lists[name](world.admin, PageRequest(1, ""))).next_token for name in lists if "*" in name
    }
    assert len(tokens) == 9
    assert all(tokens.values())

    for name, token in tokens.items():
        page = PageRequest(1, token)
        # when it is used for its own list, then that goes on
        assert must(await lists[name](world.admin, page)).items
        # and for any other, by another admin, or by the admin of this name in another tenant, then it is malformed
        answers = {other: await lists[other](world.admin, page) for other in lists if other != name}
        answers["another caller"] = await lists[name](colleague, page)
        answers["another tenant"] = await lists[name](namesake, page)
        told = {
            other: (found.reason, found.facts["field"]) if isinstance(found, Refusal) else found
            for other, found in answers.items()
        }
        assert told == dict.fromkeys(answers, (Reason.MALFORMED, "page_token")), name


@pytest.mark.parametrize(
    "name", ["records *", "proposals *", "audit events *", "audit events, oldest first *", "hits *"]
)
async def test_d16_a_page_of_what_may_be_large_ends_before_its_bytes_do(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # given several of something that can be large, and room for one of them
    await world.make_namespace(ELSEWHERE, "permit (principal, action, resource);")
    for number in range(3):
        await world.committed(b"tea %d" % number)
    pages = all_lists(world, "", "", b"")[name]
    whole = [*must(await pages(world.admin, PageRequest(100, ""))).items]
    monkeypatch.setattr(limits, "PAGE_BYTES", 1)
    # when they are listed, then each page has one, and together they have all
    found: list[Any] = []
    token = ""
    while not found or token:
        page = must(await pages(world.admin, PageRequest(100, token)))
        assert len(page.items) == 1
        found, token = [*found, *page.items], page.next_token
    assert found == whole
    assert len(found) >= 3
