"""What a case knows: the target, the callers, the names that were saved, and the proof that was used last."""

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from capability_authority_conformance.contract import TENANTS
from capability_authority_conformance.paths import as_json
from capability_authority_conformance.set_up import Caller
from capability_authority_conformance.target.proofs import Metadata
from capability_authority_conformance.target.target import Identity, Target
from capability_authority_conformance.v1.suite_pb2 import Procedure
from capability_authority_conformance.values import Json

__all__ = ["BASE_NAMES", "Run", "StepFailed", "Story", "base_names"]

BASE_NAMES = frozenset(
    {"run", "case", "tenant", "tenant-two", "audience", "authority"}
    | {principal.name for tenant in TENANTS for principal in tenant.principals}
)
"""The names that every case begins with."""


@dataclass(frozen=True, slots=True)
class Run:
    """What all cases of a run share."""

    id: str
    target: Target
    identity: Identity
    callers: dict[str, Caller]
    procedures: Mapping[str, Procedure]
    asked_again: Counter[str]
    """How often the target could not judge a call, by the reason it gave."""

    def note_asked_again(self, reason: str) -> None:
        """Count a call that the target could not judge."""
        self.asked_again[reason] += 1


@dataclass(slots=True)
class Story:
    """What one case, or one procedure within it, knows so far."""

    run: Run
    names: dict[str, Json]
    used: tuple[bytes, Metadata] | None = field(default=None)
    """The last request, and the proof that it was sent with."""


class StepFailed(Exception):
    """A step was not answered as the case permits."""

    def __init__(self, expected: list[str], got: list[str], request: str = "", *, transport: bool = False) -> None:
        super().__init__("; ".join(got))
        self.expected = expected
        self.got = got
        self.request = request
        """Whom and what was asked, without proofs."""
        self.transport = transport
        """Whether something broke rather than answered: then the target itself is looked at."""
        self.trail: list[str] = []
        """The steps that led here, outermost first: `step 2: SAY`."""


def base_names(run: Run, case_id: str) -> dict[str, Json]:
    """The names that a case begins with."""
    names: dict[str, Json] = {
        "run": run.id,
        "case": f"{case_id.replace('/', '-')}-{run.id}",
        "audience": run.identity.audience,
        "authority": run.identity.issuer,
    }
    for name, caller in run.callers.items():
        names[name] = _principal(caller)
    for name, tenant in zip(("tenant", "tenant-two"), TENANTS, strict=True):
        names[name] = as_json(run.callers[tenant.principals[0].name].tenant)
    return names


def _principal(caller: Caller) -> Json:
    return {
        "name": caller.name,
        "id": caller.principal.id,
        "namespace": caller.principal.namespace,
        "ref": as_json(caller.principal),
        "tenant": as_json(caller.tenant),
        "key_id": caller.private_key.public_key.key_id,
        "public_key": b64encode(caller.public_key).decode(),
        "thumbprint": b64encode(caller.thumbprint).decode(),
    }
