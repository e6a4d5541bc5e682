"""The suite's own keys, and `setup.json`, which tells whoever runs a target what must exist there."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from google.protobuf.json_format import MessageToDict

from capability_authority.offline import (
    KeyFileExposed,
    KeyRefused,
    PrivateKey,
    load_private_key_file,
    save_private_key_file,
    sha256,
)
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef
from capability_authority_conformance.contract import (
    NAMESPACE,
    TENANT_NAMESPACE,
    TENANTS,
    PrincipalOfTarget,
    TenantOfTarget,
)
from capability_authority_conformance.problems import TargetUnusable
from capability_authority_conformance.v1.setup_pb2 import Principal, SetUp, Tenant

__all__ = ["SETUP_FILE", "Caller", "load_callers", "make_set_up"]

SETUP_FILE: Final = "setup.json"
_LABEL: Final = "capability-authority/key-registration/v1"


@dataclass(frozen=True, slots=True)
class Caller:
    """A principal of the set-up contract with its private key."""

    name: str
    tenant: TenantRef
    principal: PrincipalRef
    private_key: PrivateKey
    revoked: bool = False

    @property
    def public_key(self) -> bytes:
        """Raw, 32 bytes."""
        return self.private_key.public_key.raw

    @property
    def thumbprint(self) -> bytes:
        """SHA-256 of the public key, 32 bytes."""
        return sha256(self.public_key)


def make_set_up(folder: Path) -> Path:
    """Make the keys that are missing in the folder and write `setup.json`; its path. Made again, the keys stay.

    Raises `TargetUnusable` when a file there cannot be used.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for tenant in TENANTS:
        for principal in tenant.principals:
            path = _key_file(folder, principal.name)
            if not path.exists():
                save_private_key_file(path, PrivateKey.generate())
    target = folder / SETUP_FILE
    written = target.with_suffix(".json.new")
    written.write_text(_setup_text(load_callers(folder)), encoding="utf-8")
    os.replace(written, target)  # noqa: PTH105 - beside, then in its place: never half a file
    return target


def load_callers(folder: Path) -> dict[str, Caller]:
    """Every principal of the contract, by its name. Raises `TargetUnusable` when a key is missing or cannot be used."""
    return {principal.name: _caller(folder, tenant, principal) for tenant in TENANTS for principal in tenant.principals}


def _key_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.pem"


def _caller(folder: Path, tenant: TenantOfTarget, principal: PrincipalOfTarget) -> Caller:
    path = _key_file(folder, principal.name)
    try:
        key = load_private_key_file(path)
    except (OSError, KeyRefused, KeyFileExposed) as error:
        raise TargetUnusable(
            f"the private key of `{principal.name}` cannot be used: {error}",
            f"make the suite's keys with `python -m capability_authority_conformance set-up --keys {folder}`,"
            f" and set the target up with {folder / SETUP_FILE}: conformance/README.md"
            " (for the authority of this repository `make conformance-set-up` beside `make serve` does both)",
        ) from None
    return Caller(
        name=principal.name,
        tenant=TenantRef(namespace=TENANT_NAMESPACE, id=tenant.id),
        principal=PrincipalRef(namespace=NAMESPACE, id=principal.name),
        private_key=key,
        revoked=principal.revoked,
    )


def _setup_text(callers: Mapping[str, Caller]) -> str:
    document = MessageToDict(_setup(callers), preserving_proto_field_name=True)
    return json.dumps(document, indent=2) + "\n"


def _setup(callers: Mapping[str, Caller]) -> SetUp:
    tenants = [
        Tenant(
            namespace=TENANT_NAMESPACE,
            id=tenant.id,
            memory_namespaces=tenant.memory_namespaces,
            principals=[_principal(principal, callers[principal.name]) for principal in tenant.principals],
            memberships=tenant.memberships,
        )
        for tenant in TENANTS
    ]
    return SetUp(tenants=tenants)


def _principal(principal: PrincipalOfTarget, caller: Caller) -> Principal:
    return Principal(
        name=principal.name,
        namespace=caller.principal.namespace,
        id=caller.principal.id,
        kind=principal.kind,
        rights=principal.rights,
        public_key=caller.public_key.hex(),
        proof=caller.private_key.sign(_registration(caller)).hex(),
        revoked=principal.revoked,
        key_aliases=principal.key_aliases,
    )


def _registration(caller: Caller) -> bytes:
    tenant = f"{caller.tenant.namespace}|{caller.tenant.id}"
    principal = f"{caller.principal.namespace}|{caller.principal.id}"
    return f"{_LABEL}\n{tenant}\n{principal}\n{caller.public_key.hex()}".encode()
