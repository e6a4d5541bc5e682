"""The words of `cognitum.action.v1`: who may say what to whom, and what each action has to name.

The facts are those of the published upstream module (npm `claude-flow` 3.43.0), told in our own words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = [
    "ACTIONS",
    "AUTHORITIES",
    "COMMIT_VALIDATED",
    "IDENTITY_NAMESPACES",
    "PRIVACY_CLASSES",
    "SCHEMA_VERSION",
    "TENANT_NAMESPACES",
    "ActionRule",
]

SCHEMA_VERSION: Final = "cognitum.action.v1"

COMMIT_VALIDATED: Final = "memory.commit-validated"

AUTHORITIES: Final = frozenset(
    {
        "agentbbs",
        "cognitum.cog",
        "cognitum.control-plane",
        "comms",
        "meta-llm",
        "ruflo.memory",
        "ruflo.policy",
        "ruview.edge",
    }
)
"""Who can issue an envelope, and whom it can be for."""

IDENTITY_NAMESPACES: Final = frozenset(
    {
        "agentbbs-public-key",
        "cognitum-principal",
        "firebase-subject",
        "legacy-principal",
        "meta-llm-account",
        "ruflo-agent",
        "workload",
    }
)
"""Of subjects and actors."""

TENANT_NAMESPACES: Final = frozenset(
    {
        "agentbbs-board",
        "cognitum-tenant",
        "comms-tenant",
        "meta-llm-account",
        "meta-llm-sub-tenant",
        "ruview-space",
    }
)

PRIVACY_CLASSES: Final = frozenset({"P0", "P1", "P2", "P3"})


@dataclass(frozen=True, slots=True)
class ActionRule:
    """What an action asks of its envelope."""

    owners: frozenset[str]
    """The authorities in which its outcome can be anchored (`authoritativeSource.authority`)."""
    required: tuple[str, ...] = ()
    """The optional fields that it cannot do without, in the order in which they are missed."""

    @property
    def needs_capability(self) -> bool:
        """Whether it goes ahead only under a capability."""
        return "capabilityId" in self.required


_READ: Final = ("requestDigest", "expiresAt", "capabilityId")
_CHANGE: Final = ("requestDigest", "idempotencyKey", "expiresAt", "capabilityId")
_COMMIT: Final = (
    "requestDigest",
    "contentDigest",
    "idempotencyKey",
    "expiresAt",
    "capabilityId",
    "validationReceiptId",
)


def _of(owner: str, *actions: str, required: tuple[str, ...] = _CHANGE) -> dict[str, ActionRule]:
    return dict.fromkeys(actions, ActionRule(frozenset({owner}), required))


ACTIONS: Final[Mapping[str, ActionRule]] = MappingProxyType(
    _of("cognitum.control-plane", "dashboard.read", required=())
    | {"dashboard.status.read": ActionRule(AUTHORITIES - {"ruflo.memory"})}
    | _of("meta-llm", "inference.invoke", "inference.stream", "pod.spawn", "benchmark.run")
    | _of("meta-llm", "evolution.propose", "evolution.promote")
    | _of("meta-llm", "usage.read", required=_READ)
    | _of("agentbbs", "comms.thread.post")
    | _of("agentbbs", "comms.thread.read", required=_READ)
    | {
        "comms.projection.read": ActionRule(
            frozenset({"agentbbs", "cognitum.cog", "comms", "meta-llm", "ruview.edge"}), _READ
        )
    }
    | _of("comms", "comms.board.admin")
    | _of("cognitum.cog", "cog.proposal.create", "cog.proposal.review", "cog.proposal.approve")
    | _of("cognitum.cog", "cog.instance.acquire", "cog.instance.operate", "cog.deploy", "cog.rollback")
    | _of("ruview.edge", "ruview.semantic.publish", "ruview.automation.propose", "ruview.automation.approve")
    | _of("ruview.edge", "ruview.device.command")
    | _of("ruview.edge", "ruview.space.read", required=_READ)
    | _of("ruflo.policy", "cognition.route", "cognition.critique")
    | _of("ruflo.memory", "memory.propose")
    | _of("ruflo.memory", "memory.recall", "evidence.read", required=_READ)
    | _of("ruflo.memory", COMMIT_VALIDATED, required=_COMMIT)
)
"""Every action that an envelope can be about. The authority itself knows six of them (semantics §6)."""
