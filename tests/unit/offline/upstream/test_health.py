"""Health of an integration: what five dimensions, each known by itself, come to (ADR-328 section 3)."""

from collections import Counter
from itertools import product

from capability_authority.offline.upstream import Availability, Check, Health, IdentityCheck, availability

EVERY = [
    Health(identity=identity, configured=configured, reachable=reachable, healthy=healthy, authorized=authorized)
    for identity, configured, reachable, healthy, authorized in product(IdentityCheck, Check, Check, Check, Check)
]


def test_every_combination_comes_to_one_word() -> None:
    counted = Counter(availability(health) for health in EVERY)

    assert counted == {
        Availability.BLOCKED: 162,
        Availability.UNAVAILABLE: 114,
        Availability.AVAILABLE: 1,
        Availability.DEGRADED: 47,
    }


def test_adr328_02_a_valid_claim_with_an_unreachable_service_is_unavailable() -> None:
    claimed = [
        health
        for health in EVERY
        if health.identity is IdentityCheck.VERIFIED and health.authorized is Check.YES and health.reachable is Check.NO
    ]

    assert len(claimed) == 9
    assert {availability(health) for health in claimed} == {Availability.UNAVAILABLE}


def test_adr328_03_a_healthy_service_with_a_denied_action_is_blocked() -> None:
    denied = [health for health in EVERY if health.healthy is Check.YES and health.authorized is Check.NO]

    assert len(denied) == 36
    assert {availability(health) for health in denied} == {Availability.BLOCKED}


def test_what_is_unknown_is_never_available() -> None:
    unknown = [
        health
        for health in EVERY
        if Check.UNKNOWN in (health.configured, health.reachable, health.healthy, health.authorized)
        or health.identity is IdentityCheck.UNKNOWN
    ]

    assert Availability.AVAILABLE not in {availability(health) for health in unknown}
