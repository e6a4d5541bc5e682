"""The mutants: what `mutants.yaml` says, and the copies of the package that are made of it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

ROOT: Final = Path(__file__).parents[3]
_KEPT_IN_THE_DATABASE: Final = ("postgres/functions/", "postgres/rights/")
_TABLE: Final = Path(__file__).with_name("mutants.yaml")


class Drifted(AssertionError):
    """What a mutant breaks does not stand where it stood, or stands there more than once."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Edit(_Row):
    """One text of the package, and what stands there instead."""

    file: str
    text: str
    instead: str


class Mutant(_Row):
    """One way to be broken, and the case that must catch it. The fields are explained in `mutants.yaml`."""

    name: str
    breaks: str
    edits: tuple[Edit, ...]
    case: str
    at: str

    def is_caught_by(self, failed: Mapping[str, str]) -> bool:
        """Whether the meant case is among the failed ones, and failed at the meant step."""
        return self.at in failed.get(self.case, "")

    @property
    def slug(self) -> str:
        """Its name as a file's."""
        return "-".join("".join(letter for letter in self.name if letter.isalnum() or letter == " ").split())

    def edited(self) -> dict[str, str]:
        """The files that it changes, by their names below authority/, as it has them. Raises Drifted."""
        files: dict[str, str] = {}
        for edit in self.edits:
            before = files.get(edit.file) or (ROOT / "authority" / edit.file).read_text(encoding="utf-8")
            if (times := before.count(edit.text)) != 1:
                raise Drifted(f"{self.name}: authority/{edit.file} holds this {times} times, not once:\n{edit.text}")
            files[edit.file] = before.replace(edit.text, edit.instead)
        return files

    def sql(self) -> list[str]:
        """What brings a sound database to what the mutant has of it: its functions and rights, which are replaced."""
        return [text for name, text in self.edited().items() if name.startswith(_KEPT_IN_THE_DATABASE)]


def mutants() -> list[Mutant]:
    """All of them, in the order of the file."""
    return TypeAdapter(list[Mutant]).validate_python(yaml.safe_load(_TABLE.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class PackageCopy:
    """A copy of the package `authority`, which processes find first when `path` is in PYTHONPATH."""

    path: Path

    @classmethod
    def made(cls, folder: Path, mutant: Mutant | None) -> "PackageCopy":
        """The copy as the mutant has it, or one that is as it should be. Raises Drifted."""
        # With what was compiled: whatever is not edited need not be compiled again. But for what another process is
        # compiling just now: its drafts (`….pyc.NUMBER`) are gone by the time they are to be copied.
        shutil.copytree(ROOT / "authority", folder / "authority", ignore=shutil.ignore_patterns("*.pyc.*"))
        for name, text in mutant.edited().items() if mutant else ():
            (folder / "authority" / name).write_text(text, encoding="utf-8")
        return cls(folder)
