"""Where SQL must repeat the states of proposals, it repeats those of the domain's table."""

import re
from importlib import resources

from authority.domain.proposal import ProposalState
from authority.domain.proposal_states import COMMITTABLE, UNEXPIRING

STORED = set(ProposalState) - {ProposalState.SUPERSEDED, ProposalState.EXPIRED}
"""The others are reckoned when a revision is read."""


def listed(name: str, pattern: str) -> set[ProposalState]:
    """The states in the one list that the pattern finds in the file."""
    text = resources.files("authority.postgres").joinpath(name).read_text(encoding="utf-8")
    (found,) = re.findall(pattern, text, re.DOTALL)
    return {ProposalState(word) for word in re.findall(r"'(\w+)'", found)}


def test_the_schema_knows_every_state_that_is_stored() -> None:
    found = listed("migrations/0011.proposals_and_evidence.sql", r"check \(state in\s+(\([^)]*'withdrawn'[^)]*\))")
    assert found == STORED


def test_the_schema_lets_nothing_follow_what_has_ended() -> None:
    found = listed("migrations/0011.proposals_and_evidence.sql", r"when \(old\.state in (\([^)]*\))")
    assert found == UNEXPIRING & STORED


def test_the_commit_function_commits_what_the_table_lets_be_committed() -> None:
    found = listed("functions/06_commit.sql", r"when h\.state not in (\([^)]*\)) then 'NOT_VALIDATED'")
    assert found == COMMITTABLE | {ProposalState.COMMITTED}, "what is committed is told so, by a lower reason"


def test_sql_lets_expire_what_the_table_lets_expire() -> None:
    for name in ("functions/06_commit.sql", "queries/proposals.sql"):
        assert listed(name, r"and h\.state not in (\('committed', 'withdrawn'\))") == UNEXPIRING & STORED
