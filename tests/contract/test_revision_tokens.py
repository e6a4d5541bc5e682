"""The contract of the port `RevisionTokens`: sealed, bound to a tenant, and good for ever."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.domain.freshness import Freshness
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.signing.page_tokens import SealedPageTokens
from authority.signing.revision_tokens import SealedRevisionTokens
from authority.usecases.ports import RevisionTokens

TENANT = TenantRef("acme", "t1")
RECEIPT = Freshness(receipt_id="0190f3a0-0000-7000-8000-000000000001")
TOKENS: RevisionTokens = SealedRevisionTokens(bytes(range(32)))


def is_refused(answer: Freshness | Refusal) -> bool:
    """Whether it is MALFORMED `at_least_as_fresh_as`; anything but a freshness or that fails the test."""
    if isinstance(answer, Refusal):
        assert (answer.reason, answer.facts["field"]) == (Reason.MALFORMED, "at_least_as_fresh_as")
        return True
    return False


@given(sequence=st.integers(1, 2**63 - 1))
def test_a_token_says_what_was_sealed(sequence: int) -> None:
    for freshness in (RECEIPT, Freshness(tombstone_sequence=sequence)):
        token = TOKENS.seal(TENANT, freshness)
        assert TOKENS.open(TENANT, token) == freshness
        assert len(token) <= 512
        assert token.isascii()


@pytest.mark.parametrize("other", [TenantRef("acme", "t2"), TenantRef("other", "t1"), TenantRef("acme|t1", "")])
def test_a_token_is_of_one_tenant(other: TenantRef) -> None:
    assert is_refused(TOKENS.open(other, TOKENS.seal(TENANT, RECEIPT)))


@given(text=st.text(max_size=80))
def test_what_was_not_sealed_is_refused(text: str) -> None:
    assert is_refused(TOKENS.open(TENANT, text))


def test_a_token_with_one_character_changed_is_refused() -> None:
    token = TOKENS.seal(TENANT, RECEIPT)
    for index, character in enumerate(token):
        assert is_refused(TOKENS.open(TENANT, token[:index] + ("A" if character != "A" else "B") + token[index + 1 :]))


def test_tokens_of_two_kinds_are_not_taken_for_each_other(tmp_path: Path) -> None:
    # given both kinds under one secret, as a service has them
    pages, revisions = SealedPageTokens.from_folder(tmp_path), SealedRevisionTokens.from_folder(tmp_path)
    page, revision = pages.seal(str(TENANT), "r1", Instant(0)), revisions.seal(TENANT, RECEIPT)
    # then neither opens the other
    assert is_refused(revisions.open(TENANT, page))
    assert isinstance(pages.open(str(TENANT), revision, Instant(0)), Refusal)
    # and another process with that secret opens it
    assert SealedRevisionTokens.from_folder(tmp_path).open(TENANT, revision) == RECEIPT


def test_another_secret_opens_nothing() -> None:
    assert is_refused(SealedRevisionTokens(bytes(32)).open(TENANT, TOKENS.seal(TENANT, RECEIPT)))
