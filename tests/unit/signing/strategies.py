"""Arbitrary good domain values."""

import string
from hashlib import sha256

from hypothesis import strategies as st

from authority.domain import limits, shape
from authority.domain.capability import CommitCapability
from authority.domain.decision import DecisionOutcome, DecisionReceipt
from authority.domain.evidence import EvidenceClaim
from authority.domain.grant import ACTIONS, Grant
from authority.domain.invocation import Invocation
from authority.domain.plan import CommitReceipt
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.validation import Finding, ValidationOutcome, ValidationReceipt
from authority.signing.codec.attestation import KeyAttestation

_FIRST = string.ascii_letters + string.digits
_REST = _FIRST + "._:@+/-"


def identifiers(most: int = limits.ID_BYTES) -> st.SearchStrategy[str]:
    """Ids up to the longest."""
    rest = st.text(_REST, max_size=most - 1)
    return st.builds(str.__add__, st.sampled_from(_FIRST), rest)


def maybe(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Or empty."""
    return st.just("") | values


IDS = identifiers()
MADE_IDS = st.uuids().map(str)
DIGESTS = st.binary(min_size=32, max_size=32)
INSTANTS = st.integers(limits.EARLIEST_MS, limits.LATEST_MS).map(Instant)
REVISIONS = st.integers(1, limits.INT32_MAX)
TENANTS = st.builds(TenantRef, IDS, IDS)
PRINCIPALS = st.builds(PrincipalRef, IDS, IDS)
EVIDENCE = st.lists(DIGESTS, max_size=limits.EVIDENCE_DIGESTS, unique=True).map(tuple)

CAPABILITIES = st.builds(
    CommitCapability,
    capability_id=MADE_IDS,
    issuer=IDS,
    audience=IDS,
    tenant=TENANTS,
    memory_namespace=IDS,
    subject=PRINCIPALS,
    holder=PRINCIPALS,
    holder_key=DIGESTS,
    action=IDS,
    proposal_id=MADE_IDS,
    proposal_revision=REVISIONS,
    proposal_digest=DIGESTS,
    content_digest=DIGESTS,
    media_type=st.sampled_from(["application/json", "text/plain"]),
    evidence_digests=EVIDENCE,
    validator_profile=IDS,
    validator_profile_version=IDS,
    validation_receipt_digest=DIGESTS,
    policy_version=DIGESTS,
    decision_receipt_digest=DIGESTS,
    approval_reference=maybe(MADE_IDS),
    commit_idempotency_key=identifiers(limits.KEY_BYTES),
    not_before_time=INSTANTS,
    expire_time=INSTANTS,
    max_uses=st.just(1),
    correlation_id=maybe(IDS),
    grant_digest=st.just(b"") | DIGESTS,
)
VALIDATIONS = st.builds(
    ValidationReceipt,
    validation_id=MADE_IDS,
    issuer=IDS,
    tenant=TENANTS,
    memory_namespace=IDS,
    proposal_id=MADE_IDS,
    proposal_revision=REVISIONS,
    proposal_digest=DIGESTS,
    validator_profile=IDS,
    validator_profile_version=IDS,
    findings=st.lists(
        st.builds(Finding, IDS, IDS, st.sampled_from(ValidationOutcome), maybe(IDS), st.integers(0, 1000)), max_size=4
    ).map(tuple),
    outcome=st.sampled_from(ValidationOutcome),
    validate_time=INSTANTS,
    expire_time=INSTANTS,
)
DECISIONS = st.builds(
    DecisionReceipt,
    decision_id=MADE_IDS,
    issuer=IDS,
    tenant=TENANTS,
    memory_namespace=IDS,
    holder=PRINCIPALS,
    action=IDS,
    proposal_id=MADE_IDS,
    proposal_revision=REVISIONS,
    proposal_digest=DIGESTS,
    validation_receipt_digest=DIGESTS,
    approval_references=st.lists(IDS, max_size=3).map(tuple),
    policy_version=DIGESTS,
    outcome=st.sampled_from(DecisionOutcome),
    determining_policies=st.lists(IDS, max_size=3).map(tuple),
    sequence=st.integers(0, limits.INT64_MAX),
    decide_time=INSTANTS,
    expire_time=INSTANTS,
    correlation_id=maybe(IDS),
)
RECEIPTS = st.builds(
    CommitReceipt,
    receipt_id=MADE_IDS,
    issuer=IDS,
    record_id=MADE_IDS,
    capability=CAPABILITIES,
    capability_digest=DIGESTS,
    request_fingerprint=DIGESTS,
    commit_time=INSTANTS,
)
INVOCATIONS = st.builds(
    Invocation,
    tenant=TENANTS,
    principal=PRINCIPALS,
    audience=st.text(max_size=40),
    method=st.text(max_size=40),
    request_digest=DIGESTS,
    nonce=st.binary(min_size=16, max_size=32),
    issue_time=INSTANTS,
)
CLAIMS = st.builds(
    EvidenceClaim,
    tenant=TENANTS,
    signer=PRINCIPALS,
    content_digest=DIGESTS,
    media_type=st.sampled_from(["text/plain", "application/sarif+json", "image/png"]),
    create_time=INSTANTS,
)
_SELECTORS = IDS.filter(shape.is_selector) | IDS.map(lambda text: f"{text}/*").filter(shape.is_selector)
_AMOUNTS = st.none() | st.integers(0, limits.INT64_MAX)
_FLAGS = st.none() | st.booleans()


def _granted(names: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...] | None]:
    return st.none() | st.lists(names, max_size=4, unique=True).map(tuple)


@st.composite
def _grants(draw: st.DrawFn) -> Grant:
    public_key = draw(st.just(b"") | DIGESTS)
    return Grant(
        issuer=draw(maybe(IDS)),
        delegated_by=draw(st.none() | PRINCIPALS),
        tenant=draw(TENANTS),
        subject=draw(PRINCIPALS),
        actor_chain=draw(st.lists(PRINCIPALS, max_size=limits.DELEGATION_DEPTH).map(tuple)),
        holder=draw(PRINCIPALS),
        holder_key=sha256(public_key).digest() if public_key else draw(DIGESTS),
        audiences=draw(_granted(IDS)),
        actions=draw(_granted(st.sampled_from(sorted(ACTIONS)))),
        resources=draw(_granted(_SELECTORS)),
        read_memory_namespaces=draw(_granted(_SELECTORS)),
        write_memory_namespaces=draw(_granted(_SELECTORS)),
        tools=draw(_granted(_SELECTORS)),
        providers=draw(_granted(_SELECTORS)),
        models=draw(_granted(_SELECTORS)),
        usd_micros=draw(_AMOUNTS),
        tokens=draw(_AMOUNTS),
        latency_ms=draw(_AMOUNTS),
        concurrency=draw(_AMOUNTS),
        uses=draw(_AMOUNTS),
        network=draw(_FLAGS),
        destructive=draw(_FLAGS),
        not_before_time=draw(INSTANTS),
        expire_time=draw(INSTANTS),
        delegation_depth=draw(st.integers(0, limits.DELEGATION_DEPTH)),
        policy_version=draw(DIGESTS),
        parent_digest=draw(st.just(b"") | DIGESTS),
        correlation_id=draw(maybe(IDS)),
        nonce=draw(st.binary(min_size=16, max_size=16)),
        holder_public_key=public_key,
    )


GRANTS = _grants()
ATTESTATIONS = st.builds(
    KeyAttestation,
    issuer=IDS,
    tenant=TENANTS,
    statement_digest=DIGESTS,
    signature_digest=DIGESTS,
    key_id=DIGESTS.map(lambda raw: f"sha256:{raw.hex()}"),
    attest_time=INSTANTS,
)
