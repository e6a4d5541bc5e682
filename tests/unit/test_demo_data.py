"""The demo's data: enough of everything, no line twice, and expectations that the rules of the domain bear out."""

import json
import re
from collections import Counter

import pytest
import rfc8785
from pydantic import TypeAdapter

from authority.domain import limits
from authority.domain.capability import CommitCapability
from authority.domain.decision import DecisionOutcome, PolicyQuestion
from authority.domain.identity import RIGHTS_BY_KIND, Principal, PrincipalKind, Right
from authority.domain.proposal import (
    MemoryType,
    ProposalRevision,
    Provenance,
    Visibility,
    stamp_provenance,
)
from authority.domain.reasons import Reason
from authority.domain.references import HOUR, Instant, PrincipalRef
from authority.domain.shape import is_id, is_reference
from authority.domain.validation import BASELINE, ValidationOutcome
from authority.embedded.demo import DemoDataError, DemoProposal, DemoTenant, Stage, Twist, load_proposals, load_tenants
from authority.embedded.demo.loader import read_lines
from authority.policy.bundle import default_bundle
from authority.policy.engine import CedarPolicyEngine
from authority.validators.profiles import BUILT_IN

PROPOSALS = load_proposals()
TENANTS = {tenant.tenant: tenant for tenant in load_tenants()}
PRIVILEGED = {
    (t.tenant, namespace.name) for t in TENANTS.values() for namespace in t.memory_namespaces if namespace.privileged
}
NOW = Instant(1_790_000_000_000)
REFUSED_BY = {
    Twist.CHANGED_CONTENT: (Stage.COMMIT, "BINDING_MISMATCH", "content_digest"),
    Twist.OVERSIZED: (Stage.PROPOSE, "LIMIT_EXCEEDED", ""),
    Twist.WRONG_TENANT: (Stage.COMMIT, "HOLDER_MISMATCH", ""),
    Twist.UNAPPROVED: (Stage.ISSUE, "APPROVAL_REQUIRED", ""),
    Twist.DUPLICATE: (Stage.VALIDATE, "exact_duplicate", ""),
    Twist.REORDERED_EVIDENCE: (Stage.COMMIT, "BINDING_MISMATCH", "evidence_digests"),
    Twist.NON_CANONICAL_JSON: (Stage.PROPOSE, "MALFORMED", ""),
    Twist.OTHER_KEY: (Stage.COMMIT, "BINDING_MISMATCH", "commit_idempotency_key"),
}

each = pytest.mark.parametrize("line", PROPOSALS, ids=lambda line: line.name)


def content_bytes(line: DemoProposal) -> bytes:
    """The content as a client proposes it, before padding."""
    return line.content.encode() if isinstance(line.content, str) else rfc8785.dumps(line.content)


def revision(line: DemoProposal) -> ProposalRevision:
    kind = PrincipalKind(line.proposer)
    return ProposalRevision(
        tenant=TENANTS[line.tenant].ref,
        memory_namespace=line.memory_namespace,
        proposal_id="00000000-0000-4000-8000-000000000001",
        revision=1,
        proposer=PrincipalRef("demo", line.proposer),
        proposer_kind=kind,
        actor_chain=(),
        provenance=stamp_provenance(kind, line.memory_type),
        memory_type=line.memory_type,
        content_digest=bytes(32),
        media_type=line.media_type,
        source_refs=line.source_refs,
        subject_refs=line.subject_refs,
        evidence_digests=tuple(bytes.fromhex(digest.removeprefix("sha256:")) for digest in line.evidence_digests),
        validator_profile=BASELINE,
        visibility=line.visibility,
        valid_from_time=line.valid_from_time(NOW),
        valid_until_time=line.valid_until_time(NOW),
        record_expire_time=line.record_expire_time(NOW),
        correlation_id="",
        costs=line.costs,
        supersedes_record_id="",
        create_time=NOW,
    )


def is_canonical(content: bytes) -> bool:
    """Whether JSON content is in RFC 8785 form."""
    return rfc8785.dumps(json.loads(content)) == content


def decide(line: DemoProposal, *, approved: bool) -> DecisionOutcome:
    """What the shipped policy says of the line's own holder, had the validators passed it."""
    tenant = TENANTS[line.tenant].ref
    committer = Principal(
        tenant, PrincipalRef("demo", "committer"), PrincipalKind.SERVICE, RIGHTS_BY_KIND[PrincipalKind.SERVICE]
    )
    privileged = (line.tenant, line.memory_namespace) in PRIVILEGED
    question = PolicyQuestion(
        committer, line.memory_namespace, privileged, revision(line), ValidationOutcome.PASS, approved
    )
    return CedarPolicyEngine().evaluate(default_bundle(), question).outcome


def test_there_is_enough_of_everything() -> None:
    outcomes = Counter(line.expect.outcome for line in PROPOSALS)

    assert 55 <= len(PROPOSALS) <= 70
    assert outcomes["refused"] >= 14
    assert len(TENANTS) == 3
    assert all(count >= 15 for count in Counter(line.tenant for line in PROPOSALS).values())
    assert {line.twist for line in PROPOSALS} == {None, *Twist}


def test_provenances_and_memory_types_are_all_committed() -> None:
    committed = [line for line in PROPOSALS if line.twist is None]

    assert {line.expect.provenance for line in committed} == set(Provenance) - {Provenance.TOOL_RESULT}
    assert {line.memory_type for line in committed} == set(MemoryType)
    assert {line.visibility for line in committed} >= {Visibility.PRIVATE, Visibility.TEAM, Visibility.WORKSPACE}
    assert {line.media_type for line in committed} == {"application/json", "text/plain"}
    assert {line.expect.approval for line in committed} == {True, False}
    assert {(line.tenant, line.memory_namespace) for line in committed} >= PRIVILEGED


def test_no_name_and_no_content_stands_twice() -> None:
    originals = [line for line in PROPOSALS if line.twist is not Twist.DUPLICATE]

    assert len({line.name for line in PROPOSALS}) == len(PROPOSALS)
    assert len({content_bytes(line) for line in originals}) == len(originals)


def test_a_duplicate_follows_the_original_that_is_committed() -> None:
    place = {line.name: number for number, line in enumerate(PROPOSALS)}
    duplicates = [line for line in PROPOSALS if line.twist is Twist.DUPLICATE]

    for line in duplicates:
        original = PROPOSALS[place[line.duplicate_of or ""]]
        assert place[original.name] < place[line.name]
        assert original.expect.outcome == "committed"
        assert (original.tenant, original.memory_namespace) == (line.tenant, line.memory_namespace)
        assert content_bytes(original) == content_bytes(line)


@each
def test_a_line_would_be_taken_but_for_its_twist(line: DemoProposal) -> None:
    namespaces = {namespace.name for namespace in TENANTS[line.tenant].memory_namespaces}

    assert line.memory_namespace in namespaces
    assert is_id(line.name)
    assert all(is_reference(ref) for ref in (*line.source_refs, *line.subject_refs))
    assert line.source_refs
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in line.evidence_digests)
    assert len(set(line.evidence_digests)) == len(line.evidence_digests)
    assert 0 < len(content_bytes(line)) < 4096
    assert Right.PROPOSE in RIGHTS_BY_KIND[PrincipalKind(line.proposer)]
    assert isinstance(line.content, str) or line.media_type == "application/json"


@each
def test_a_committed_record_can_be_read_back(line: DemoProposal) -> None:
    can_read_its_own = Right.READ in RIGHTS_BY_KIND[PrincipalKind(line.proposer)]

    assert can_read_its_own or line.visibility is Visibility.WORKSPACE
    assert (line.valid_from_hours or 0) <= 0
    assert line.valid_until_hours is None or line.valid_until_hours >= 1
    assert line.record_expire_hours is None or line.record_expire_hours >= 1


@each
def test_a_twist_is_refused_where_and_why_it_says(line: DemoProposal) -> None:
    expect = line.expect
    told = (expect.at, expect.reason, expect.term)

    assert (expect.outcome == "refused") == (line.twist is not None)
    assert told == (REFUSED_BY[line.twist] if line.twist else (None, "", ""))


def test_reasons_terms_and_validators_exist() -> None:
    validators = set(BUILT_IN[BASELINE][1])

    for stage, reason, term in REFUSED_BY.values():
        assert reason in (validators if stage is Stage.VALIDATE else Reason.__members__)
        assert not term or term in CommitCapability.__dataclass_fields__


@each
def test_a_twist_has_what_it_needs(line: DemoProposal) -> None:
    assert (line.pad_to is not None) == (line.twist is Twist.OVERSIZED)
    assert (line.duplicate_of is not None) == (line.twist is Twist.DUPLICATE)
    assert line.pad_to is None or line.pad_to == limits.CONTENT_BYTES + 1
    assert line.twist is not Twist.REORDERED_EVIDENCE or len(line.evidence_digests) > 1


@each
def test_only_the_twisted_json_is_not_canonical(line: DemoProposal) -> None:
    is_twisted = line.twist is Twist.NON_CANONICAL_JSON

    assert is_twisted == (line.media_type == "application/json" and not is_canonical(content_bytes(line)))


@each
def test_adr328_04_provenance_is_stamped_by_the_proposer_and_the_type(line: DemoProposal) -> None:
    assert stamp_provenance(PrincipalKind(line.proposer), line.memory_type) is line.expect.provenance


@each
def test_approval_is_required_as_the_shipped_policy_says(line: DemoProposal) -> None:
    reaches_policy = line.expect.at not in {Stage.PROPOSE, Stage.VALIDATE}
    expected = DecisionOutcome.REQUIRE_APPROVAL if line.expect.approval else DecisionOutcome.ALLOW

    assert line.expect.approval is False or reaches_policy
    assert not reaches_policy or decide(line, approved=False) is expected
    assert not reaches_policy or decide(line, approved=True) is DecisionOutcome.ALLOW


def test_a_body_cannot_lift_its_own_provenance() -> None:
    claiming = [line for line in PROPOSALS if isinstance(line.content, dict) and "provenance" in line.content]

    assert [(line.proposer, line.content["provenance"]) for line in claiming if isinstance(line.content, dict)] == [
        ("agent", "system_observation")
    ]
    assert [line.expect.provenance for line in claiming] == [Provenance.AGENT_OUTPUT]


def test_instructions_hidden_in_content_do_not_get_in() -> None:
    hidden = [line for line in PROPOSALS if "ignore all previous instructions" in str(line.content).lower()]

    assert [line.expect.outcome for line in hidden] == ["refused"]


def test_times_are_reckoned_from_the_moment_of_proposing() -> None:
    line = next(line for line in PROPOSALS if line.valid_from_hours and line.valid_until_hours)

    assert line.valid_from_time(NOW) == NOW + line.valid_from_hours * HOUR  # type: ignore[operator]  # chosen above
    assert line.valid_until_time(NOW) == NOW + line.valid_until_hours * HOUR  # type: ignore[operator]
    assert line.record_expire_time(NOW) is None


GOOD_LINE = json.loads('{"tenant": "t", "about": "a", "memory_namespaces": [{"name": "n", "privileged": false}]}')


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"tenant": 5}, "line 2, tenant: Input should be a valid string"),
        ({"memory_namespaces": [{"name": "n"}]}, "line 2, memory_namespaces.0.privileged: Field required"),
        ({"extra": 1}, "line 2, extra: Unexpected keyword argument"),
    ],
)
def test_a_wrong_line_is_told_with_its_place_and_field(change: dict[str, object], told: str) -> None:
    text = "\n".join([json.dumps(GOOD_LINE), json.dumps({**GOOD_LINE, **change}), ""])

    with pytest.raises(DemoDataError, match=f"^data.jsonl {told}"):
        read_lines("data.jsonl", text, TypeAdapter(DemoTenant))


def test_a_line_that_is_no_json_is_told_with_its_place() -> None:
    with pytest.raises(DemoDataError, match=r"^data\.jsonl line 1: Invalid JSON"):
        read_lines("data.jsonl", "{", TypeAdapter(DemoProposal))
