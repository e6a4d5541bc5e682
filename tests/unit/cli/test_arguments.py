"""The texts that people write for tenants, times, digests and keys."""

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from authority.cli import arguments
from authority.domain import limits
from authority.domain.references import Instant, PrincipalRef, TenantRef


def test_a_tenant_is_namespace_bar_id() -> None:
    assert arguments.parse_tenant("acme|t1") == TenantRef("acme", "t1")
    assert arguments.parse_principal("people|ann@acme") == PrincipalRef("people", "ann@acme")


@pytest.mark.parametrize(
    "text", ["", "t1", "|", "a|", "|b", "a|b|c", "a|b\n", " a|b", "a |b", "ä|b", "a|b\0", f"{'x' * 257}|b"]
)
def test_a09_what_is_no_reference_is_refused_and_nothing_is_trimmed(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not NAMESPACE"):
        arguments.parse_tenant(text)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2027-01-31T08:00Z", 1_801_382_400_000),
        ("2027-01-31T10:00:00.123+02:00", 1_801_382_400_123),
        ("9999-12-31T23:59:59.999Z", limits.LATEST_MS),
    ],
)
def test_a_time_is_iso_8601_with_its_zone(text: str, milliseconds: int) -> None:
    assert arguments.parse_instant(text) == milliseconds


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("yesterday", "is no time"),
        ("", "is no time"),
        ("2027-01-31T08:00", "names no zone"),
        ("2027-01-31T08:00:00.0001Z", "finer than a millisecond"),
        ("1969-12-31T23:59:59.999Z", "between the years"),
        ("9999-12-31T23:59:59.999-14:00", "between the years"),
        ("10000-01-01T00:00:00Z", "is no time"),
    ],
)
def test_a_time_without_one_meaning_is_refused(text: str, why: str) -> None:
    with pytest.raises(typer.BadParameter, match=why):
        arguments.parse_instant(text)


@given(st.integers(limits.EARLIEST_MS, limits.LATEST_MS))
def test_a_time_that_is_shown_can_be_given_back(milliseconds: int) -> None:
    assert arguments.parse_instant(arguments.iso(Instant(milliseconds))) == milliseconds


def test_no_time_is_shown_as_nothing() -> None:
    assert arguments.iso(None) == ""


def test_a_digest_is_sha256_in_lowercase() -> None:
    assert arguments.parse_digest(f"sha256:{'0a' * 32}") == b"\x0a" * 32


@pytest.mark.parametrize(
    "text", ["", "0a" * 32, f"sha256:{'0A' * 32}", f"sha256:{'0a' * 31}", f"sha256:{'zz' * 32}", f"sha256:{'0a ' * 32}"]
)
def test_another_form_of_a_digest_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not sha256:"):
        arguments.parse_digest(text)


def test_keys_and_signatures_have_their_lengths() -> None:
    assert arguments.parse_public_key("ab" * 32) == b"\xab" * 32
    assert arguments.parse_signature("ab" * 64) == b"\xab" * 64
    for text in ("", "ab" * 31, "ab" * 64, "xy" * 32):
        with pytest.raises(typer.BadParameter, match="must be 32 bytes, which are 64 hexadecimal digits"):
            arguments.parse_public_key(text)


def test_a_name_is_an_id() -> None:
    assert arguments.parse_name("team/notes") == "team/notes"
    with pytest.raises(typer.BadParameter, match="is no name"):
        arguments.parse_name("team notes")
