"""Who could not judge is asked again, and nobody else; not without end, and never without a note."""

from capability_authority_conformance.running.asking import UNJUDGED, Ask, asked_until, judged
from capability_authority_conformance.target.outcome import Outcome

BUSY = [Outcome(reason, "UNAVAILABLE") for reason in sorted(UNJUDGED)]
DENIED = Outcome("NOT_ALLOWED", "PERMISSION_DENIED")


def answering(*outcomes: Outcome) -> tuple[Ask, list[Outcome]]:
    """Answers with these, the last again and again; what was answered so far."""
    told: list[Outcome] = []

    async def ask() -> Outcome:
        told.append(outcomes[min(len(told), len(outcomes) - 1)])
        return told[-1]

    return ask, told


async def test_what_judges_nothing_is_asked_again_and_noted() -> None:
    ask, told = answering(*BUSY, DENIED)
    noted: list[str] = []

    assert await judged(ask, frozenset({"OK"}), noted.append) == DENIED

    assert told == [*BUSY, DENIED]
    assert noted == [BUSY[0].reason]


async def test_an_answer_is_not_asked_for_again_nor_one_that_the_case_is_about() -> None:
    noted: list[str] = []
    for outcome in (DENIED, *BUSY):
        ask, told = answering(outcome, DENIED)
        assert await judged(ask, frozenset({outcome.reason}), noted.append) == outcome
        assert told == [outcome]
    assert noted == []


async def test_what_never_holds_is_asked_until_the_time_is_over() -> None:
    ask, told = answering(DENIED)

    assert await asked_until(lambda _: False, ask, BUSY[0], seconds=0.1) == DENIED
    assert told
    told.clear()

    assert await asked_until(lambda _: False, ask, BUSY[0], seconds=0) == BUSY[0]
    assert await asked_until(lambda _: True, ask, BUSY[0], seconds=10) == BUSY[0]
    assert told == []
