"""The suite proves itself: each deliberately broken authority fails the case meant for it, and a sound one passes."""

from collections.abc import Iterator

import pytest

from authority.embedded import PostgresServer
from tests.conformance.mutants.ground import Ground
from tests.conformance.mutants.table import Drifted, Edit, Mutant, mutants

MUTANTS = mutants()


@pytest.fixture(scope="module")
def ground(
    postgres_server: PostgresServer, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ground]:
    with Ground.laid(postgres_server, redis_url, tmp_path_factory.mktemp("mutants")) as laid:
        yield laid


def test_a_sound_copy_passes_every_case_that_is_meant_for_a_mutant(ground: Ground) -> None:
    cases = {mutant.case for mutant in MUTANTS}

    with ground.served(None) as target:
        judged = ground.judge(target, sorted(cases))

    assert judged.failed == {}
    assert judged.passed == cases


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.slug for mutant in MUTANTS])
def test_a_mutant_fails_the_case_that_is_meant_for_it(mutant: Mutant, ground: Ground) -> None:
    with ground.served(mutant) as target:
        judged = ground.judge(target, [mutant.case])

    assert mutant.is_caught_by(judged.failed), f"{mutant.breaks}\n{judged.said}"


def test_what_every_mutant_breaks_stands_where_it_stood() -> None:
    assert all(mutant.edited() for mutant in MUTANTS)


def test_every_mutant_is_another_one() -> None:
    assert len({mutant.slug for mutant in MUTANTS}) == len(MUTANTS)
    assert len({mutant.edits for mutant in MUTANTS}) == len(MUTANTS)
    assert all(mutant.at for mutant in MUTANTS)


@pytest.mark.parametrize("text", ["what stands nowhere", "import"])
def test_a_mutant_whose_text_drifted_is_noticed(text: str) -> None:
    edit = Edit(file="domain/verify.py", text=text, instead="")
    drifted = Mutant(name="drifted", breaks="nothing", edits=(edit,), case="a/b", at="there")

    with pytest.raises(Drifted, match=r"times, not once"):
        drifted.edited()
