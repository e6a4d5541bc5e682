"""Set-up documents for `authority provision`: one small tenant, of which a test changes what it is about."""

import json
from pathlib import Path
from typing import Any, Final

from capability_authority.offline import PrivateKey

RULES: Final = {"open": "ALLOW", "reviewed": "ONE_PERSON", "quorum": "TWO_PERSONS", "closed": "DENY"}
KINDS: Final = {"agent": ("agent", ["propose", "read"]), "reader": ("user", ["read"]), "gone": ("service", ["commit"])}


def proof_of(key: PrivateKey, tenant: str, principal: str) -> str:
    """What the holder of a key signs to register it; tenant and principal as `namespace|id`."""
    lines = ("capability-authority/key-registration/v1", tenant, principal, key.public_key.raw.hex())
    return key.sign("\n".join(lines).encode()).hex()


def principal(name: str, tenant: str, key: PrivateKey | None = None, **changes: Any) -> dict[str, Any]:
    """A principal `test|<name>` with its key and proof."""
    key = key or PrivateKey.generate()
    kind, rights = KINDS.get(name, ("user", []))
    return {
        "name": name,
        "namespace": "test",
        "id": name,
        "kind": kind,
        "rights": rights,
        "publicKey": key.public_key.raw.hex(),
        "proof": proof_of(key, tenant, f"test|{name}"),
        **changes,
    }


def set_up(tenant_id: str) -> dict[str, Any]:
    """Memory namespaces of each rule; three principals, one with a name for its key and one revoked; a team."""
    tenant = f"test|{tenant_id}"
    return {
        "namespace": "test",
        "id": tenant_id,
        "memoryNamespaces": [
            *({"name": name, "mode": "MODE_ENFORCE", "policy": f"POLICY_RULE_{RULES[name]}"} for name in RULES),
            {"name": "old", "mode": "MODE_LEGACY", "privileged": True, "policy": "POLICY_RULE_ALLOW"},
        ],
        "principals": [
            principal("agent", tenant, keyAliases=[f"{tenant_id}.agent"]),
            principal("reader", tenant),
            principal("gone", tenant, revoked=True),
        ],
        "memberships": [{"scope": "team", "id": "desk", "members": ["agent", "reader"]}],
    }


def written(folder: Path, *tenants: dict[str, Any]) -> str:
    """The name of a file with the document of these tenants."""
    file = folder / "setup.json"
    file.write_text(json.dumps({"tenants": tenants}), encoding="utf-8")
    return str(file)
