"""A policy question in Cedar's words, which `schema.cedarschema` explains."""

import json
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache

from cedarpy import Entities

from authority.domain import limits
from authority.domain.decision import COMMIT_ACTION, PolicyQuestion
from authority.domain.identity import Principal
from authority.domain.proposal import ProposalRevision
from authority.domain.references import TenantRef

PRINCIPAL, TENANT, NAMESPACE = "Authority::Principal", "Authority::Tenant", "MemoryNamespace"


def request(question: PolicyQuestion) -> dict[str, object]:
    """Who would do what to what, and under which circumstances."""
    return {
        "principal": _uid(PRINCIPAL, str(question.holder.ref)),
        "action": _uid("Action", COMMIT_ACTION),
        "resource": _uid(NAMESPACE, question.memory_namespace),
        "context": json.dumps(_context(question)),
    }


def entities(question: PolicyQuestion) -> Entities:
    """What is known of the holder and of the memory namespace."""
    return _entities(question.holder, question.revision.tenant, question.memory_namespace, question.privileged)


@lru_cache(maxsize=4096)
def _entities(holder: Principal, tenant: TenantRef, memory_namespace: str, privileged: bool) -> Entities:  # noqa: FBT001 - a key
    """Kept by value: the same holders and memory namespaces come again and again, and parsing is half of the work."""
    principal = {"name": str(holder.ref), "kind": _word("Kind", holder.kind)}
    namespace = {"name": memory_namespace, "privileged": privileged}
    return Entities.from_json_str(
        json.dumps(
            [
                _entity(_uid(PRINCIPAL, str(holder.ref)), principal, holder.tenant),
                _entity(_uid(NAMESPACE, memory_namespace), namespace, tenant),
            ]
        )
    )


def _context(question: PolicyQuestion) -> dict[str, object]:
    revision = question.revision
    return {
        "approved": question.approved,
        "validation": _word("Validation", question.validation),
        "validator_profile": revision.validator_profile,
        "provenance": _word("Provenance", revision.provenance),
        "memory_type": _word("MemoryType", revision.memory_type),
        "visibility": _word("Visibility", revision.visibility),
        "media_type": revision.media_type,
        "proposer": str(revision.proposer),
        "proposer_kind": _word("Kind", revision.proposer_kind),
        "evidence_count": len(revision.evidence_digests),
        "source_count": len(revision.source_refs),
        # Cedar's numbers end where each single cost may; a sum beyond is as large as can be told.
        "usd_micros": min(sum(cost.usd_micros for cost in revision.costs), limits.INT64_MAX),
        **_lifetime(revision),
    }


def _lifetime(revision: ProposalRevision) -> dict[str, object]:
    if revision.record_expire_time is None:
        return {}
    milliseconds = revision.record_expire_time - revision.create_time
    return {"lifetime": {"__extn": {"fn": "duration", "arg": f"{milliseconds}ms"}}}


def _entity(uid: dict[str, str], attributes: Mapping[str, object], tenant: TenantRef) -> dict[str, object]:
    return {"uid": uid, "attrs": attributes, "parents": [_uid(TENANT, str(tenant))]}


def _word(vocabulary: str, word: Enum) -> dict[str, object]:
    return {"__entity": _uid(vocabulary, str(word.value))}


def _uid(entity_type: str, entity_id: str) -> dict[str, str]:
    return {"type": entity_type, "id": entity_id}
