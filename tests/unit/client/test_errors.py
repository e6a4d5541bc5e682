"""The tree of exceptions: total, and its messages say what to do."""

from collections.abc import Iterator

import grpc
import pytest

from capability_authority.client import errors
from capability_authority.client.errors import (
    BY_REASON,
    AuthorityError,
    BindingMismatch,
    DeadlineExceeded,
    Denied,
    Expired,
    IdempotencyConflict,
    InProgress,
    InternalFault,
    NotAdmitted,
    NotAllowed,
    Overloaded,
    ProofInvalid,
    TransportError,
    TryLater,
    Unavailable,
)
from capability_authority.client.failures import Failure
from capability_authority.v1.errors_pb2 import ErrorReason


def failure(reason: str = "", code: grpc.StatusCode = grpc.StatusCode.INTERNAL, **metadata: str) -> Failure:
    """A failed commit."""
    return Failure(
        rpc="CommitValidated",
        code=code,
        sentence="a fixed sentence",
        reason=reason,
        metadata=metadata,
        key_field="commit_idempotency_key",
        key="nightly-1",
    )


def descendants(kind: type[AuthorityError]) -> Iterator[type[AuthorityError]]:
    """Every class below, at any depth."""
    for child in kind.__subclasses__():
        yield child
        yield from descendants(child)


def test_every_reason_has_an_exception_of_its_own() -> None:
    reasons = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()} - {"UNSPECIFIED"}  # noqa: SIM118  # no dict

    assert set(BY_REASON) == reasons
    assert len(set(BY_REASON.values())) == len(reasons)


def test_every_exception_is_drawn_in_the_tree_and_exported() -> None:
    drawn = set((errors.__doc__ or "").split())
    names = {kind.__name__ for kind in descendants(AuthorityError) if kind.__module__ == errors.__name__}

    assert names <= drawn
    assert names <= set(errors.__all__)


def test_a_reason_is_grouped_by_what_it_proves_of_earlier_attempts() -> None:
    groups = {
        reason: next(group for group in (NotAdmitted, Denied, TryLater, InternalFault) if issubclass(kind, group))
        for reason, kind in BY_REASON.items()
    }

    assert {reason for reason, group in groups.items() if group is TryLater} == {
        "IN_PROGRESS",
        "BUDGET_EXHAUSTED",
        "OVERLOADED",
        "CONTENTION",
        "DEPENDENCY_UNAVAILABLE",
    }
    assert {reason for reason, group in groups.items() if group is NotAdmitted} == {
        "CALLER_UNAUTHENTICATED",
        "MALFORMED",
        "LIMIT_EXCEEDED",
        "PROOF_INVALID",
        "PROOF_REPLAYED",
        "HOLDER_MISMATCH",
        "NOT_ALLOWED",
        "NOT_FOUND",
        "NOT_IMPLEMENTED",
    }
    assert all(kind.settles == issubclass(kind, Denied) for kind in BY_REASON.values())


@pytest.mark.parametrize("kind", list(BY_REASON.values()), ids=lambda kind: kind.__name__)
def test_every_exception_tells_its_rpc_sentence_and_facts(kind: type[AuthorityError]) -> None:
    reason = next(name for name, known in BY_REASON.items() if known is kind)

    error = kind(failure(reason, incident="7"))

    assert str(error).startswith(f"CommitValidated: a fixed sentence ({reason})")
    assert (error.reason, error.message, error.metadata) == (reason, "a fixed sentence", {"incident": "7"})
    assert error.code is grpc.StatusCode.INTERNAL


def test_an_exception_in_a_list_of_answers_shows_its_sentence() -> None:
    answer = Expired(failure(reason="EXPIRED"))

    assert repr([answer]) == f"[Expired({str(answer)!r})]"


def test_an_unknown_outcome_says_how_to_find_it_out() -> None:
    error = Unavailable(failure("DEPENDENCY_UNAVAILABLE", grpc.StatusCode.UNAVAILABLE)).after(3, in_doubt=False)

    assert str(error) == (
        "CommitValidated after 3 attempts: a fixed sentence (DEPENDENCY_UNAVAILABLE); the commit may have happened:"
        " call again with the same commit_idempotency_key nightly-1, which gives its result and repeats nothing"
    )


@pytest.mark.parametrize(
    ("kind", "in_doubt", "unknown"),
    [
        (Unavailable, False, True),
        (InProgress, False, True),
        (InternalFault, False, True),
        (TransportError, False, True),
        (Overloaded, False, False),
        (Overloaded, True, True),
        (NotAllowed, False, False),
        (NotAllowed, True, True),
        (IdempotencyConflict, True, False),
    ],
)
def test_the_outcome_is_unknown_until_something_settles_it(
    kind: type[AuthorityError],
    *,
    in_doubt: bool,
    unknown: bool,
) -> None:
    error = kind(failure()).after(2, in_doubt=in_doubt)

    assert (error.outcome_unknown, error.attempts) == (unknown, 2)


def test_a_read_leaves_no_doubt() -> None:
    read = Failure(rpc="GetProposal", sentence="away", code=grpc.StatusCode.UNAVAILABLE)

    error = TransportError(read).after(5, in_doubt=True)

    assert not error.outcome_unknown
    assert str(error) == "GetProposal after 5 attempts: away; call again later"


def test_a_mismatch_says_what_it_knows() -> None:
    unexplained = BindingMismatch(failure("BINDING_MISMATCH", term="content_digest"))
    assert "term: content_digest" in str(unexplained)

    half = unexplained.explained(expected="sha256:aa", presented=None)
    assert "content_digest: expected sha256:aa, presented something else" in str(half)

    whole = unexplained.explained(expected="sha256:aa", presented="sha256:bb")
    assert "content_digest: expected sha256:aa, presented sha256:bb" in str(whole)


def test_a_conflict_says_which_request_it_met() -> None:
    settled = IdempotencyConflict(failure("IDEMPOTENCY_CONFLICT", differs="content_digest,media_type"))
    running = IdempotencyConflict(failure("IDEMPOTENCY_CONFLICT"))

    assert settled.differs == ["content_digest", "media_type"]
    assert "content_digest, media_type: expected as when commit_idempotency_key nightly-1 was first used" in str(
        settled
    )
    assert running.differs == []
    assert "the request: expected as when commit_idempotency_key nightly-1 was first used" in str(running)


def test_a_stale_proof_points_to_the_clock() -> None:
    assert "clock" in str(ProofInvalid(failure("PROOF_INVALID", proof="issue_time")))
    assert "credentials" in str(ProofInvalid(failure("PROOF_INVALID", proof="audience")))


def test_a_deadline_is_a_timeout_too() -> None:
    error = DeadlineExceeded(failure(code=grpc.StatusCode.DEADLINE_EXCEEDED))

    assert isinstance(error, TimeoutError)
    assert error.retryable
    assert "a fixed sentence" in str(error)


def test_what_others_wrote_cannot_break_a_line_of_a_log() -> None:
    hostile = Failure(rpc="GetProposal", sentence="first\nsecond\x1b[31m" + "x" * 1000, metadata={"a": "b\r\nc"})

    text = str(TransportError(hostile))

    assert text.isprintable()
    assert len(text) < 400
