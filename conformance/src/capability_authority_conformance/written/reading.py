"""From the YAML of a suite to its message, strictly: what the schema does not know is refused, with its line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from google.protobuf.json_format import ParseDict, ParseError

from capability_authority_conformance.problems import Problem, SuiteMalformed
from capability_authority_conformance.v1.suite_pb2 import Suite
from capability_authority_conformance.values import Json, members_of
from capability_authority_conformance.written.schema import misshapes
from capability_authority_conformance.written.strict_yaml import Document, YamlRefused, read_yaml

__all__ = ["PROCEDURES", "WrittenSuite", "data_folder", "read_suites"]

PROCEDURES: Final = "procedures"
"""The file whose procedures every suite may use; it has no cases."""


@dataclass(frozen=True, slots=True)
class WrittenSuite:
    """A suite, and where each thing in it is written."""

    file: str
    suite: Suite
    document: Document

    def problem(self, place: str, what: str, remedy: str, *path: str | int) -> Problem:
        """A problem at a path of the document."""
        return Problem(self.file, self.document.line(*path), place, what, remedy)


def data_folder(name: str) -> Path:
    """Where `suites` and `vectors` are: in the wheel within this package, in the source tree beside `src`."""
    package = Path(__file__).parents[1]
    installed = package / name
    return installed if installed.is_dir() else package.parents[1] / name


def read_suites(folder: Path) -> list[WrittenSuite]:
    """Every suite of the folder, by name. Raises `SuiteMalformed` with the problems of all files.

    A folder without procedures has those of this package, so that cases of one's own are written like ours.
    """
    written, problems = [], []
    paths = sorted(folder.glob("*.yaml"))
    procedures = f"{PROCEDURES}.yaml"
    if paths and folder / procedures not in paths:
        paths.append(data_folder("suites") / procedures)
    for path in sorted(paths, key=lambda path: path.name):
        try:
            written.append(_read(path))
        except SuiteMalformed as refused:
            problems.extend(refused.problems)
    if problems:
        raise SuiteMalformed(problems)
    if not written:
        raise SuiteMalformed([Problem(str(folder), 1, "", "holds no suites", "name a folder with *.yaml")])
    return written


def _read(path: Path) -> WrittenSuite:
    try:
        document = read_yaml(path.read_text("utf-8"))
    except YamlRefused as refused:
        raise SuiteMalformed([Problem(path.name, refused.line, "", refused.what, "mend the YAML")]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteMalformed([Problem(path.name, 1, "", f"cannot be read: {error}", "mend the file")]) from None
    problems = [
        Problem(path.name, document.line(*found.path), _place(document.value, found.path), found.what, found.remedy)
        for found in misshapes(document.value, Suite.DESCRIPTOR)
    ]
    if problems:
        raise SuiteMalformed(problems)
    try:
        suite = ParseDict(members_of(document.value), Suite())
    except (ParseError, ValueError) as error:
        # What only protobuf knows: a number out of its field's range, half a surrogate pair, too deep a request.
        raise SuiteMalformed([Problem(path.name, 1, "", f"{error}", "mend the value")]) from None
    return WrittenSuite(path.name, suite, document)


def _place(value: Json, path: tuple[str | int, ...]) -> str:
    """`case NAME, step 3`, as far as the path leads."""
    kinds = {"cases": "case", "procedures": "procedure"}
    if not path or path[0] not in kinds or len(path) < 2 or not isinstance(value, dict):  # noqa: PLR2004
        return ""
    around = value[str(path[0])]
    told = around[path[1]] if isinstance(around, list) and isinstance(path[1], int) else None
    name = told.get("name", path[1]) if isinstance(told, dict) else path[1]
    step = f", step {path[3] + 1}" if len(path) > 3 and isinstance(path[3], int) and path[2] == "steps" else ""  # noqa: PLR2004
    return f"{kinds[str(path[0])]} {name}{step}"
