"""Profiles: what they bind, which may be chosen, and what is said of an operator's file that is wrong."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from authority.bootstrap.validators import installed_validators
from authority.config import SettingsError
from authority.validators import catalog
from authority.validators.catalog import Missing, ValidatorUnusable, built_in, loaded
from authority.validators.hosted import is_loopback
from authority.validators.profile_file import ProfilesUnusable, read_profiles
from authority.validators.profiles import BUILT_IN, built_in_panels

HOUSE = """
[validators.house-style]
version = "1"
address = "127.0.0.1:50200"

[profiles.house]
version = "3"
validators = ["schema_and_limits@1", "secrets@1", "house-style@1"]
"""
PINNED = {
    "baseline": "1: schema_and_limits@1 canonical_json@1 exact_duplicate@1 provenance@1",
    "guarded": "1: schema_and_limits@1 canonical_json@1 exact_duplicate@1 provenance@1 evidence@1 secrets@1"
    " prompt_injection@1 near_duplicate@1 contradiction@1",
    "guarded-pii": "1: schema_and_limits@1 canonical_json@1 exact_duplicate@1 provenance@1 evidence@1 secrets@1"
    " prompt_injection@1 near_duplicate@1 contradiction@1 pii@1",
}
"""Whoever raises a validator's version raises the versions of its profiles, and says so here."""


def test_a_built_in_profile_binds_the_versions_of_its_validators() -> None:
    found = {
        name: f"{one.profile.version}: {' '.join(f'{it.name}@{it.version}' for it in one.profile.validators)}"
        for name, one in built_in_panels(built_in()).items()
    }
    assert found == PINNED


def test_each_built_in_validator_is_the_one_that_the_catalog_says() -> None:
    for listed in built_in().values():
        assert not isinstance(listed, Missing)
        made = listed.load()
        assert (made.name, made.version) == (listed.name.name, listed.name.version)
        assert getattr(made, "needs", frozenset()) == listed.needs


def test_without_an_extra_its_validator_is_in_no_profile_and_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(catalog, "find_spec", lambda name: None if name == "presidio_analyzer" else object())
    found = built_in()
    assert found["pii"] == Missing("pii", "pip install 'capability-authority[pii]'")
    assert built_in_panels(found).keys() == {"baseline", "guarded"}


def test_a_profile_includes_another_that_it_leaves_no_validator_of_out() -> None:
    validators = installed_validators(None)
    profiles = {name: validators.profile(name) for name in BUILT_IN}
    order = [profiles["baseline"], profiles["guarded"], profiles["guarded-pii"]]
    for place, one in enumerate(order):
        assert one
        assert [bool(other and one.includes(other)) for other in order] == [at <= place for at in range(3)]


def test_an_operators_profile_binds_its_list_in_its_version(tmp_path: Path) -> None:
    file = tmp_path / "profiles.toml"
    file.write_text(HOUSE)
    first = read_profiles(file, built_in())["house"].profile
    file.write_text(HOUSE.replace('"secrets@1", ', ""))
    second = read_profiles(file, built_in())["house"].profile
    assert first.version.startswith("3+")
    assert second.version.startswith("3+")
    assert first.version != second.version
    assert [one.name for one in first.validators] == ["schema_and_limits", "secrets", "house-style"]


@pytest.mark.parametrize(
    ("wrong", "right", "told"),
    [
        ('"secrets@1"', '"secrets@9"', "secrets@9 is not what is installed; write secrets@1"),
        ('"secrets@1"', '"secrets"', "secrets lacks its version; write secrets@1"),
        ('"secrets@1"', '"secrest@1"', "there is no validator 'secrest'; did you mean secrets?"),
        ('"secrets@1", ', '"secrets@1", "secrets@1", ', "each may stand there once"),
        ('"127.0.0.1:50200"', '"10.0.0.7:50200"', "is another machine; name its CA's PEM file in `certificate`"),
        ('"127.0.0.1:50200"', '"here"', "must be HOST:PORT or unix:PATH"),
        ('"127.0.0.1:50200"', '"127.0.0.1:1"\ntimeout_s = 0', "must be a number above 0"),
        ('"127.0.0.1:50200"', '"127.0.0.1:1"\ncertificate = "no.pem"', "there is no file"),
        ('"127.0.0.1:50200"', '"127.0.0.1:1"\nport = 1', "port: there is no such field"),
        ('version = "3"', 'version = "a b"', "version: must be at most 64 letters"),
        ("[profiles.house]", "[profiles.guarded]", "this profile is built in"),
        ("[validators.house-style]", "[validators.secrets]", "a built-in validator has this name"),
        ("[profiles.house]", "[profile.house]", "there is no such field; known are profiles, validators"),
        ("[profiles.house]", "[profiles", "is no TOML"),
    ],
)
def test_a_file_that_is_wrong_is_told_by_field_and_remedy(tmp_path: Path, wrong: str, right: str, told: str) -> None:
    file = tmp_path / "profiles.toml"
    assert wrong in HOUSE
    file.write_text(HOUSE.replace(wrong, right, 1))
    with pytest.raises(ProfilesUnusable) as caught:
        read_profiles(file, built_in())
    assert told in str(caught.value)
    with pytest.raises(SettingsError, match="AUTHORITY_PROFILES: "):
        installed_validators(file)


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        installed_validators(Path("nowhere.toml"))


def test_an_entry_point_is_a_class_or_an_instance() -> None:
    point = EntryPoint("shouting", "tests.unit.validators.plugins:Shouting", catalog.ENTRY_POINTS)
    found = loaded(point)
    assert (found.name.name, found.name.version, found.is_quick) == ("shouting", "2", False)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("shouting", "tests.unit.validators.nowhere:Shouting", "cannot be loaded (ModuleNotFoundError)"),
        ("shouting", "tests.unit.validators.plugins:GARBAGE", "cannot be loaded (AttributeError)"),
        ("quiet", "tests.unit.validators.plugins:Shouting", "names itself shouting"),
    ],
)
def test_an_entry_point_that_is_no_validator_is_told(name: str, value: str, told: str) -> None:
    with pytest.raises(ValidatorUnusable) as caught:
        loaded(EntryPoint(name, value, catalog.ENTRY_POINTS))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("127.0.0.1:1", True),
        ("[::1]:1", True),
        ("localhost:1", True),
        ("unix:/run/judge", True),
        ("10.0.0.1:1", False),
        ("validators.example:1", False),
        ("localhost.example:1", False),
        ("0.0.0.0:1", False),
    ],
)
def test_plaintext_is_for_this_machine(address: str, here: bool) -> None:  # noqa: FBT001 - expected
    assert is_loopback(address) is here
