"""What conformance/README.md shows is so."""

import re
from pathlib import Path

from capability_authority_conformance.contract import TENANTS, principal_names
from capability_authority_conformance.running.results import Verdict
from capability_authority_conformance.written.lint import lint
from capability_authority_conformance.written.reading import PROCEDURES, data_folder, read_suites

README = data_folder("suites").parent.joinpath("README.md").read_text("utf-8")


def test_the_example_is_well_written(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "example.yaml").write_text(example)
    assert lint(read_suites(tmp_path)) == []


def test_it_names_every_suite() -> None:
    suites = {written.suite.name for written in read_suites(data_folder("suites"))} - {PROCEDURES}
    assert {suite for suite in suites if f"`{suite}`" not in README} == set()


def test_it_names_what_is_set_up() -> None:
    spaces = {space.name for tenant in TENANTS for space in tenant.memory_namespaces}
    circles = {membership.id for tenant in TENANTS for membership in tenant.memberships}
    aliases = {alias for tenant in TENANTS for each in tenant.principals for alias in each.key_aliases}
    assert {name for name in principal_names() | spaces | circles | aliases if f"`{name}`" not in README} == set()


def test_it_names_every_verdict() -> None:
    assert {verdict for verdict in Verdict if f"`{verdict.name.lower()}`" not in README} == set()
