"""The model test: the whole authority answers as the model foretells, over dicts and over real servers.

That the test can fail is tested too: it finds every mutant of the authority over dicts, and of the functions of the
database, by the rules that concern what is wrong with it.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import CommitMachine, playing
from tests.model.mutants import MUTANTS
from tests.model.player import Disagreement
from tests.model.real_stage import RealStage
from tests.model.sql_mutants import SQL_MUTANTS, install
from tests.model.stages import InProcessStage, Stage

# A failure is shrunk to the fewest steps, but not explained line by line: the steps say it.
_PLAY = settings(suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate, Phase.shrink])
_FIND = settings(
    _PLAY,
    phases=[Phase.generate],
    derandomize=True,
    report_multiple_bugs=False,
    max_examples=200,
    stateful_step_count=10,
)


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    """A folder of keys for each run."""
    return (tmp_path / f"keys-{number}" for number in count(1))


def play(open_stage: Callable[[], Stage], how: settings, machine: type[CommitMachine] = CommitMachine) -> None:
    opened = partial(machine, open_stage)
    run_state_machine_as_test(opened, settings=how)  # type: ignore[arg-type]  # it may be any factory, says its manual


@pytest.mark.timeout(600)
def test_the_authority_over_dicts_does_what_the_model_foretells(folders: Iterator[Path]) -> None:
    how = settings(_PLAY, max_examples=150, stateful_step_count=40)
    play(lambda: InProcessStage(next(folders)), how)


@pytest.mark.timeout(600)
def test_the_authority_over_real_servers_does_what_the_model_foretells(
    folders: Iterator[Path], module_database: str, redis_url: str
) -> None:
    how = settings(_PLAY, max_examples=15, stateful_step_count=30)
    play(lambda: RealStage(next(folders), module_database, redis_url), how)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_found(mutant: str, folders: Iterator[Path]) -> None:
    machine = playing(MUTANTS[mutant].rules)
    with pytest.raises(Disagreement):
        play(lambda: InProcessStage(next(folders), MUTANTS[mutant].open_store), _FIND, machine)


@pytest.mark.parametrize("mutant", SQL_MUTANTS)
def test_a_mutant_of_a_function_of_the_database_is_found(
    mutant: str, folders: Iterator[Path], fresh_database: str, redis_url: str
) -> None:
    install(SQL_MUTANTS[mutant], fresh_database)
    machine = playing(SQL_MUTANTS[mutant].rules)
    with pytest.raises(Disagreement):
        play(lambda: RealStage(next(folders), fresh_database, redis_url), _FIND, machine)
