"""The database orders the reasons that it judges as the domain does."""

import re
from importlib import resources

from authority.domain.reasons import Reason


def ranked() -> list[str]:
    """The reasons in the array of the function `reason_rank`."""
    functions = resources.files("authority.postgres").joinpath("functions")
    text = functions.joinpath("04_reason_rank.sql").read_text("utf-8")
    array = re.search(r"array\[(.*?)\]", text, re.DOTALL)
    assert array
    return re.findall(r"'(\w+)'", array[1])


def test_reason_rank_is_the_domains_order() -> None:
    known = [reason.name for reason in Reason]
    assert set(ranked()) <= set(known)
    assert ranked() == [name for name in known if name in ranked()]


def test_reason_rank_knows_every_reason_below_settled_that_a_plan_can_meet() -> None:
    # given everything between what is answered before the claim is looked at, and what only load or faults answer
    reasons = list(Reason)
    below = reasons[reasons.index(Reason.IN_PROGRESS) + 1 : reasons.index(Reason.BUDGET_EXHAUSTED)]
    # and what is carried for a bearer token, which may have a replay and commits nothing new
    assert ranked() == [reason.name for reason in (Reason.HOLDER_MISMATCH, *below, Reason.NOT_FOUND)]


def test_the_commit_function_answers_with_ranked_reasons_alone() -> None:
    # given the reasons that the function itself names
    functions = resources.files("authority.postgres").joinpath("functions")
    text = re.sub(r"--.*", "", functions.joinpath("06_commit.sql").read_text("utf-8"))
    named = set(re.findall(r"'([A-Z][A-Z_]+)'", text))
    assert named <= set(ranked()) | {"UTC"}, "an unranked reason would answer last, by chance"
    assert "KEY_REVOKED" in named
