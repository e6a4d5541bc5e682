"""Small rules: reasons in order, shapes, provenance, rights, validation, visibility."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.domain import limits, shape
from authority.domain.identity import HOLDER_KINDS, Principal, PrincipalKind, Right
from authority.domain.invocation import Call, Invocation, judge_fit
from authority.domain.proposal import MemoryType, Provenance, least_trusted, stamp_provenance
from authority.domain.reasons import Reason
from authority.domain.references import MINUTE, SECOND, Instant
from authority.domain.refusal import Refusal, highest
from authority.domain.validation import Finding, ValidationOutcome, worst
from tests.unit.domain.terms import HOLDER, NOW, TENANT


def test_the_highest_refusal_answers_whatever_the_order() -> None:
    low, high = Refusal(Reason.NOT_FOUND), Refusal(Reason.BINDING_MISMATCH, {"term": "action"})

    assert highest((low, None, high)) is high
    assert highest((high, low)) is high
    assert highest((None, None)) is None


@pytest.mark.parametrize("text", ["k1", "K1", "a" * 256, "cognitum-tenant:x/y@z.w+1"])
def test_ids_of_the_charset_are_accepted(text: str) -> None:
    assert shape.is_id(text)


@pytest.mark.parametrize(
    "text",
    ["", " k1", "k1 ", "k1\n", "k\u200b1", "k\x001", "-k", ".k", "k|1", "k,1", "é", "a" * 257, "\uff0a", "*"],
)
def test_a09_g01_whitespace_wildcards_and_look_alikes_are_no_ids(text: str) -> None:
    assert not shape.is_id(text)


@given(st.text(max_size=300))
def test_an_id_is_short_ascii_and_holds_no_separator(text: str) -> None:
    if shape.is_id(text):
        assert text.isascii()
        assert text.isprintable()
        assert not set(text) & set("|, \n")
        assert 0 < len(text) <= limits.ID_BYTES


def test_c15_instants_have_both_ends() -> None:
    assert shape.is_instant(limits.EARLIEST_MS)
    assert shape.is_instant(limits.LATEST_MS)
    assert not shape.is_instant(limits.EARLIEST_MS - 1)
    assert not shape.is_instant(limits.LATEST_MS + 1)
    assert not shape.is_instant(2**63)


@pytest.mark.parametrize(
    ("kind", "stamped"),
    [
        (PrincipalKind.AGENT, Provenance.AGENT_OUTPUT),
        (PrincipalKind.MODEL, Provenance.AGENT_OUTPUT),
        (PrincipalKind.USER, Provenance.USER_CLAIM),
        (PrincipalKind.OBSERVER, Provenance.SYSTEM_OBSERVATION),
        (PrincipalKind.TOOL, Provenance.UNKNOWN),
        (PrincipalKind.SERVICE, Provenance.UNKNOWN),
        (PrincipalKind.VALIDATOR, Provenance.UNKNOWN),
        (PrincipalKind.ADMIN, Provenance.UNKNOWN),
    ],
)
def test_g12_provenance_follows_the_kind_of_the_caller(kind: PrincipalKind, stamped: Provenance) -> None:
    assert stamp_provenance(kind, MemoryType.DURABLE_FACT) is stamped


def test_adr328_04_a_critique_is_agent_output_not_a_system_observation() -> None:
    assert stamp_provenance(PrincipalKind.OBSERVER, MemoryType.CRITIQUE) is Provenance.AGENT_OUTPUT
    assert stamp_provenance(PrincipalKind.USER, MemoryType.CRITIQUE) is Provenance.AGENT_OUTPUT
    assert stamp_provenance(PrincipalKind.SERVICE, MemoryType.CRITIQUE) is Provenance.UNKNOWN


@given(st.lists(st.sampled_from(Provenance), min_size=1))
def test_consolidating_never_raises_provenance(sources: list[Provenance]) -> None:
    order = list(Provenance)
    assert all(order.index(least_trusted(*sources)) >= order.index(source) for source in sources)


@pytest.mark.parametrize("kind", list(PrincipalKind))
def test_adr328_07_whatever_the_operator_writes_agents_and_models_never_commit(kind: PrincipalKind) -> None:
    principal = Principal(TENANT, HOLDER, kind, frozenset(Right))

    assert principal.may(Right.COMMIT) == (kind in HOLDER_KINDS)
    assert principal.may(Right.ISSUE) == (kind not in {PrincipalKind.AGENT, PrincipalKind.MODEL})
    assert principal.may(Right.DECIDE) == (kind in {PrincipalKind.USER, PrincipalKind.ADMIN})


def finding(outcome: ValidationOutcome) -> Finding:
    return Finding("v", "1", outcome, "", 1000)


def test_the_worst_finding_decides_and_a_profile_without_any_passes_nothing() -> None:
    passed, review, failed = (finding(outcome) for outcome in ValidationOutcome)

    assert worst((passed, passed)) is ValidationOutcome.PASS
    assert worst((passed, review)) is ValidationOutcome.REVIEW
    assert worst((failed, review, passed)) is ValidationOutcome.FAIL
    assert worst(()) is ValidationOutcome.FAIL


INVOCATION = Invocation(
    tenant=TENANT,
    principal=HOLDER,
    audience="audience",
    method="/s/M",
    request_digest=b"\x01" * 32,
    nonce=b"\x02" * 16,
    issue_time=NOW,
)


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        (Call("audience", "/s/M", b"\x01" * 32, is_read=False), None),
        (Call("elsewhere", "/s/M", b"\x01" * 32, is_read=False), "audience"),
        (Call("audience", "/s/Other", b"\x01" * 32, is_read=False), "method"),
        (Call("audience", "/s/M", b"\x03" * 32, is_read=False), "request_digest"),
    ],
)
def test_i05_a_proof_fits_one_audience_one_rpc_and_one_request(call: Call, wrong: str | None) -> None:
    refusal = judge_fit(INVOCATION, call, NOW)

    assert refusal == (Refusal(Reason.PROOF_INVALID, {"proof": wrong}) if wrong else None)


@pytest.mark.parametrize(
    ("works_once", "age_ms", "fresh"),
    [
        (False, 5 * MINUTE - 1, True),
        (False, 5 * MINUTE, False),
        (True, MINUTE - 1, True),
        (True, MINUTE, False),
        (True, -30 * SECOND, True),
        (True, -30 * SECOND - 1, False),
    ],
)
def test_a_proof_is_fresh_for_five_minutes_and_one_that_works_once_for_one(
    works_once: bool,  # noqa: FBT001 - a parameter
    age_ms: int,
    fresh: bool,  # noqa: FBT001
) -> None:
    now, digest = Instant(NOW + age_ms), b"\x01" * 32
    unary = Call("audience", "/s/M", digest, is_read=works_once)
    stream = Call("audience", "/s/M", digest, is_read=False, opens_stream=works_once)

    assert (judge_fit(INVOCATION, unary, now) is None) is fresh
    assert (judge_fit(INVOCATION, stream, now) is None) is fresh
