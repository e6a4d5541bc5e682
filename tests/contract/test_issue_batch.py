"""Many capabilities in one call: an outcome of its own for each, in order, as if one were asked after the other."""

from dataclasses import replace

import pytest

from authority.domain import limits
from authority.domain.identity import PrincipalKind, Right
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal, malformed
from authority.domain.statement import Statement
from authority.usecases.ports import DependencyUnavailable, IssuedCapability
from tests.world.world import PERMIT_ALL, Allowed, Issued, World, all_are, must, reason_of

OTHER_REQUEST = Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "request_id"})
OTHER_KEY = Refusal(Reason.IDEMPOTENCY_CONFLICT, {"field": "commit_idempotency_key"})
LIFETIME_MS = limits.CAPABILITY_LIFETIME_DEFAULT_MS


def issued(answer: IssuedCapability | Refusal) -> IssuedCapability:
    """The answer, when it is a capability."""
    return must(answer)


async def test_each_item_has_its_outcome_in_order(world: World) -> None:
    # given items that are good, live already, for another audience, of a bad shape, about nothing, and committed
    ground = await world.allowed()
    live = must(await world.issue(ground, "live"))
    _, committed = await world.committed(key="done")
    elsewhere = replace(world.terms(ground, "elsewhere"), audience="memory.elsewhere")
    revision = replace(ground.revision, proposal_id=world.authority.ids.new())
    about_nothing = replace(ground, proposal=replace(ground.proposal, revision=revision))
    shape = malformed("request_id", "required")
    # when they are asked for together
    answers = must(
        await world.issue_batch(
            [
                world.terms(ground, "first"),
                world.terms(ground, "live"),
                elsewhere,
                shape,
                world.terms(about_nothing, "nothing"),
                world.terms(await world.allowed(), "done"),
                world.terms(ground, "last"),
            ]
        )
    )
    # then each is answered as it would be alone
    assert not issued(answers[0]).replayed
    assert answers[1] == IssuedCapability(live.capability, replayed=True)
    assert answers[2] == Refusal(Reason.BINDING_MISMATCH, {"term": "audience"})
    assert answers[3] == shape
    assert answers[4] == Refusal(Reason.NOT_FOUND, {"field": "proposal_id"})
    assert answers[5] == OTHER_KEY
    assert not issued(answers[6]).replayed
    assert answers[0] != answers[6]
    assert committed.receipt.receipt_id


async def test_what_is_issued_together_can_be_committed(world: World) -> None:
    grounds = [await world.allowed() for _ in range(3)]
    batch = [world.terms(ground, f"k{number}") for number, ground in enumerate(grounds)]
    for answer, asked in zip(must(await world.issue_batch(batch)), batch, strict=True):
        must(await world.commit(Issued(asked.ground, issued(answer).capability, world.service)))
    assert await world.counts() == all_are(3)


async def test_i17_the_same_request_twice_gets_the_same_bytes(world: World) -> None:
    # given one request twice in a batch, under one request id
    asked = world.terms(await world.allowed(), "k", request_id="r")
    first, twin = must(await world.issue_batch([asked, asked]))
    # then the first is new, its twin finds it, and so does whoever asks later
    assert (issued(first).replayed, issued(twin).replayed) == (False, True)
    assert issued(first).capability == issued(twin).capability
    [later] = must(await world.issue_batch([asked]))
    assert later == twin


async def test_i17_twins_under_request_ids_of_their_own_use_both(world: World) -> None:
    # given one claim under two request ids
    ground = await world.allowed()
    batch = [world.terms(ground, "k", request_id="one"), world.terms(ground, "k", request_id="two")]
    first, twin = must(await world.issue_batch(batch))
    assert issued(first).capability == issued(twin).capability
    assert (issued(first).replayed, issued(twin).replayed) == (False, True)
    # then either id stands for that request from now on
    for request_id in ("one", "two"):
        assert await world.issue(ground, "another", request_id=request_id) == OTHER_REQUEST


async def test_i17_of_one_key_for_several_things_the_first_has_it(world: World) -> None:
    one, other = await world.allowed(), await world.allowed()
    batch = [world.terms(one, "k"), world.terms(other, "k"), world.terms(one, "k"), world.terms(other, "k")]
    answers = must(await world.issue_batch(batch))
    assert issued(answers[0]).capability == issued(answers[2]).capability
    assert (answers[1], answers[3]) == (OTHER_KEY, OTHER_KEY)


async def test_i17_of_one_request_id_for_several_things_the_first_has_it(world: World) -> None:
    # given an id used for two keys, and the second key asked for once more under an id of its own
    ground = await world.allowed()
    batch = [
        world.terms(ground, "one", request_id="r"),
        world.terms(ground, "two", request_id="r"),
        world.terms(ground, "two", request_id="s"),
    ]
    first, second, third = must(await world.issue_batch(batch))
    assert not issued(first).replayed
    assert second == OTHER_REQUEST
    assert not issued(third).replayed


async def test_what_is_refused_before_its_twin_leaves_it_everything(world: World) -> None:
    # given a first item that is refused, under the key and the request id of a good one
    ground = await world.allowed()
    refused = replace(world.terms(ground, "k", request_id="r"), audience="memory.elsewhere")
    good = world.terms(ground, "k", request_id="r")
    answers = must(await world.issue_batch([refused, good, refused]))
    # then the good one has both, and what comes after it is another request under its id
    assert reason_of(answers[0]) is Reason.BINDING_MISMATCH
    assert not issued(answers[1]).replayed
    assert answers[2] == OTHER_REQUEST


async def test_a_refused_item_uses_up_neither_its_key_nor_its_request_id(world: World) -> None:
    # given items refused for their key, their request id and their audience, beside good ones
    one, other = await world.allowed(), await world.allowed()
    must(await world.issue(one, "taken", request_id="taken"))
    batch = [
        world.terms(other, "taken", request_id="a"),
        world.terms(other, "b", request_id="taken"),
        replace(world.terms(other, "c", request_id="c"), audience="memory.elsewhere"),
        world.terms(other, "good"),
    ]
    answers = must(await world.issue_batch(batch))
    assert answers[:2] == [OTHER_KEY, OTHER_REQUEST]
    assert reason_of(answers[2]) is Reason.BINDING_MISMATCH
    assert not issued(answers[3]).replayed
    # then what they named is free
    for key, request_id in (("b", "a"), ("c", "c")):
        assert not must(await world.issue(one, key, request_id=request_id)).replayed


async def test_what_has_expired_is_issued_anew_once(world: World) -> None:
    # given a capability that has expired
    ground = await world.allowed()
    old = must(await world.issue(ground, "k", request_id="r"))
    world.authority.clock.advance(LIFETIME_MS)
    # when its key is asked for twice, the second time under the request id of the first capability
    batch = [world.terms(ground, "k"), world.terms(ground, "k", request_id="r")]
    first, twin = must(await world.issue_batch(batch))
    # then there is one new capability for both
    assert issued(first).capability == issued(twin).capability != old.capability
    assert (issued(first).replayed, issued(twin).replayed) == (False, True)


async def test_a_proposal_committed_meanwhile_has_no_more_capabilities(world: World) -> None:
    held, answer = await world.committed(key="k")
    settled = Refusal(Reason.ALREADY_COMMITTED, {"receipt_id": answer.receipt.receipt_id})
    answers = must(await world.issue_batch([world.terms(held.ground, "k"), world.terms(held.ground, "another")]))
    assert answers == [settled, settled]


async def test_i10_i13_receipts_are_judged_for_each_item(world: World) -> None:
    # given a ground, one with the validation of another proposal, and one whose validation a holder signed
    ground, other = await world.allowed(b"tea"), await world.allowed(b"tea")
    borrowed = replace(ground, validation=other.validation)
    forged = replace(ground, validation=replace(ground.validation, statement=forged_by_holder(world, ground)))
    batch = [world.terms(borrowed, "a"), world.terms(forged, "b"), world.terms(ground, "c")]
    answers = must(await world.issue_batch(batch))
    assert answers[0] == Refusal(Reason.BINDING_MISMATCH, {"term": "validation_receipt_digest"})
    assert answers[1] == Refusal(Reason.ISSUER_UNKNOWN)
    assert not issued(answers[2]).replayed


def forged_by_holder(world: World, ground: Allowed) -> Statement:
    """The validation receipt under the signature of a key that is no issuer's."""
    return replace(ground.validation.statement, key_id=world.service.key_id)


async def test_d01_a_receipt_that_breaks_the_reading_rule_is_refused_alone(world: World) -> None:
    ground = await world.allowed()
    broken = replace(ground.validation, statement=replace(ground.validation.statement, payload=b"\xff"))
    answers = must(
        await world.issue_batch([world.terms(replace(ground, validation=broken), "a"), world.terms(ground, "b")])
    )
    assert reason_of(answers[0]) is Reason.MALFORMED
    assert not issued(answers[1]).replayed


async def test_i09_each_item_is_judged_by_its_holder(world: World) -> None:
    # given a service that may commit and not issue
    committer = await world.register(PrincipalKind.SERVICE, "committer", frozenset({Right.COMMIT}))
    own, anothers = await world.allowed(holder=committer), await world.allowed()
    batch = [world.terms(anothers, "a"), world.terms(own, "b", holder=committer)]
    # when it asks for itself and for another, then it gets its own alone
    answers = must(await world.issue_batch(batch, by=committer))
    assert answers[0] == Refusal(Reason.NOT_ALLOWED, {"right": "issue"})
    assert not issued(answers[1]).replayed


async def test_i09_a_caller_that_may_neither_issue_nor_commit_fails_the_whole(world: World) -> None:
    ground = await world.allowed()
    refused = await world.issue_batch([world.terms(ground, "k"), malformed("request_id", "required")], by=world.agent)
    assert refused == Refusal(Reason.NOT_ALLOWED, {"right": "issue"})
    assert not must(await world.issue(ground, "k")).replayed


async def test_i12_a_changed_policy_refuses_new_ones_and_not_those_that_live(world: World) -> None:
    ground = await world.allowed()
    live = must(await world.issue(ground, "live"))
    version = await world.load(PERMIT_ALL)
    namespace = ground.revision.memory_namespace
    await world.authority.store.administration.activate_policy(world.tenant, namespace, version, world.now())
    answers = must(await world.issue_batch([world.terms(ground, "live"), world.terms(ground, "new")]))
    assert answers == [IssuedCapability(live.capability, replayed=True), Refusal(Reason.POLICY_DENIED)]


async def test_what_nobody_here_can_sign_is_unavailable_for_each(world: World) -> None:
    # given an authority whose one key for capabilities is revoked
    ground = await world.allowed()
    live = must(await world.issue(ground, "live"))
    administration = world.authority.store.administration
    await administration.revoke_issuer_key(live.capability.statement.key_id, None, world.now())
    await world.authority.learn_keys()
    # when capabilities are asked for, then each may be asked for again, and what is refused anyway is refused
    about_nothing = replace(ground.revision, proposal_id=world.authority.ids.new())
    absent = replace(ground, proposal=replace(ground.proposal, revision=about_nothing))
    answers = must(await world.issue_batch([world.terms(ground, "new"), world.terms(absent, "nothing")]))
    assert [reason_of(answer) for answer in answers] == [Reason.DEPENDENCY_UNAVAILABLE, Reason.NOT_FOUND]
    with pytest.raises(DependencyUnavailable):
        await world.issue(ground, "new")


async def test_five_hundred_and_twelve_go_in_one_call(world: World) -> None:
    # given sixty-four claims, each eight times
    ground = await world.allowed()
    batch = [world.terms(ground, f"k{number % 64}") for number in range(512)]
    answers = [issued(answer) for answer in must(await world.issue_batch(batch, within_s=30.0))]
    assert [answer.replayed for answer in answers] == [number >= 64 for number in range(512)]
    assert len({answer.capability.digest for answer in answers}) == 64
