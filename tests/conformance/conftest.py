"""Runs of small suites against targets of the tests."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from capability_authority_conformance.commands import Wishes, run
from capability_authority_conformance.set_up import make_set_up

SUITE = """
name: small
about: Two calls.
cases:
- name: a-key-set
  holds: There is a key set.
  covers: [nothing]
  steps:
  - say: when nobody asks for the key set
    call: {rpc: GetKeySet, as: nobody}
- name: a-proposal
  holds: There is a proposal.
  covers: [nothing]
  steps:
  - say: when an agent proposes
    call: {rpc: CreateProposal, as: agent, request: {request_id: "${case}"}}
"""


@dataclass(frozen=True)
class Ran:
    """What a run came to, as its caller sees it."""

    code: int
    out: str
    err: str
    report: Any

    @property
    def last_line(self) -> str:
        return self.out.splitlines()[-1]


Runs = Callable[..., Awaitable[Ran]]


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_set_up(tmp_path_factory.mktemp("conformance") / "keys").parent


@pytest.fixture
def runs(keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Runs:
    """Runs a suite, the one above if none is given, against a target."""

    async def ran(target: str | None, suite: str = SUITE, **wishes: Any) -> Ran:
        (tmp_path / "small.yaml").write_text(suite)
        report = tmp_path / "report.json"
        capsys.readouterr()
        code = await run(
            Wishes(
                **{
                    "target": target,
                    "serve": None,
                    "keys": keys,
                    "report_json": report,
                    "jobs": 1,
                    "call_timeout_s": 15.0,
                    "time_limit_s": 60.0,
                    "suites": tmp_path,
                    **wishes,
                }
            )
        )
        out, err = capsys.readouterr()
        return Ran(code, out, err, json.loads(report.read_text()))

    return ran
