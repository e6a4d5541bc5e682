"""The table of remedies, the statuses that callers get, and the error table of ARCHITECTURE.md say the same."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from authority.domain.reasons import Reason
from authority.domain.remedies import NEW_PROOF, NO, REMEDIES
from authority.rpc.errors import TABLE

ROOT = Path(__file__).parents[2]


def documented() -> dict[str, tuple[str, str]]:
    """Of each reason in the architecture's table its code, and whether to make the call again."""
    section = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## Errors")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return {
        reason: (code, again)
        for _, code, reasons, again in rows[2:]
        for reason in re.findall(r"\b[A-Z]+(?:_[A-Z]+)*\b", reasons)
    }


def test_the_documented_table_has_the_reasons_in_their_order() -> None:
    assert [name for name in documented() if name in Reason.__members__] == [reason.name for reason in Reason]


@pytest.mark.parametrize("reason", Reason, ids=lambda reason: reason.name)
def test_a_reason_is_documented_with_its_code_and_whether_to_ask_again(reason: Reason) -> None:
    code, again = documented()[reason.name]

    assert code == TABLE[reason].code.name
    assert again == REMEDIES[reason].again


@pytest.mark.parametrize("reason", Reason, ids=lambda reason: reason.name)
def test_a_remedy_is_in_sentences_and_agrees_with_what_callers_are_told(reason: Reason) -> None:
    remedy = REMEDIES[reason]

    assert all(re.fullmatch(r"[A-Z].*\.", text) for text in (remedy.causes, remedy.do))
    assert (remedy.again not in (NO, NEW_PROOF)) == (TABLE[reason].retry_after_ms is not None)


def test_the_remedies_stand_in_the_order_of_the_reasons() -> None:
    assert list(REMEDIES) == list(Reason)


def told() -> Iterator[tuple[str, str]]:
    """Each reason with each fact that the code gives it where it refuses."""
    for file in (ROOT / "authority").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name(id="Refusal"),
                    args=[ast.Attribute(value=ast.Name(id="Reason"), attr=reason), ast.Dict(keys=keys)],
                ):
                    yield from ((reason, str(key.value)) for key in keys if isinstance(key, ast.Constant))


def test_a_remedy_names_every_fact_that_a_refusal_tells() -> None:
    found = set(told())

    assert len(found) > 10
    assert [(reason, fact) for reason, fact in found if fact not in REMEDIES[Reason[reason]].facts] == []
