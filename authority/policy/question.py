"""A policy question in Cedar's words, which `schema.cedarschema` explains."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from functools import lru_cache

from cedarpy import Entities

from authority.domain import limits
from authority.domain.decision import COMMIT_ACTION, PolicyQuestion
from authority.domain.identity import Principal
from authority.domain.record import Mode
from authority.domain.references import TenantRef
from authority.domain.validation import Finding, ValidationOutcome

PRINCIPAL, TENANT, NAMESPACE = "Authority::Principal", "Authority::Tenant", "MemoryNamespace"


def request(question: PolicyQuestion, wanted: Collection[str]) -> dict[str, object]:
    """Who would do what to what, and under which circumstances: of these those that are wanted, each a known one."""
    return {
        "principal": _uid(PRINCIPAL, str(question.holder.ref)),
        "action": _uid("Action", COMMIT_ACTION),
        "resource": _uid(NAMESPACE, question.memory_namespace),
        "context": json.dumps(_context(question, wanted)),
    }


def entities(question: PolicyQuestion) -> Entities:
    """What is known of the holder and of the memory namespace."""
    return _entities(
        question.holder, question.revision.tenant, question.memory_namespace, question.privileged, question.mode
    )


@lru_cache(maxsize=4096)
def _entities(holder: Principal, tenant: TenantRef, memory_namespace: str, privileged: bool, mode: Mode) -> Entities:  # noqa: FBT001 - a key
    """Kept by value: the same holders and memory namespaces come again and again, and parsing is half of the work."""
    principal = {"name": str(holder.ref), "kind": _word("Kind", holder.kind)}
    namespace = {"name": memory_namespace, "privileged": privileged, "mode": _word("Mode", mode)}
    return Entities.from_json_str(
        json.dumps(
            [
                _entity(_uid(PRINCIPAL, str(holder.ref)), principal, holder.tenant),
                _entity(_uid(NAMESPACE, memory_namespace), namespace, tenant),
            ]
        )
    )


def _validators(findings: Sequence[Finding]) -> dict[str, list[str]]:
    """Who said what. A validator that said several things is with each of them."""
    said: dict[str, list[str]] = {outcome.value: [] for outcome in ValidationOutcome}
    for finding in findings:
        said[finding.outcome.value].append(finding.validator)
    return said


def _subject(question: PolicyQuestion) -> str | None:
    return None if question.subject is None else str(question.subject)


def _usd_micros(question: PolicyQuestion) -> int:
    # Cedar's numbers end where each single cost may; a sum beyond is as large as can be told.
    return min(sum(cost.usd_micros for cost in question.revision.costs), limits.INT64_MAX)


def _lifetime(question: PolicyQuestion) -> dict[str, object] | None:
    revision = question.revision
    if revision.record_expire_time is None:
        return None
    milliseconds = revision.record_expire_time - revision.create_time
    return {"__extn": {"fn": "duration", "arg": f"{milliseconds}ms"}}


_CONTEXT: dict[str, Callable[[PolicyQuestion], object]] = {
    "approved": lambda it: it.approved,
    "validation": lambda it: _word("Validation", it.validation),
    "validator_profile": lambda it: it.validator_profile or it.revision.validator_profile,
    "validator_profile_version": lambda it: it.validator_profile_version,
    "validators": lambda it: _validators(it.findings),
    "provenance": lambda it: _word("Provenance", it.revision.provenance),
    "memory_type": lambda it: _word("MemoryType", it.revision.memory_type),
    "visibility": lambda it: _word("Visibility", it.revision.visibility),
    "media_type": lambda it: it.revision.media_type,
    "proposer": lambda it: str(it.revision.proposer),
    "proposer_kind": lambda it: _word("Kind", it.revision.proposer_kind),
    "delegated": lambda it: bool(it.revision.actor_chain),
    "subject": _subject,
    "actor_count": lambda it: len(it.revision.actor_chain),
    "corrects": lambda it: bool(it.revision.supersedes_record_id),
    "evidence_count": lambda it: len(it.revision.evidence_digests),
    "cited_count": lambda it: it.cited.count,
    "cited_unvalidated": lambda it: len(it.cited.unvalidated),
    "source_count": lambda it: len(it.revision.source_refs),
    "usd_micros": _usd_micros,
    "lifetime": _lifetime,
}
"""Each attribute of the schema's context and where it is read; what reads as None is absent."""

CONTEXT_ATTRIBUTES = frozenset(_CONTEXT)


def _context(question: PolicyQuestion, wanted: Collection[str]) -> dict[str, object]:
    told = ((name, _CONTEXT[name](question)) for name in wanted)
    return {name: value for name, value in told if value is not None}


def _entity(uid: dict[str, str], attributes: Mapping[str, object], tenant: TenantRef) -> dict[str, object]:
    return {"uid": uid, "attrs": attributes, "parents": [_uid(TENANT, str(tenant))]}


def _word(vocabulary: str, word: Enum) -> dict[str, object]:
    return {"__entity": _uid(vocabulary, str(word.value))}


def _uid(entity_type: str, entity_id: str) -> dict[str, str]:
    return {"type": entity_type, "id": entity_id}
