"""An operator's file of profiles, which the setting AUTHORITY_PROFILES names.

    [validators.house-style]                # hosted by somebody else
    version = "1"
    address = "127.0.0.1:50200"             # with `certificate` also another machine's
    timeout_s = 2.0

    [profiles.house]
    version = "3"
    validators = ["schema_and_limits@1", "canonical_json@1", "secrets@1", "house-style@1"]

Each validator is named with its version, so that a newer one does not judge under an older profile's version.
"""

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from authority.domain.validation import ValidatorName
from authority.validators.catalog import NAME, VERSION, Local, Missing, ValidatorUnusable, brought_along, loaded
from authority.validators.hosted import Hosted, is_loopback
from authority.validators.profiles import BUILT_IN, Panel, Usable, bound_version, panel

FILE_BYTES: Final = 256 * 1024
TIMEOUT_S: Final = 2.0
LONGEST_S: Final = 600.0
_OF_VALIDATOR: Final = frozenset({"version", "address", "timeout_s", "certificate"})
_OF_PROFILE: Final = frozenset({"version", "validators"})
_MOST: Final = 32
"""Validators of one profile: each is a finding in a receipt."""


class ProfilesUnusable(Exception):
    """The file cannot be used. The message names the field, what is wrong with it and what would be right."""


def read_profiles(file: Path, found: Mapping[str, Local | Missing]) -> dict[str, Panel]:
    """The profiles of a file. Raises ProfilesUnusable, also for a validator that cannot be loaded."""
    document = _document(file)
    hosted = _all_hosted(document, file, found)
    profiles = _tables(document, "profiles")
    if taken := sorted(profiles.keys() & BUILT_IN.keys()):
        raise ProfilesUnusable(f"[profiles.{taken[0]}]: this profile is built in; choose another name")
    return {name: _panel(name, table, {**found, **hosted}) for name, table in profiles.items()}


def read_hosted(file: Path, found: Mapping[str, Local | Missing]) -> list[Hosted]:
    """The validators of a file that others host, in a profile or not. Raises ProfilesUnusable."""
    return list(_all_hosted(_document(file), file, found).values())


def _all_hosted(document: Mapping[str, object], file: Path, found: Mapping[str, Local | Missing]) -> dict[str, Hosted]:
    _require_known(document, frozenset({"validators", "profiles"}), "")
    hosted = {name: _hosted(name, table, file) for name, table in _tables(document, "validators").items()}
    if taken := sorted(hosted.keys() & found.keys()):
        raise ProfilesUnusable(f"[validators.{taken[0]}]: a built-in validator has this name; choose another")
    return hosted


def _document(file: Path) -> Mapping[str, object]:
    try:
        with file.open("rb") as opened:
            data = opened.read(FILE_BYTES + 1)
    except OSError as error:
        raise ProfilesUnusable(f"{file} cannot be read ({error.strerror}): name a TOML file of profiles") from error
    if len(data) > FILE_BYTES:
        raise ProfilesUnusable(f"{file} has more than {FILE_BYTES:,} bytes: shorten it")
    try:
        return tomllib.loads(data.decode())
    except RecursionError:
        raise ProfilesUnusable(f"{file} nests too deeply: it has two levels of tables") from None
    except ValueError as error:
        raise ProfilesUnusable(f"{file} is no TOML: {error}") from error


def _tables(document: Mapping[str, object], kind: str) -> dict[str, Mapping[str, object]]:
    tables = document.get(kind, {})
    if not isinstance(tables, dict):
        raise ProfilesUnusable(f"{kind}: must be tables, [{kind}.NAME]")
    for name, table in tables.items():
        if not NAME.fullmatch(name):
            raise ProfilesUnusable(f"[{kind}.{name}]: a name has at most 64 lowercase letters, digits and _-.")
        if not isinstance(table, dict):
            raise ProfilesUnusable(f"{kind}.{name}: must be a table, [{kind}.{name}]")
    return tables


def _hosted(name: str, table: Mapping[str, object], file: Path) -> Hosted:
    place = f"[validators.{name}]"
    _require_known(table, _OF_VALIDATOR, place)
    address, certificate = _text(table, "address", place), table.get("certificate")
    if not (
        address.startswith("unix:") or (address.rpartition(":")[2].isascii() and address.rpartition(":")[2].isdigit())
    ):
        raise ProfilesUnusable(f"{place} address: must be HOST:PORT or unix:PATH, not {address!r}")
    if certificate is None and not is_loopback(address):
        raise ProfilesUnusable(
            f"{place} address: {address} is another machine; name its CA's PEM file in `certificate`"
        )
    if certificate is not None:
        certificate = file.parent / _text(table, "certificate", place)
        if not certificate.is_file():
            raise ProfilesUnusable(f"{place} certificate: there is no file {certificate}; name a PEM file")
    timeout = table.get("timeout_s", TIMEOUT_S)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= LONGEST_S:
        raise ProfilesUnusable(
            f"{place} timeout_s: must be a number above 0 and at most {LONGEST_S:g}, not {timeout!r}"
        )
    return Hosted(ValidatorName(name, _version(table, place)), address, float(timeout), certificate)


def _panel(name: str, table: Mapping[str, object], usable: Mapping[str, Usable | Missing]) -> Panel:
    place = f"[profiles.{name}]"
    _require_known(table, _OF_PROFILE, place)
    version, listed = _version(table, place), table.get("validators")
    if not isinstance(listed, list) or not listed or not all(isinstance(one, str) for one in listed):
        raise ProfilesUnusable(f'{place} validators: must list at least one, as ["secrets@1"]')
    if len(listed) > _MOST:
        raise ProfilesUnusable(f"{place} validators: {len(listed)} are too many; at most {_MOST} judge together")
    chosen = [_chosen(one, usable, place) for one in listed]
    names = [one.name for one in chosen]
    if len({one.name for one in names}) < len(names):
        raise ProfilesUnusable(f"{place} validators: each may stand there once")
    return panel(name, bound_version(version, names), chosen)


def _chosen(listed: str, usable: Mapping[str, Usable | Missing], place: str) -> Usable:
    name, _, version = listed.partition("@")
    one = usable.get(name) or _brought(name, place)
    if one is None:
        near = difflib.get_close_matches(name, usable, 1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise ProfilesUnusable(f"{place} validators: there is no validator {name!r}{guess}")
    if isinstance(one, Missing):
        raise ProfilesUnusable(f"{place} validators: {name} is not installed: {one.remedy}")
    if not version:
        raise ProfilesUnusable(f"{place} validators: {name} lacks its version; write {name}@{one.name.version}")
    if version != one.name.version:
        raise ProfilesUnusable(
            f"{place} validators: {listed} is not what is installed; write {name}@{one.name.version}"
            " and raise the profile's version"
        )
    return one


def _brought(name: str, place: str) -> Local | None:
    try:
        return next((loaded(point) for point in brought_along() if point.name == name), None)
    except ValidatorUnusable as error:
        raise ProfilesUnusable(f"{place} validators: {error}") from error


def _require_known(table: Mapping[str, object], known: frozenset[str], place: str) -> None:
    for name in table:
        if name not in known:
            raise ProfilesUnusable(
                f"{place} {name}: there is no such field; known are {', '.join(sorted(known))}".strip()
            )


def _text(table: Mapping[str, object], field: str, place: str) -> str:
    said = table.get(field)
    if not isinstance(said, str) or not said:
        raise ProfilesUnusable(f"{place} {field}: must be text in quotes")
    return said


def _version(table: Mapping[str, object], place: str) -> str:
    version = _text(table, "version", place)
    if not VERSION.fullmatch(version):
        raise ProfilesUnusable(f"{place} version: must be at most 64 letters, digits and ._+-, not {version!r}")
    return version
