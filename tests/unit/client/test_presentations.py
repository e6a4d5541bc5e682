"""What is presented, what is bound, and how a refused term is explained."""

import pytest

from capability_authority.client import BindingMismatch
from capability_authority.client.failures import Failure
from capability_authority.client.presentations import explain, present, terms_of
from capability_authority.offline import PayloadTypeMismatch, sha256, sign, to_wire
from capability_authority.v1.capability_service_pb2 import Presentation
from capability_authority.v1.statements_pb2 import CommitCapability, Invocation
from capability_authority.v1.types_pb2 import PrincipalRef
from tests.unit.client.test_credentials import CREDENTIALS, KEY

TERMS = CommitCapability(
    capability_id="capability-1",
    audience="memory.example",
    holder=PrincipalRef(namespace="workload", id="committer"),
    holder_key=KEY.public_key.thumbprint,
    proposal_revision=3,
    content_digest=sha256(b"bound"),
    media_type="text/plain",
    evidence_digests=[sha256(b"log"), sha256(b"trace")],
    commit_idempotency_key="nightly-1",
)


def explained(term: str, presentation: Presentation) -> tuple[str | None, str | None]:
    """What a refusal of this term expects, and what was presented."""
    failure = Failure(rpc="CommitValidated", sentence="a bound term differs", metadata={"term": term})
    error = explain(BindingMismatch(failure), TERMS, presentation, CREDENTIALS)
    return error.expected, error.presented


def test_what_is_not_given_is_what_is_bound() -> None:
    presentation = present(TERMS, b"bound", None, None, None)

    assert presentation == Presentation(
        content=b"bound",
        media_type="text/plain",
        evidence_digests=[to_wire(sha256(b"log")), to_wire(sha256(b"trace"))],
        commit_idempotency_key="nightly-1",
    )


def test_what_is_given_is_presented_even_when_it_is_empty() -> None:
    presentation = present(TERMS, {"a": 1}, None, [], "")

    assert presentation == Presentation(content=b'{"a":1}', media_type="application/json")


@pytest.mark.parametrize("term", [field.name for field in CommitCapability.DESCRIPTOR.fields])
def test_every_bound_term_can_be_explained(term: str) -> None:
    expected, _ = explained(term, Presentation())

    assert expected is not None


def test_both_sides_of_what_was_presented_are_told() -> None:
    presentation = present(TERMS, "other", None, [to_wire(sha256(b"log"))], "nightly-2")

    assert explained("content_digest", presentation) == (to_wire(sha256(b"bound")), to_wire(sha256(b"other")))
    assert explained("commit_idempotency_key", presentation) == ("nightly-1", "nightly-2")
    assert explained("evidence_digests", presentation) == (
        f"{to_wire(sha256(b'log'))}, {to_wire(sha256(b'trace'))}",
        to_wire(sha256(b"log")),
    )
    assert explained("holder_key", presentation) == (KEY.public_key.key_id, KEY.public_key.key_id)
    assert explained("holder", presentation) == ("workload committer", None)
    assert explained("proposal_revision", presentation) == ("3", None)


def test_a_term_that_is_not_bound_stays_unexplained() -> None:
    assert explained("weather", Presentation()) == (None, None)


def test_a_statement_of_another_kind_is_no_capability() -> None:
    statement = sign(Invocation(), KEY)

    with pytest.raises(PayloadTypeMismatch):
        terms_of(statement)
    assert terms_of(sign(TERMS, KEY))[1] == TERMS
