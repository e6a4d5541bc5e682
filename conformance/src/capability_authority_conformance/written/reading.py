"""From the YAML of a suite to its message, strictly: what the schema does not know is refused, with its line."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError

from capability_authority_conformance.problems import Problem, SuiteMalformed
from capability_authority_conformance.v1.suite_pb2 import Suite
from capability_authority_conformance.values import Json, members_of
from capability_authority_conformance.written.strict_yaml import Document, YamlRefused, read_yaml

__all__ = ["PROCEDURES", "WrittenSuite", "data_folder", "read_suites"]

PROCEDURES: Final = "procedures"
"""The file whose procedures every suite may use; it has no cases."""
_FREE_FORM: Final = frozenset({"google.protobuf.Struct", "google.protobuf.Value"})


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
    """Every suite of the folder, by name. Raises `SuiteMalformed` with the problems of all files."""
    written, problems = [], []
    for path in sorted(folder.glob("*.yaml")):
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
    unknown = [
        Problem(path.name, document.line(*where), _place(document.value, where), what, remedy)
        for where, what, remedy in _unknown_keys(document.value, Suite.DESCRIPTOR, ())
    ]
    if unknown:
        raise SuiteMalformed(unknown)
    try:
        return WrittenSuite(path.name, ParseDict(members_of(document.value), Suite()), document)
    except ParseError as error:
        where = _path_in(str(error))
        problem = Problem(
            path.name,
            document.line(*where),
            _place(document.value, where),
            f"not as the schema says: {error}",
            "see suite.proto; texts that look like numbers or booleans need quotes",
        )
        raise SuiteMalformed([problem]) from None


def _unknown_keys(
    value: Json, message: Descriptor, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Where, what and what to do of each key that the message has not."""
    if message.full_name in _FREE_FORM:
        return
    if not isinstance(value, dict):
        yield path, f"a mapping is wanted here, of {message.name}", "see suite.proto"
        return
    for key, member in value.items():
        field = message.fields_by_name.get(key)
        if field is None:
            near = get_close_matches(key, message.fields_by_name, n=1)
            known = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(message.fields_by_name)}"
            yield (*path, key), f"{message.name} has no {key!r}", known
        elif field.message_type is not None:
            yield from _unknown_below(member, field, (*path, key))


def _unknown_below(
    member: Json, field: FieldDescriptor, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    message = field.message_type
    assert message is not None
    if message.GetOptions().map_entry:
        below = message.fields_by_name["value"].message_type
        if below is not None and isinstance(member, dict):
            for key, item in member.items():
                yield from _unknown_keys(item, below, (*path, key))
    elif not field.is_repeated:
        yield from _unknown_keys(member, message, path)
    elif isinstance(member, list):
        for index, item in enumerate(member):
            yield from _unknown_keys(item, message, (*path, index))
    else:
        yield path, "a list is wanted here", "write `- ` before each item"


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


def _path_in(error: str) -> tuple[str | int, ...]:
    """The path that protobuf names in its message: `Suite.cases[0].steps[1]`."""
    _, named, rest = error.partition("Suite.")
    if not named:
        return ()
    steps: list[str | int] = []
    for part in rest.split('"')[0].split(" ")[0].rstrip(".,:").split("."):
        name, _, index = part.partition("[")
        steps.append(name)
        if index.rstrip("]").isdecimal():
            steps.append(int(index.rstrip("]")))
    return tuple(steps)
