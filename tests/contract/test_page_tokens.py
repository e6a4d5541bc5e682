"""The contract of the port `PageTokens`: sealed, bound to tenant, caller and query, and of one hour's life."""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.domain import limits
from authority.domain.reasons import Reason
from authority.domain.references import Instant, after
from authority.domain.refusal import Refusal
from authority.signing.page_tokens import POSITION_BYTES, SealedPageTokens
from authority.usecases.ports import PageTokens

NOW = Instant(1_790_000_000_000)
BINDING = "acme|t1\nservices|reader\nreceipts\nteam/notes"
POSITION = "00000000-0000-0000-0000-000000000001"
URL_SAFE = string.ascii_letters + string.digits + "-_"
HOUR = limits.PAGE_TOKEN_LIFETIME_MS

TOKENS: PageTokens = SealedPageTokens(bytes(range(32)))


def is_refused(answer: str | Refusal) -> bool:
    """Whether it is MALFORMED `page_token`; anything but a position or that fails the test."""
    if isinstance(answer, Refusal):
        assert (answer.reason, answer.facts["field"]) == (Reason.MALFORMED, "page_token")
        return True
    return False


@given(binding=st.text(max_size=600), position=st.text(max_size=80), age=st.integers(0, HOUR - 1))
def test_a_token_opens_for_its_binding_within_its_life(binding: str, position: str, age: int) -> None:
    token = TOKENS.seal(binding, position, NOW)
    assert TOKENS.open(binding, token, after(NOW, age)) == position
    assert len(token) <= 512
    assert token.isascii()


@pytest.mark.parametrize(
    "other",
    [
        "acme|t2\nservices|reader\nreceipts\nteam/notes",
        "other|t1\nservices|reader\nreceipts\nteam/notes",
        "acme|t1\nservices|writer\nreceipts\nteam/notes",
        "acme|t1\nservices|reader\nrecords\nteam/notes",
        "acme|t1\nservices|reader\nreceipts\nteam/other",
        "acme|t1\nservices|reader\nreceipts\n",
        BINDING + "\n",
        "",
    ],
)
def test_a_token_of_another_tenant_caller_or_query_is_refused(other: str) -> None:
    assert is_refused(TOKENS.open(other, TOKENS.seal(BINDING, POSITION, NOW), NOW))


def test_a_token_lives_for_one_hour_to_the_millisecond() -> None:
    token = TOKENS.seal(BINDING, POSITION, NOW)
    assert TOKENS.open(BINDING, token, after(NOW, HOUR - 1)) == POSITION
    assert is_refused(TOKENS.open(BINDING, token, after(NOW, HOUR)))


def test_a_token_of_another_secret_is_refused() -> None:
    foreign = SealedPageTokens(bytes(32)).seal(BINDING, POSITION, NOW)
    assert is_refused(TOKENS.open(BINDING, foreign, NOW))


def test_no_character_of_a_token_can_be_changed_added_or_taken_away() -> None:
    token = TOKENS.seal(BINDING, POSITION, NOW)
    changed = [token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :] for at in range(len(token))]
    changed += [token[:-1] + last for last in URL_SAFE if last != token[-1]]
    changed += [token[:at] for at in range(len(token))]
    changed += [token + more for more in ("A", "=", "==", "\n", " ", "\x00", "é", token)]
    changed += [" " + token, token[:10] + "\n" + token[10:], token.swapcase()]
    assert [each for each in changed if not is_refused(TOKENS.open(BINDING, each, NOW))] == []


@given(token=st.text(max_size=600) | st.binary(max_size=80).map(bytes.hex))
def test_what_was_made_up_is_refused(token: str) -> None:
    assert is_refused(TOKENS.open(BINDING, token, NOW))


def test_refusals_do_not_tell_a_foreign_token_from_a_stale_or_made_up_one() -> None:
    token = TOKENS.seal(BINDING, POSITION, NOW)
    refusals = [TOKENS.open("x", token, NOW), TOKENS.open(BINDING, token, after(NOW, HOUR)), TOKENS.open("x", "y", NOW)]
    assert refusals == [refusals[0]] * 3


def test_a_token_shows_neither_its_position_nor_that_it_was_seen_before() -> None:
    first, second = (TOKENS.seal(BINDING, POSITION, NOW) for _ in range(2))
    assert first[4:] != second[4:]
    assert len(first) == len(second)
    assert not {"00000000", POSITION, BINDING} & {first[at : at + 8] for at in range(len(first))}


def test_the_longest_position_fits_and_a_longer_one_is_a_fault() -> None:
    token = TOKENS.seal(BINDING, "a" * POSITION_BYTES, NOW)
    assert len(token) == 512
    assert TOKENS.open(BINDING, token, NOW) == "a" * POSITION_BYTES
    with pytest.raises(ValueError, match="at most 347 bytes"):
        TOKENS.seal(BINDING, "a" * (POSITION_BYTES + 1), NOW)


def test_processes_with_one_folder_open_each_others_tokens(tmp_path: Path) -> None:
    first, second = (SealedPageTokens.from_folder(tmp_path) for _ in range(2))
    elsewhere = SealedPageTokens.from_folder(tmp_path / "elsewhere")
    token = first.seal(BINDING, POSITION, NOW)
    assert second.open(BINDING, token, NOW) == POSITION
    assert is_refused(elsewhere.open(BINDING, token, NOW))


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_the_secret_has_32_bytes(size: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        SealedPageTokens(bytes(size))
