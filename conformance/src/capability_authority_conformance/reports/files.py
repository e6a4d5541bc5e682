"""Reports for machines: JUnit XML and JSON. A run that did not end never looks like one that passed."""

import json
import re
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from capability_authority_conformance.reports.text import failure_details
from capability_authority_conformance.running.results import CaseResult, RunResult, Verdict

__all__ = ["write_json", "write_junit"]

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, result: RunResult) -> None:
    """Write JUnit XML: a testsuite a suite, and an error where the run did not end. Raises `OSError`."""
    root = ET.Element("testsuites", name="conformance", time=f"{result.seconds:.3f}")
    for suite in sorted({case.name.partition("/")[0] for case in result.cases}):
        cases = [case for case in result.cases if case.name.startswith(f"{suite}/")]
        element = ET.SubElement(root, "testsuite", name=suite, tests=str(len(cases)))
        for case in sorted(cases, key=lambda case: case.name):
            element.append(_testcase(case))
        for name, tag in (("failures", "failure"), ("skipped", "skipped")):
            element.set(name, str(len(element.findall(f"testcase/{tag}"))))
    if result.ended_by:
        element = ET.SubElement(root, "testsuite", name="run", tests="1", errors="1")
        ended = ET.SubElement(element, "testcase", classname="run", name="ended")
        ET.SubElement(ended, "error", message=_xml(result.ended_by))
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def write_json(path: Path, result: RunResult) -> None:
    """Write everything as one JSON document. Raises `OSError`."""
    document = {
        "target": result.target,
        "issuer": result.issuer,
        "seconds": round(result.seconds, 3),
        "complete": not result.ended_by,
        "ended_by": result.ended_by,
        "passed": result.count(Verdict.PASSED),
        "failed": result.failed,
        "not_yet": result.count(Verdict.NOT_YET),
        "known_failing": result.count(Verdict.KNOWN_FAILING),
        "asked_again": dict(sorted(result.asked_again.items())),
        "cases": [_case(case) for case in sorted(result.cases, key=lambda case: case.name)],
    }
    # Half a surrogate pair, as a name on a command line can have it, is written as JSON's own escape of it.
    text = json.dumps(document, indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace")


def _testcase(case: CaseResult) -> ET.Element:
    suite, _, name = case.name.partition("/")
    element = ET.Element("testcase", classname=suite, name=name, time=f"{case.seconds:.3f}")
    match case.verdict:
        case Verdict.FAILED:
            failure = ET.SubElement(element, "failure", message=_xml(case.holds))
            failure.text = _xml("\n".join(failure_details(case)))
        case Verdict.UNEXPECTEDLY_PASSED:
            ET.SubElement(element, "failure", message=_xml(f"passed, though listed as failing: {case.reason}"))
        case Verdict.NOT_YET | Verdict.KNOWN_FAILING:
            ET.SubElement(element, "skipped", message=_xml(f"{case.verdict.value}: {case.reason}"))
        case Verdict.PASSED:
            pass
    return element


def _case(case: CaseResult) -> dict[str, object]:
    told: dict[str, object] = {
        "name": case.name,
        "holds": case.holds,
        "verdict": case.verdict.name.lower(),
        "seconds": round(case.seconds, 3),
    }
    if case.reason:
        told["reason"] = case.reason
    if case.failure is not None:
        told["failure"] = {
            "steps": case.failure.trail,
            "asked": case.failure.request,
            "expected": case.failure.expected,
            "got": case.failure.got,
        }
    return told


def _xml(text: str) -> str:
    """Without the characters that XML cannot hold: an answer may hold any."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
