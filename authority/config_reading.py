"""How settings are read, whatever they are: from where each came, what it takes, and what is said of a wrong one."""

import difflib
import os
import stat
import tomllib
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import SecretStr
from pydantic.fields import FieldInfo

PREFIX: Final = "AUTHORITY_"
CONFIG_FILE: Final = "AUTHORITY_CONFIG"
"""The variable that names the file of settings."""
OF_COMMANDS: Final = frozenset({CONFIG_FILE, "AUTHORITY_CREDENTIALS"})
"""Variables that are no settings of the service."""
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO

_SECRET_FILE: Final = "_FILE"  # noqa: S105 - the end of a name
_MOST_BYTES: Final = 1024 * 1024
_NEAR: Final = 0.7
_NAME: Final = "a name of ASCII letters, digits and ._:@+/-, at most 256, that begins with a letter or digit"

Fields: TypeAlias = Mapping[str, FieldInfo]
"""The settings there are, by their names."""


class SettingsError(Exception):
    """A setting is missing or wrong. The message names each and what to do."""


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper()


@dataclass(frozen=True, slots=True)
class Given:
    """What environment and files say, of settings that there are.

    Of one setting the environment wins over its secret's file, which it may not have beside it, and both over the file
    of settings.
    """

    environment: frozenset[str]
    secrets: Mapping[str, str]
    """Read from the files that AUTHORITY_…_FILE name, as containers get their secrets; without the newline at the end.
    """
    file: str
    """The file of settings, empty when none is named."""
    in_file: frozenset[str]

    def origin(self, name: str) -> str:
        """Where the setting came from, in words."""
        if name in self.environment:
            return "environment"
        if name in self.secrets:
            return f"{variable(name)}{_SECRET_FILE}"
        return f"file {self.file}" if name in self.in_file else "default"

    def place(self, name: str) -> str:
        """What to name when the setting is wrong."""
        if name in self.in_file and name not in self.environment and name not in self.secrets:
            return f"{name} in {self.file}"
        return f"{variable(name)}{_SECRET_FILE}" if name in self.secrets else variable(name)


def given(fields: Fields) -> Given:
    """What environment and files say. Raises SettingsError for a file that cannot be read or names an unknown setting.

    An empty variable says nothing, as an unset one.
    """
    said = {name.upper(): text for name, text in os.environ.items() if text}
    environment = frozenset(name for name in fields if variable(name) in said)
    secrets = {name: file for name in secret_names(fields) if (file := said.get(variable(name) + _SECRET_FILE))}
    if twice := sorted(environment & secrets.keys()):
        named = variable(twice[0])
        raise SettingsError(f"{named} and {named}{_SECRET_FILE} are both set: unset one of them")
    read = {name: _secret(variable(name) + _SECRET_FILE, Path(file)) for name, file in secrets.items()}
    file = said.get(CONFIG_FILE, "")
    return Given(environment, read, file, frozenset(_keys(file, fields)) if file else frozenset())


def secret_names(fields: Fields) -> list[str]:
    """The settings that may come from files of their own."""
    return [name for name, field in fields.items() if _is_secret(field)]


def strange_variables(fields: Fields) -> Iterator[tuple[str, str]]:
    """Variables AUTHORITY_… that are no settings, each with the nearest that is one, or empty.

    Only to be told of: Kubernetes, for one, sets variables of such names for a service that is called `authority`.
    """
    names = known_variables(fields)
    for name in sorted(os.environ):
        if name.upper().startswith(PREFIX) and name.upper() not in names:
            bare = nearest(name.upper().removeprefix(PREFIX), [known.removeprefix(PREFIX) for known in names])
            yield name, PREFIX + bare if bare else ""


def known_variables(fields: Fields) -> list[str]:
    """Every variable that something listens to."""
    secrets = [variable(name) + _SECRET_FILE for name in secret_names(fields)]
    return sorted({*map(variable, fields), *secrets, *OF_COMMANDS})


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that was most likely meant; empty when none is near."""
    return next(iter(difflib.get_close_matches(name, sorted(known), 1, _NEAR)), "")


def takes(name: str, field: FieldInfo) -> str:
    """What values the setting has, in words."""
    kind = _kind(field)
    if get_origin(kind) is Literal:
        *others, last = map(str, get_args(kind))
        return f"{', '.join(others)} or {last}"
    if kind in (int, float):
        return f"{'a whole number' if kind is int else 'a number'}{_bounds(field)}"
    if name == "listen":
        return "HOST:PORT or unix:PATH"
    if name == "metrics_listen":
        return "HOST:PORT"
    if name.endswith("_endpoint"):
        return "a URL"
    text = _NAME if any(getattr(bound, "pattern", None) for bound in field.metadata) else "text"
    return {SecretStr: "a URL", bool: "true or false", Path: "a path"}.get(kind, text)


def sentence(detail: Mapping[str, Any], fields: Fields, where: Given) -> str:
    """What is wrong with a setting, and what would be right. Never shows a secret."""
    name = str(detail["loc"][0])
    if detail["type"] == "missing":
        return f"{variable(name)} is not set: set it; `authority serve --embedded` needs none"
    if detail["type"] == "value_error":
        return f"{where.place(name)}: {detail['msg'].removeprefix('Value error, ')}"
    if name not in fields:
        return f"{variable(name)}: there is no such setting"
    found = "" if _is_secret(fields[name]) else f", not {detail['input']!r}"
    return f"{where.place(name)}: must be {takes(name, fields[name])}{found}"


def _keys(file: str, fields: Fields) -> Iterable[str]:
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise SettingsError(f"{CONFIG_FILE} names {file}, which has more than {_MOST_BYTES:,} bytes: correct it")
        keys = tomllib.loads(data.decode())
    except RecursionError:
        raise SettingsError(f"{CONFIG_FILE} names {file}, which is no TOML: it is too deep") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{CONFIG_FILE} names {file}, which is no TOML: {error}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{CONFIG_FILE} names {file}, which is no TOML: it is not UTF-8") from None
    except OSError as error:
        why = "is no file" if not Path(file).is_file() else f"cannot be read ({error.strerror})"
        raise SettingsError(f"{CONFIG_FILE} names {file}, which {why}: correct it or unset it") from None
    for key in keys:
        if key not in fields:
            meant = nearest(key.lower().removeprefix(PREFIX.lower()), fields)
            hint = f"did you mean {meant}?" if meant else "`authority config` lists those that there are"
            raise SettingsError(f"{file} sets {key}, and there is no such setting: {hint}")
    return keys


def _secret(setting: str, file: Path) -> str:
    try:
        with file.open("rb") as opened:
            text = opened.read(_MOST_BYTES).decode().removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise SettingsError(f"{setting} names {file}, which cannot be read ({why}): correct it or unset it") from None
    if not text:
        raise SettingsError(f"{setting} names {file}, which is empty: write the value into it")
    return text


def _is_secret(field: FieldInfo) -> bool:
    return _kind(field) is SecretStr


def _kind(field: FieldInfo) -> Any:  # noqa: ANN401 - a type, or a form of typing's
    """The type of a value that is set."""
    if get_origin(field.annotation) in (Union, types.UnionType):
        return next(kind for kind in get_args(field.annotation) if kind is not type(None))
    return field.annotation


def _bounds(field: FieldInfo) -> str:
    least = next((f"{bound.ge}" for bound in field.metadata if isinstance(bound, Ge)), "")
    above = next((f"above {bound.gt}" for bound in field.metadata if isinstance(bound, Gt)), "")
    most = next((f"{bound.le}" for bound in field.metadata if isinstance(bound, Le)), "")
    if least:
        return f" from {least} to {most}" if most else f" of at least {least}"
    return " " + ", at most ".join(part for part in (above, most) if part) if above or most else ""
