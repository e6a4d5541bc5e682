"""`authority explain`: every reason, by its name and near it, for people and for machines."""

import pytest

from authority.domain.reasons import Reason
from authority.domain.remedies import REMEDIES
from tests.installation.documented import Example, examples
from tests.unit.cli.running import ran

SHOWN = examples("docs/inspecting.md", "What does a reason mean?")


@pytest.mark.parametrize("example", SHOWN, ids=lambda example: example.command)
def test_it_prints_what_the_documentation_shows(capsys: pytest.CaptureFixture[str], example: Example) -> None:
    done = ran(capsys, *example.arguments())

    assert example.difference(done.out + done.err) == ""


@pytest.mark.parametrize("reason", Reason, ids=lambda reason: reason.name)
def test_every_reason_is_explained(capsys: pytest.CaptureFixture[str], reason: Reason) -> None:
    told, document = ran(capsys, "explain", reason.name), ran(capsys, "explain", reason.name, "--json").document

    assert told.code == 0
    assert all(text in told.out for text in (reason.value, REMEDIES[reason].causes, REMEDIES[reason].do))
    assert (document["reason"], document["remedy"]) == (reason.name, REMEDIES[reason].do)


@pytest.mark.parametrize("written", ["binding_mismatch", "Binding-Mismatch", "ERROR_REASON_BINDING_MISMATCH"])
def test_a_reason_is_found_however_it_is_written(capsys: pytest.CaptureFixture[str], written: str) -> None:
    assert ran(capsys, "explain", written, "--json").document["reason"] == "BINDING_MISMATCH"


def test_the_list_has_them_all_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    names = [line.split()[0] for line in ran(capsys, "explain", "--list").out.splitlines()[1:]]

    assert names == [reason.name for reason in Reason]
    assert [row["reason"] for row in ran(capsys, "explain", "--list", "--json").document] == names


@pytest.mark.parametrize("written", ["", "POLICY", "\x1b[31mred"])
def test_what_is_no_reason_is_refused_with_a_remedy(capsys: pytest.CaptureFixture[str], written: str) -> None:
    done = ran(capsys, "explain", written)

    assert done.code == 2
    assert "`authority explain --list`" in done.sentence
    assert "\x1b" not in done.err
