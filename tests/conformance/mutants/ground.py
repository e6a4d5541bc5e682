"""Where mutants are served and judged: one PostgreSQL and one Valkey for all of them, a database for each.

Every database is a copy of one that a sound authority has migrated, furnished and provisioned; in it stand the mutant's
own functions and rights. What is served is a real process of `authority serve` on the copied package.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final

import psycopg

from authority.embedded import PostgresServer
from capability_authority_conformance.cli import main as conformance
from tests.conformance.mutants.table import ROOT, Mutant, PackageCopy
from tests.installation.installation import Installation
from tests.real_servers import new_database

AUTHORITY: Final = str(Path(sys.executable).with_name("authority"))
SUITES: Final = ROOT / "conformance" / "suites"
WITHIN_S: Final = 60.0


class NotJudged(AssertionError):
    """A copy of the authority does not even start, or the suite finds nothing to judge there: what was written."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the suite says of one target."""

    code: int
    failed: dict[str, str]
    """Cases that failed, each with the steps that led there, what was asked for and what came."""
    passed: frozenset[str]
    said: str
    """Everything that the runner printed."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What all mutants share. `database` is the URL of the one that is copied; nobody is connected to it."""

    postgres: PostgresServer
    redis_url: str
    folder: Path
    database: str

    @property
    def keys(self) -> Path:
        """The suite's keys."""
        return self.folder / "suite"

    @classmethod
    @contextmanager
    def laid(cls, postgres: PostgresServer, redis_url: str, folder: Path) -> Iterator["Ground"]:
        """The ground, made by a sound authority with its own commands."""
        with new_database(postgres) as database:
            ground = cls(postgres, redis_url, folder, database)
            asyncio.run(Installation(database, redis_url, folder).furnish())
            assert conformance(["set-up", "--keys", str(ground.keys)]) == 0
            _run(["provision", str(ground.keys / "setup.json")], ground.settings(database))
            yield ground

    def settings(self, database: str) -> dict[str, str]:
        """What processes on a database find in their environment, and nothing else of an authority."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("AUTHORITY_")}
        settings = Installation(database, self.redis_url, self.folder).settings()
        return {**ours, **settings, "AUTHORITY_ADMIN_DATABASE_URL": database, "AUTHORITY_AUDIENCE": "ruflo.memory"}

    @contextmanager
    def served(self, mutant: Mutant | None) -> Iterator[str]:
        """Where a copy of the authority is served for as long as the block lasts: broken, or as it should be."""
        folder = self.folder / (mutant.slug if mutant else "sound")
        folder.mkdir()
        copy = PackageCopy.made(folder, mutant)
        with new_database(self.postgres, template=self.database.rpartition("/")[2]) as database:
            settings = {**self.settings(database), "PYTHONPATH": str(copy.path)}
            for text in mutant.sql() if mutant else ():
                with psycopg.connect(database, autocommit=True) as connection:
                    connection.execute(text.encode())  # As `authority migrate` does, in a tenth of its time.
            with _serving(settings, folder) as target:
                yield target

    def judge(self, target: str, only: Sequence[str] = ()) -> Judged:
        """Runs the suite, or some of its cases, against a target."""
        report, said = self.folder / "report.json", StringIO()
        report.unlink(missing_ok=True)
        arguments = ["run", "--target", target, "--keys", str(self.keys), "--report-json", str(report)]
        if only:
            arguments += ["--suites", str(self._suites({case.partition("/")[0] for case in only}))]
        with redirect_stdout(said), redirect_stderr(said):
            code = conformance([*arguments, *(word for case in only for word in ("--only", case))])
        if code not in (0, 1):
            raise NotJudged(said.getvalue())
        cases = json.loads(report.read_text(encoding="utf-8"))["cases"]
        return Judged(
            code,
            {case["name"]: _told(case["failure"]) for case in cases if case["verdict"] == "failed"},
            frozenset(case["name"] for case in cases if case["verdict"] == "passed"),
            said.getvalue(),
        )

    def _suites(self, names: AbstractSet[str]) -> Path:
        """A folder with these suites and what they use: reading all of them takes longer than most cases."""
        folder = Path(tempfile.mkdtemp(prefix="suites-", dir=self.folder))
        for name in {*names, "procedures"}:
            (folder / f"{name}.yaml").symlink_to(SUITES / f"{name}.yaml")
        return folder


def _told(failure: dict[str, Any]) -> str:
    return "\n".join([*failure["steps"], *failure["expected"], *failure["got"]])


def _run(arguments: Sequence[str], settings: dict[str, str]) -> None:
    done = subprocess.run(
        [AUTHORITY, *arguments], env=settings, capture_output=True, text=True, check=False, timeout=WITHIN_S
    )
    if done.returncode:
        raise NotJudged(f"authority {' '.join(arguments)}: {done.stderr}")


@contextmanager
def _serving(settings: dict[str, str], folder: Path) -> Iterator[str]:
    log = folder / "service.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [AUTHORITY, "serve", "--listen", "127.0.0.1:0", "--json", "--until-input-ends"],
            env=settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise NotJudged(log.read_text(encoding="utf-8"))
            yield json.loads(line)["address"]
        finally:
            process.kill()  # Its database goes with it: there is nothing to end in order.
