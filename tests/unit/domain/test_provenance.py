"""What is stamped is trusted no more than anything that it was made of (semantics §7, ADR-328 test 4)."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from authority.domain.citation import CitedMemory, CitedSource, cited_memory, cited_sources
from authority.domain.evidence import EvidenceState, ResolvedEvidence, vouches_for
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import MemoryType, Provenance, best_provenance, stamp_provenance
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef
from authority.domain.refusal import Refusal

ORDER = list(Provenance)
RECORD = "00000000-0000-4000-8000-000000000001"
TOOL, OTHER = PrincipalRef("tools", "linter"), PrincipalRef("tools", "other")
KINDS = st.sampled_from(PrincipalKind)


def trust(provenance: Provenance) -> int:
    """Falls with trust."""
    return ORDER.index(provenance)


@given(
    KINDS,
    st.sampled_from(MemoryType),
    st.lists(st.none() | KINDS, max_size=8),
    st.lists(st.sampled_from(Provenance), max_size=8),
    st.booleans(),
)
def test_adr328_04_what_is_stamped_is_trusted_no_more_than_any_of_its_inputs(
    kind: PrincipalKind,
    memory_type: MemoryType,
    actors: list[PrincipalKind | None],
    cited: list[Provenance],
    is_vouched_for: bool,  # noqa: FBT001 - drawn
) -> None:
    stamped = stamp_provenance(kind, memory_type, actors=actors, cited=cited, is_vouched_for=is_vouched_for)

    # by the caller's kind, by every actor's, by every record that is cited, and as a critique at most agent output
    assert trust(stamped) >= trust(stamp_provenance(kind, memory_type, is_vouched_for=is_vouched_for))
    alone = [stamp_provenance(actor, memory_type) if actor else Provenance.UNKNOWN for actor in actors]
    assert all(trust(stamped) >= trust(one) for one in (*alone, *cited))
    if memory_type is MemoryType.CRITIQUE:
        assert trust(stamped) >= trust(Provenance.AGENT_OUTPUT)
    # and it is no worse than the worst of them, nor better than the best of its kind
    assert trust(stamped) <= max(map(trust, (stamped, *alone, *cited)))
    assert trust(stamped) >= trust(best_provenance(kind, memory_type))


def test_adr328_04_only_a_tool_that_is_vouched_for_makes_tool_results() -> None:
    made = {
        (kind, is_vouched_for)
        for kind, is_vouched_for in product(PrincipalKind, (False, True))
        if stamp_provenance(kind, MemoryType.DURABLE_FACT, is_vouched_for=is_vouched_for) is Provenance.TOOL_RESULT
    }
    assert made == {(PrincipalKind.TOOL, True)}
    # and no evidence lifts what comes through a tool that somebody else acts for
    through = stamp_provenance(
        PrincipalKind.USER, MemoryType.DURABLE_FACT, actors=[PrincipalKind.TOOL], is_vouched_for=True
    )
    assert through is Provenance.UNKNOWN


def resolved(digest: bytes, state: EvidenceState, signed_by: PrincipalRef | None) -> ResolvedEvidence:
    return ResolvedEvidence(digest, state, is_kept=True, put_by=OTHER, signed_by=signed_by)


A, B = b"a" * 32, b"b" * 32
APPROVED = EvidenceState.APPROVED


@pytest.mark.parametrize(
    ("wanted", "found", "vouched"),
    [
        ((A,), [resolved(A, APPROVED, TOOL)], True),
        ((A, B), [resolved(A, APPROVED, TOOL), resolved(B, APPROVED, None)], True),
        ((), [], False),
        ((A,), [], False),
        ((A, B), [resolved(A, APPROVED, TOOL)], False),
        ((A,), [resolved(A, APPROVED, None)], False),
        ((A,), [resolved(A, APPROVED, OTHER)], False),
        ((A,), [resolved(A, EvidenceState.PENDING, TOOL)], False),
        ((A,), [resolved(A, EvidenceState.REJECTED, TOOL)], False),
        ((A, B), [resolved(A, APPROVED, TOOL), resolved(B, EvidenceState.PENDING, TOOL)], False),
        ((A,), [resolved(B, APPROVED, TOOL)], False),
    ],
)
def test_signed_evidence_resolves_when_all_of_it_is_approved_and_the_tool_signed_some(
    wanted: tuple[bytes, ...],
    found: list[ResolvedEvidence],
    vouched: bool,  # noqa: FBT001 - expected
) -> None:
    assert vouches_for(TOOL, wanted, found) is vouched


def test_a_source_that_names_a_record_cites_it_and_all_others_are_words() -> None:
    refs = ("thread:1", f"record:{RECORD}", "records", "Record:x", " record:x")
    assert cited_sources(refs) == (CitedSource("source_refs[1]", RECORD),)


@pytest.mark.parametrize("wrong", ["record:", "record:*", "record:7", f"record:{RECORD} ", f"record:{RECORD.upper()}A"])
def test_a_source_that_begins_so_and_names_no_record_is_malformed(wrong: str) -> None:
    refused = cited_sources(("thread:1", wrong))
    assert isinstance(refused, Refusal)
    assert (refused.reason, refused.facts["field"]) == (Reason.MALFORMED, "source_refs[1]")


def test_adr328_13_of_each_cited_record_it_is_known_what_became_of_it_by_now() -> None:
    # given three records that are cited, one twice, and one that is read and not cited
    refs = ("record:a", "thread:1", "record:b", "record:c", "record:a")
    found = cited_memory(refs, {"a": True, "b": False, "d": True})
    # then each is one thing: what is not read any more is withdrawn, whatever it was
    assert found == CitedMemory(frozenset("a"), frozenset("b"), frozenset("c"))
    assert found.count == 3
