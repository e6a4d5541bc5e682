"""The set-up contract: the tenants, memory namespaces and principals that every case may rely on (setup.proto).

This is the one place that names them. Keys are made by `set_up.py`, and the whole is written to `setup.json`.
"""

from dataclasses import dataclass
from typing import Final

from capability_authority_conformance.v1.setup_pb2 import Membership, MemoryNamespace, Mode, PolicyRule

__all__ = ["NAMESPACE", "TENANTS", "TENANT_NAMESPACE", "PrincipalOfTarget", "TenantOfTarget", "principal_names"]

NAMESPACE: Final = "conformance"
"""Of every principal."""
TENANT_NAMESPACE: Final = "cognitum-tenant"
"""Of both tenants: one in which signed action envelopes can be made."""


@dataclass(frozen=True, slots=True)
class PrincipalOfTarget:
    """One that calls, and what it may."""

    name: str
    kind: str
    rights: tuple[str, ...] = ()
    revoked: bool = False
    key_aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TenantOfTarget:
    """A tenant with all that belongs to it."""

    id: str
    memory_namespaces: tuple[MemoryNamespace, ...]
    principals: tuple[PrincipalOfTarget, ...]
    memberships: tuple[Membership, ...] = ()


def _memory_namespace(
    name: str,
    policy: "PolicyRule.ValueType" = PolicyRule.POLICY_RULE_ALLOW,
    mode: "Mode.ValueType" = Mode.MODE_ENFORCE,
    *,
    privileged: bool = False,
) -> MemoryNamespace:
    return MemoryNamespace(name=name, mode=mode, privileged=privileged, policy=policy)


_REVIEWER: Final = ("propose", "read", "decide")
_HOLDER: Final = ("read", "issue", "commit")

TENANTS: Final = (
    TenantOfTarget(
        id="conformance-one",
        memory_namespaces=(
            _memory_namespace("open"),
            _memory_namespace("reviewed", PolicyRule.POLICY_RULE_ONE_PERSON),
            _memory_namespace("quorum", PolicyRule.POLICY_RULE_TWO_PERSONS),
            _memory_namespace("closed", PolicyRule.POLICY_RULE_DENY),
            _memory_namespace("legacy", mode=Mode.MODE_LEGACY),
            _memory_namespace("observe", mode=Mode.MODE_OBSERVE),
            _memory_namespace("privileged", mode=Mode.MODE_LEGACY, privileged=True),
        ),
        principals=(
            PrincipalOfTarget("agent", "agent", ("propose", "read")),
            PrincipalOfTarget("other-agent", "agent", ("propose", "read")),
            PrincipalOfTarget("model", "model", ("propose", "read")),
            PrincipalOfTarget("holder", "service", _HOLDER, key_aliases=("conformance-holder",)),
            PrincipalOfTarget("other-holder", "service", _HOLDER),
            PrincipalOfTarget("issuer", "service", ("issue",)),
            PrincipalOfTarget("reader", "user", ("read",)),
            PrincipalOfTarget("reviewer", "user", _REVIEWER),
            PrincipalOfTarget("second-reviewer", "user", _REVIEWER),
            PrincipalOfTarget("third-reviewer", "user", _REVIEWER),
            PrincipalOfTarget("admin", "admin", ("read", "decide", "issue")),
            PrincipalOfTarget("observer", "observer", ("propose",)),
            PrincipalOfTarget("tool", "tool", ("propose",)),
            PrincipalOfTarget("outsider", "user"),
            PrincipalOfTarget("revoked", "service", _HOLDER, revoked=True),
        ),
        memberships=(
            Membership(scope="channel", id="conformance-channel", members=["agent", "reader"]),
            Membership(scope="team", id="conformance-team", members=["holder", "reader"]),
        ),
    ),
    TenantOfTarget(
        id="conformance-two",
        memory_namespaces=(_memory_namespace("open"),),
        principals=(
            PrincipalOfTarget("two-agent", "agent", ("propose", "read")),
            PrincipalOfTarget("two-holder", "service", _HOLDER),
            PrincipalOfTarget("two-reader", "user", ("read",)),
            PrincipalOfTarget("two-admin", "admin", ("read", "decide", "issue")),
        ),
    ),
)


def principal_names() -> frozenset[str]:
    """Every name under which a case may call."""
    return frozenset(principal.name for tenant in TENANTS for principal in tenant.principals)
