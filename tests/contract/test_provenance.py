"""Provenance is stamped from live state: who proposes, through whom, which records it cites, what vouches for it."""

import pytest

from authority.domain.evidence import EvidenceState
from authority.domain.identity import PrincipalKind, Right
from authority.domain.proposal import Cost, MemoryType, ProposalState, Provenance, StoredProposal, Visibility
from authority.domain.reasons import Reason
from authority.domain.references import HOUR, after
from authority.domain.refusal import Refusal
from tests.world.evidence import approved, claimed, decide, digest_of, kept, put, read
from tests.world.granting import Granting
from tests.world.withdrawing import withdraw
from tests.world.world import NAMESPACE, Person, World, must, reason_of

TO_PROPOSE = {"actions": ("memory.propose",), "write_memory_namespaces": (NAMESPACE,)}


async def recorded(world: World, by: Person, visibility: Visibility = Visibility.WORKSPACE) -> str:
    """The id of a record of what the person proposed."""
    return (await world.committed(by=by, visibility=visibility))[1].receipt.record_id


@pytest.mark.parametrize(
    ("cited_of", "stamped"),
    [
        ([PrincipalKind.USER], Provenance.USER_CLAIM),
        ([PrincipalKind.OBSERVER], Provenance.USER_CLAIM),
        ([PrincipalKind.USER, PrincipalKind.AGENT], Provenance.AGENT_OUTPUT),
        ([PrincipalKind.SERVICE, PrincipalKind.OBSERVER], Provenance.UNKNOWN),
    ],
)
async def test_adr328_04_consolidating_memory_never_raises_it(
    world: World, cited_of: list[PrincipalKind], stamped: Provenance
) -> None:
    # given records, when a user consolidates them, then what comes out is trusted no more than the least of them
    cited = [f"record:{await recorded(world, world.person(kind))}" for kind in cited_of]
    proposal = await world.proposed(source_refs=("thread:9", *cited))
    assert proposal.revision.provenance is stamped
    # and committing it makes a record of that trust
    committed = await world.committed(source_refs=tuple(cited))
    found = await world.authority.store.records.get(
        world.tenant, committed[1].receipt.record_id, world.user.ref, world.now()
    )
    assert found
    assert found.provenance is stamped


async def test_g02_what_one_cannot_see_one_cannot_cite(world: World) -> None:
    # given a record of the user's own, one that expires, and a neighbour's
    neighbour = await world.neighbour()
    private = await recorded(world, world.user, visibility=Visibility.PRIVATE)
    brief = (await world.committed(record_expire_time=after(world.now(), HOUR)))[1].receipt.record_id
    theirs = await recorded(neighbour, neighbour.user)
    kept_in_time = await world.proposed(b"fact", source_refs=(f"record:{brief}",), request_id="r")
    world.authority.clock.advance(HOUR)

    # then none of them is there for the agent, nor what never was, and the field says which
    for record_id in (private, brief, theirs, "00000000-0000-4000-8000-00000000dead"):
        refused = await world.propose(by=world.agent, source_refs=("thread:1", f"record:{record_id}"))
        assert refused == Refusal(Reason.NOT_FOUND, {"field": "source_refs[1]"}), record_id
    # and nobody without the right to read sees any
    blind = await world.register(PrincipalKind.USER, "blind", frozenset({Right.PROPOSE}))
    public = await recorded(world, world.user)
    assert reason_of(await world.propose(by=blind, source_refs=(f"record:{public}",))) is Reason.NOT_FOUND
    # but what was kept in time is the answer to its retry
    assert await world.propose(b"fact", source_refs=(f"record:{brief}",), request_id="r") == kept_in_time
    # and whoever sees the record cites it
    assert reason_of(await world.propose(source_refs=(f"record:{private}",))) is None


async def test_adr328_04_a_tools_result_needs_its_signed_and_approved_evidence(world: World) -> None:
    # given a tool, its signed evidence, and signed evidence of another
    tool, other = await world.register(PrincipalKind.TOOL, "linter"), await world.register(PrincipalKind.TOOL, "other")
    own = must(await put(world, b"own", by=tool, statement=claimed(world, b"own", tool)))
    others = must(await put(world, b"others", by=tool, statement=claimed(world, b"others", other)))
    unsigned = await approved(world, b"unsigned", by=world.agent)
    own_unsigned = await approved(world, b"own and unsigned", by=tool)

    async def stamped(*digests: bytes, by: Person = tool) -> Provenance:
        return (await world.proposed(by=by, evidence_digests=digests)).revision.provenance

    # then nothing of it counts before it is approved
    assert await stamped(own.digest) is Provenance.UNKNOWN
    await decide(world, own)
    await decide(world, others)
    # and then its own does, for itself alone, where all that it names resolves
    assert await stamped(own.digest) is Provenance.TOOL_RESULT
    assert await stamped(own.digest, unsigned.digest) is Provenance.TOOL_RESULT
    assert await stamped(own.digest, digest_of(b"nothing")) is Provenance.UNKNOWN
    for digests in ((), (unsigned.digest,), (own_unsigned.digest,), (others.digest,)):
        assert await stamped(*digests) is Provenance.UNKNOWN
    assert await stamped(own.digest, by=world.agent) is Provenance.AGENT_OUTPUT
    # and a critique is agent output even of a tool
    critique = await world.proposed(by=tool, evidence_digests=(own.digest,), memory_type=MemoryType.CRITIQUE)
    assert critique.revision.provenance is Provenance.AGENT_OUTPUT
    # and the validators believe what is stamped
    validated = must(await world.validate(await world.proposed(by=tool, evidence_digests=(own.digest,))))
    assert validated.state is ProposalState.VALIDATED


async def test_adr328_04_who_acts_through_others_is_trusted_no_more_than_they(world: World) -> None:
    # given a user who may propose under a grant of another user, that came through an agent
    granting = Granting(world)
    boss = await world.register(PrincipalKind.USER, "boss")
    root = await granting.issued(world.agent, subject=boss.ref, **TO_PROPOSE)
    child = await granting.exchanged(root, world.user)

    # when the agent and then the user propose by it, then both are agent output, and the record says by whom it came
    by_agent = await world.proposed(by=world.agent, grant=root.alone)
    by_user = await world.proposed(by=world.user, grant=child.presented)
    assert by_agent.revision.actor_chain == (world.agent.ref,)
    assert by_user.revision.actor_chain == (world.agent.ref, world.user.ref)
    for proposal in (by_agent, by_user):
        assert proposal.revision.provenance is Provenance.AGENT_OUTPUT
        assert proposal.revision.subject == boss.ref
        assert await found(world, proposal) == proposal
    # and without it the user's claim is its own
    assert (await world.proposed(by=world.user)).revision.actor_chain == ()


async def test_a_grant_stands_in_place_of_ones_own_right_and_goes_no_further(world: World) -> None:
    # given an agent without any right, and grants of the user's, and of a subject that may not propose
    granting = Granting(world)
    agent = await world.register(PrincipalKind.AGENT, "helper", frozenset())
    grant = await granting.issued(agent, subject=world.user.ref, **TO_PROPOSE)
    elsewhere = await granting.issued(agent, subject=world.user.ref, **TO_PROPOSE | {"write_memory_namespaces": ()})
    other = await granting.issued(agent, subject=world.user.ref, **TO_PROPOSE | {"actions": ("memory.recall",)})
    powerless = await granting.issued(agent, subject=world.admin.ref, **TO_PROPOSE)

    assert reason_of(await world.propose(by=agent)) is Reason.NOT_ALLOWED
    assert reason_of(await world.propose(by=agent, grant=grant.alone)) is None
    # then each block must allow it, its holder presents it, and its subject may do it itself now
    for wrong, dimension in ((elsewhere, "write_memory_namespaces"), (other, "actions")):
        refused = await world.propose(by=agent, grant=wrong.alone)
        assert refused == Refusal(Reason.GRANT_EXCEEDED, {"dimension": dimension})
    assert reason_of(await world.propose(by=world.agent, grant=grant.alone)) is Reason.HOLDER_MISMATCH
    assert reason_of(await world.propose(by=agent, grant=powerless.alone)) is Reason.NOT_ALLOWED
    # and the subject's end, or the grant's, ends it
    must(await granting.revoke(grant, by=world.admin))
    assert reason_of(await world.propose(by=agent, grant=grant.alone)) is Reason.REVOKED


async def test_e22_what_making_it_cost_is_within_every_block_of_the_grant(world: World) -> None:
    # given a proposal that cost 7 tokens and 5 millionths, and grants for as much and for less of either
    granting = Granting(world)
    agent = await world.register(PrincipalKind.AGENT, "helper", frozenset())
    costs = (Cost("extraction", "m", 3, 0, 2), Cost("critique", "m", 2, 2, 3))
    for allowed, dimension in (
        ({"tokens": 7, "usd_micros": 5}, None),
        ({"tokens": 6, "usd_micros": 5}, "tokens"),
        ({"tokens": 7, "usd_micros": 4}, "usd_micros"),
    ):
        grant = await granting.issued(agent, subject=world.user.ref, **TO_PROPOSE, **allowed)
        # then it is proposed under what allows both
        answer = await world.propose(by=agent, grant=grant.alone, costs=costs)
        refused = Refusal(Reason.GRANT_EXCEEDED, {"dimension": dimension}) if dimension else None
        assert (answer if isinstance(answer, Refusal) else None) == refused


async def test_i16_a_grants_subject_decides_nothing_that_was_proposed_for_it(world: World) -> None:
    # given a proposal of an agent in the name of a user who may decide
    granting = Granting(world)
    grant = await granting.issued(world.agent, subject=world.user.ref, **TO_PROPOSE)
    proposal = await world.validated(by=world.agent, grant=grant.alone)
    # then that user is as little a second person as the agent is, and another person is one
    assert reason_of(await world.approve(proposal, by=world.user)) is Reason.NOT_ALLOWED
    assert reason_of(await world.approve(proposal, by=world.admin)) is None


async def test_evidence_is_read_under_a_grant_once_it_is_approved(world: World) -> None:
    # given an agent without rights, a grant to read evidence for a service, and evidence pending and approved
    granting = Granting(world)
    agent = await world.register(PrincipalKind.AGENT, "helper", frozenset())
    to_read = {"actions": ("evidence.read",), "resources": ("evidence/*",)}
    grant = (await granting.issued(agent, **to_read)).alone
    pending, good = await kept(world, b"pending"), await approved(world, b"good")
    private = await approved(world, b"private", visibility=Visibility.PRIVATE)
    subjects = await approved(world, b"the subject's own", by=world.service, visibility=Visibility.PRIVATE)
    own = await approved(world, b"the reader's own", by=agent, visibility=Visibility.PRIVATE)

    assert reason_of(await read(world, good.digest, agent)) is Reason.NOT_ALLOWED
    assert must(await read(world, good.digest, agent, grant=grant)).state is EvidenceState.APPROVED
    # then it reads what its subject may see, be it private, and under the grant nothing that only the reader may
    assert must(await read(world, subjects.digest, agent, grant=grant)).content == b"the subject's own"
    assert reason_of(await read(world, own.digest, agent, grant=grant)) is Reason.NOT_FOUND
    # then nothing else opens: what waits, what is another's, what is not there, what the grant does not name
    for digest in (pending.digest, private.digest, digest_of(b"nothing")):
        assert reason_of(await read(world, digest, agent, grant=grant)) is Reason.NOT_FOUND
    narrow = (await granting.issued(agent, **to_read | {"resources": (f"evidence/sha256:{bytes(32).hex()}",)})).alone
    refused = await read(world, good.digest, agent, grant=narrow)
    assert refused == Refusal(Reason.GRANT_EXCEEDED, {"dimension": "resources"})
    # and not by a subject that may not read, be it a decider of all that waits
    decider = await world.register(PrincipalKind.USER, "decider", frozenset({Right.DECIDE}))
    by_decider = (await granting.issued(agent, subject=decider.ref, **to_read)).alone
    assert reason_of(await read(world, good.digest, agent, grant=by_decider)) is Reason.NOT_ALLOWED


async def test_what_was_proposed_under_a_grant_is_withdrawn_by_its_proposer(world: World) -> None:
    grant = await Granting(world).issued(world.agent, subject=world.user.ref, **TO_PROPOSE)
    proposal = await world.proposed(by=world.agent, grant=grant.alone)
    assert reason_of(await withdraw(world, proposal, by=world.user)) is Reason.NOT_FOUND
    assert not must(await withdraw(world, proposal, by=world.agent)).replayed


async def found(world: World, proposal: StoredProposal) -> StoredProposal | None:
    """The revision as it is kept."""
    return await world.authority.store.proposals.get(world.tenant, proposal.revision.proposal_id, 0)
