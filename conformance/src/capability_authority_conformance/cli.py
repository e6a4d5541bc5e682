"""The command line: `run`, `set-up`, `list` and `lint`. Exit codes: 0 green, 1 a case failed, 2 no verdict."""

import argparse
import asyncio
import os
import select
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from capability_authority_conformance.commands import Wishes, run
from capability_authority_conformance.golden.lint import lint_vectors
from capability_authority_conformance.problems import SuiteMalformed, TargetUnusable
from capability_authority_conformance.reports.text import tell
from capability_authority_conformance.set_up import make_set_up
from capability_authority_conformance.written.lint import lint
from capability_authority_conformance.written.reading import data_folder, read_suites

__all__ = ["main"]

UNUSABLE: Final = 2
INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say; the exit code.

    Whatever stops it is no verdict, a defect of the suite itself among it: nobody may take that for a case that failed.
    """
    wishes = _parser().parse_args(arguments)
    try:
        return _done(wishes)
    finally:
        _mute_what_nobody_reads()


def _done(wishes: argparse.Namespace) -> int:
    try:
        code = int(wishes.command(wishes))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        tell("nobody read the report to its end")
        return UNUSABLE
    except (SuiteMalformed, TargetUnusable, OSError) as problem:
        tell(str(problem))
        return UNUSABLE
    except Exception:  # noqa: BLE001 - told in full, below
        tell(f"the conformance suite itself failed; please report this:\n{traceback.format_exc()}")
        return UNUSABLE
    return code


def _mute_what_nobody_reads() -> None:
    """Whatever is still written when Python ends would fail, and its exit code, 120, stand in place of ours."""
    for stream in (sys.stdout, sys.stderr):
        try:
            descriptor = stream.fileno()
        except (OSError, ValueError):
            continue  # It is no file: a caller in this process took its place.
        poll = select.poll()
        poll.register(descriptor, 0)
        if poll.poll(0):
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="capability-authority-conformance", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="run the cases against a target"))
    making = commands.add_parser("set-up", help="make the suite's keys, and the file that says what a target must hold")
    making.add_argument("--keys", type=Path, required=True, metavar="DIR", help="where; made again, the keys stay")
    making.set_defaults(command=_set_up)
    for name, command, says in (("list", _list, "name every case"), ("lint", _lint, "see whether all is well written")):
        other = commands.add_parser(name, help=says)
        other.add_argument("--suites", type=Path, default=None, metavar="DIR", help="suites in place of ours")
        other.set_defaults(command=command)
    return parser


def _add_run(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--target", metavar="HOST:PORT", help="what is served already")
    where.add_argument("--serve", metavar="COMMAND", help="serve it for the run: COMMAND gets the path of setup.json")
    parser.add_argument("--keys", type=Path, metavar="DIR", help="the suite's keys, as `set-up` made them")
    parser.add_argument("--tls-roots", type=Path, metavar="FILE", help="speak TLS; PEM of who may vouch for the server")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="suite, or suite/case-*")
    parser.add_argument("--known-failing", type=Path, metavar="FILE", help="lines of `suite/case-*  # reason`")
    parser.add_argument("--report-junit", type=Path, metavar="FILE", help="a report as JUnit XML")
    parser.add_argument("--report-json", type=Path, metavar="FILE", help="a report as JSON")
    parser.add_argument("--jobs", type=_positive, default=4, metavar="N", help="cases side by side (4)")
    parser.add_argument("--call-timeout", type=_seconds, default=15.0, metavar="S", help="of each call (15)")
    parser.add_argument("--time-limit", type=_seconds, default=600.0, metavar="S", help="of the whole run (600)")
    parser.add_argument("--suites", type=Path, metavar="DIR", help="suites in place of ours")
    parser.set_defaults(command=_run)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return number


def _run(wishes: argparse.Namespace) -> int:
    if wishes.target and wishes.keys is None:
        raise TargetUnusable("--target needs --keys DIR", "make them with `set-up --keys DIR`")
    for report in (wishes.report_junit, wishes.report_json):
        if report and not report.parent.is_dir():
            raise TargetUnusable(f"{report} cannot be written: there is no folder {report.parent}", "make it first")
    return asyncio.run(
        run(
            Wishes(
                target=wishes.target,
                serve=wishes.serve,
                keys=wishes.keys,
                tls_roots=wishes.tls_roots,
                only=wishes.only,
                known_failing=wishes.known_failing,
                report_junit=wishes.report_junit,
                report_json=wishes.report_json,
                jobs=wishes.jobs,
                call_timeout_s=wishes.call_timeout,
                time_limit_s=wishes.time_limit,
                suites=wishes.suites or data_folder("suites"),
            )
        )
    )


def _set_up(wishes: argparse.Namespace) -> int:
    setup = make_set_up(wishes.keys)
    print(f"{setup}: make a target so, then `run --target HOST:PORT --keys {wishes.keys}`")
    return 0


def _list(wishes: argparse.Namespace) -> int:
    for written in read_suites(wishes.suites or data_folder("suites")):
        for case in written.suite.cases:
            print(f"{written.suite.name}/{case.name}{'  (not yet)' if case.not_yet else ''}: {case.holds}")
    return 0


def _lint(wishes: argparse.Namespace) -> int:
    suites = read_suites(wishes.suites or data_folder("suites"))
    problems = lint(suites)
    if problems:
        raise SuiteMalformed(problems)
    for complaint in (complaints := lint_vectors(data_folder("vectors"))):
        print(complaint, file=sys.stderr)
    if complaints:
        return UNUSABLE
    print(f"{sum(len(written.suite.cases) for written in suites)} cases in {len(suites)} files are well written")
    return 0
