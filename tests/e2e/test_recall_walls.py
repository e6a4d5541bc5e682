"""Whatever is asked of recall, it answers with a part of what its reader may see (ADR-328 test 5)."""

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from grpc import aio

from authority.domain.membership import Reader, Scope
from authority.domain.proposal import Visibility
from authority.domain.references import PrincipalRef
from capability_authority.v1.memory_service_pb2 import RecallRecordsRequest, RecallRecordsResponse
from tests.installation.installation import NAMESPACE, OTHER_NAMESPACE, Installation, Tenant
from tests.installation.processes import ServiceProcess
from tests.installation.team import Team, team_at
from tests.installation.wire import Wire, assert_tells_nothing_internal, wire_to
from tests.integration.rpc.running import Failure

CREW: Final = Scope(Visibility.TEAM, "crew")
READERS: Final = ("user", "agent", "admin")
ROUNDS: Final = 25
REFUSALS: Final = {"MALFORMED", "LIMIT_EXCEEDED", "NOT_FOUND", "DEPENDENCY_UNAVAILABLE", "NOT_ALLOWED"}
SEED: Final = 20_270_131
ODDS: Final = 0.15
"""How likely each part of a request is hostile."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A record as the model knows it."""

    record_id: str
    memory_namespace: str
    visibility: Visibility
    scope: str
    is_revoked: bool = False


@dataclass(slots=True)
class Model:
    """What a tenant has, all of it the user's, and who is in the crew: what a reader may see follows from it."""

    team: Team
    kept: list[Kept]
    members: set[str]
    page_token: str = ""
    revision_token: str = ""

    def shown_to(self, name: str, memory_namespace: str) -> set[str]:
        """The ids of what this reader may see there."""
        reader = Reader(PrincipalRef("test", name), frozenset({CREW} if name in self.members else ()))
        proposer = PrincipalRef("test", "user")
        return {
            it.record_id
            for it in self.kept
            if it.memory_namespace == memory_namespace and not it.is_revoked
            if reader.is_shown(it.visibility, it.scope, proposer)
        }


async def furnished(installation: Installation, team: Team) -> Model:
    """A tenant with a record of each visibility in each memory namespace, one revoked, and tokens of its own."""
    model = Model(team, [], set())
    await enter(installation, model, "user")
    for memory_namespace in (NAMESPACE, OTHER_NAMESPACE):
        for visibility in (Visibility.PRIVATE, Visibility.TEAM, Visibility.WORKSPACE, Visibility.WORKSPACE):
            scope = CREW.id if visibility is Visibility.TEAM else ""
            said: dict[str, Any] = {"visibility": visibility.value, "visibility_scope": scope}
            text = f"Tea of {team.tenant.ref.id} number {len(model.kept)}."
            ready = await team.ready(text, memory_namespace=memory_namespace, subject_refs=["client:7"], **said)
            done = await team.commit(ready)
            model.kept.append(Kept(done.record_id, memory_namespace, visibility, scope))
    model.revision_token = await revoke(model, 3)
    asked = RecallRecordsRequest(memory_namespace=NAMESPACE, query="tea", page_size=1)
    page = await team.user.call("RecallRecords", asked)
    assert isinstance(page, RecallRecordsResponse)
    model.page_token = page.next_page_token
    return model


async def enter(installation: Installation, model: Model, name: str) -> None:
    """Lets somebody into the crew, or out of it when it is in."""
    async with installation.operator() as operator:
        ref, now = PrincipalRef("test", name), operator.clock.now()
        if name in model.members:
            await operator.memberships.remove_membership(model.team.tenant.ref, ref, CREW, now)
        else:
            await operator.memberships.add_membership(model.team.tenant.ref, ref, CREW, now)
    model.members ^= {name}


async def revoke(model: Model, index: int) -> str:
    """Revokes a record; the token of it."""
    model.kept[index] = replace(model.kept[index], is_revoked=True)
    return (await model.team.admin.revoke_record(model.kept[index].record_id)).revision_token


def hostile(chance: random.Random, own: Model, other: Model) -> tuple[RecallRecordsRequest, list[tuple[str, str]]]:
    """A request and metadata: each part the ordinary, or what an attacker would try."""
    tenant = other.team.tenant.ref
    spoilt = own.page_token[:-3] + "AAA"
    ordinary: dict[str, Any] = {"memory_namespace": NAMESPACE, "query": "tea", "page_size": 100}
    tried: dict[str, list[Any]] = {
        "memory_namespace": [OTHER_NAMESPACE, OTHER_NAMESPACE, "", "*", f"{tenant}/{NAMESPACE}", "nowhere"],
        "query": ["tea or coffee", "-nothing", f"tea or tenant:{tenant}", "tea' or '1'='1", '"tea of" & !x', "|"],
        "source_refs": [[f"tenant:{tenant}"], ["%"]],
        "subject_refs": [["client:7"], ["client:7", "*"], ["' or true --"]],
        "page_size": [0, 1, 3, 101, -1],
        "page_token": [own.page_token, other.page_token, spoilt, "AAAA"],
        "at_least_as_fresh_as": [own.revision_token, other.revision_token, other.page_token],
        "include_unvalidated": [True],
        "aggregate": ["trends", tenant.id],
    }
    said = {field: chance.choice(values) for field, values in tried.items() if chance.random() < ODDS}
    request = RecallRecordsRequest(**ordinary | said)
    beside = chance.choice(
        [[], [("tenant", str(tenant))], [("x-tenant-id", tenant.id), ("authorization", f"Bearer {tenant.id}")]]
    )
    return request, beside


@pytest.fixture
async def models(
    installation: Installation, services: tuple[ServiceProcess, ...], tenant: Tenant
) -> AsyncIterator[tuple[Model, Model]]:
    """Two tenants whose memory looks alike."""
    async with AsyncExitStack() as stack:
        found = []
        for one in (tenant, await installation.tenant()):
            team = await stack.enter_async_context(team_at(services[0].address, one))
            found.append(await furnished(installation, team))
        yield found[0], found[1]


async def ask(wire: Wire, request: RecallRecordsRequest, beside: list[tuple[str, str]]) -> set[str] | str:
    """The ids of the hits, or why there are none."""
    try:
        answer = RecallRecordsResponse.FromString(await wire.send("RecallRecords", request, beside=beside))
    except aio.AioRpcError as error:
        failure = Failure(error)
        assert_tells_nothing_internal(failure)
        return failure.reason
    assert not answer.aggregate_counts
    return {hit.record.record_id for hit in answer.hits}


async def test_adr328_05_g04_whatever_is_asked_recall_shows_a_part_of_what_its_reader_may_see(
    installation: Installation, services: tuple[ServiceProcess, ...], models: tuple[Model, Model]
) -> None:
    own, other = models
    chance, seen, refused = random.Random(SEED), 0, set[str]()  # noqa: S311 - a campaign, no secret
    async with AsyncExitStack() as stack:
        wires: Mapping[str, Wire] = {
            name: await stack.enter_async_context(wire_to(services[0].address, own.team.tenant[name]))
            for name in READERS
        }
        for number in range(ROUNDS):
            # given that people come and go, and records are revoked
            await enter(installation, own, chance.choice(READERS))
            if number % 10 == 5:
                await revoke(own, number // 10)
            for name, wire in wires.items():
                for _ in range(3):
                    # when anything is asked, then what comes is among what the model lets this reader see, or a refusal
                    request, beside = hostile(chance, own, other)
                    answer = await ask(wire, request, beside)
                    if isinstance(answer, str):
                        refused.add(answer)
                        continue
                    assert answer <= own.shown_to(name, request.memory_namespace), (name, request)
                    seen += len(answer)
                # and what is ordinary shows all of it
                plain = RecallRecordsRequest(memory_namespace=NAMESPACE, query="tea", page_size=100)
                assert await ask(wire, plain, []) == own.shown_to(name, NAMESPACE)
    assert seen > ROUNDS
    assert {"MALFORMED", "NOT_FOUND"} <= refused <= REFUSALS


async def test_g02_what_is_anothers_and_what_is_not_there_are_refused_alike(
    services: tuple[ServiceProcess, ...], models: tuple[Model, Model]
) -> None:
    # given tokens of another tenant, and tokens that are none
    own, other = models
    async with wire_to(services[0].address, own.team.tenant["user"]) as wire:

        async def failure(**said: str) -> tuple[str, tuple[str, str] | None]:
            good = {"memory_namespace": NAMESPACE, "query": "tea"}
            refused = await wire.refused("RecallRecords", RecallRecordsRequest(**good | said))  # type: ignore[arg-type]
            return refused.reason, refused.violation

        nothing = own.page_token[:-4] + "AAAA"
        assert await failure(page_token=other.page_token) == await failure(page_token=nothing)
        foreign = await failure(at_least_as_fresh_as=other.revision_token)
        assert foreign == await failure(at_least_as_fresh_as=own.revision_token[:-4] + "AAAA")
