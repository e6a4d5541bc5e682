"""What a parent tells its worker, and what the worker answers: lines of JSON, over pipes that nobody else sees."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from pydantic import SecretStr

from authority.config import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from authority.cli.output import Json


PULSE: Final = b"\n"
"""A worker's sign of life, in place of a line that says something."""


def pulse_every_s(hang_s: float) -> float:
    """How often a worker gives it, when that long without one is taken for a hang."""
    return min(1.0, hang_s / 4)


@dataclass(frozen=True, slots=True)
class Order:
    """Whose child the worker is, and the settings it serves by: all of them, so that it asks nothing else for any.

    Holds passwords: it goes over standard input, never into arguments or environment.
    """

    parent: int
    settings: "Mapping[str, Json]"

    @classmethod
    def to_serve(cls, settings: Settings) -> Self:
        """The order of this process to a child."""
        return cls(os.getpid(), {name: _plain(value) for name, value in settings.model_dump().items()})

    def line(self) -> bytes:
        """As it is sent."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> Self:
        """As it came."""
        return cls(**json.loads(line))

    def load(self) -> Settings:
        """The settings. Raises SettingsError when a parent of another version has some that are not known here."""
        return load_settings(**self.settings)


@dataclass(frozen=True, slots=True)
class Report:
    """What the worker says: that it serves; or why it does not, or no longer, as a sentence and an exit code."""

    refusal: str = ""
    code: int = 0
    metrics: str = ""
    """The URL at which it shows its metrics to its parent; empty when it does not."""

    def line(self) -> bytes:
        """As it is sent."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> Self:
        """As it came."""
        return cls(**json.loads(line))


def _plain(value: object) -> "Json":
    match value:
        case SecretStr():
            return value.get_secret_value()
        case Path():
            return str(value.absolute())
        case None | bool() | int() | float() | str():
            return value
    raise TypeError(f"a setting cannot be sent as {type(value).__name__}")
