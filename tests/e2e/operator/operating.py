"""What the tests of the operator's commands share: running one, and what it answers with."""

import json
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from tests.e2e.commands import WITHIN_S
from tests.unit.cli.running import Ran

TENANT = "cognitum-tenant|harbour-books"
ABSENT = "0" * 64

Run: TypeAlias = Callable[..., Ran]
"""Runs an operator's command on the authority that all these tests share."""


def told(run: Run, *arguments: str) -> Any:
    """The document that a command answers with; it must succeed, quietly."""
    result = run(*arguments, "--json")
    assert (result.code, result.err) == (0, ""), arguments
    return result.document


def keys_of(run: Run, purpose: str) -> dict[str, str]:
    """The state of every key of the purpose, oldest first."""
    return {key["key_id"]: key["state"] for key in told(run, "keys", "list") if key["purpose"] == purpose}


def active_key(run: Run, purpose: str) -> str:
    """The one key that signs for this purpose everywhere, whatever other tests did to its predecessors."""
    keys = [key for key in told(run, "keys", "list") if key["purpose"] == purpose and not key["tenant"]]
    (active,) = (key["key_id"] for key in keys if key["state"] == "active")
    assert isinstance(active, str)
    return active


def called(run: Run, rpc: str, who: str, request: dict[str, Any]) -> Ran:
    """What `authority call` answers to one of the tenant's principals."""
    return run("call", rpc, "--as", f"harbour-books/{who}", "--json", json.dumps(request))


def proposed(run: Run, content: str, namespace: str = "office/workflow") -> dict[str, Any]:
    """A new proposal by the tenant's user, by name; `content` is base64."""
    request = {
        "memory_namespace": namespace,
        "memory_type": "MEMORY_TYPE_PREFERENCE",
        "content": content,
        "media_type": "text/plain",
        "source_refs": ["note:1"],
    }
    proposal: dict[str, Any] = called(run, "CreateProposal", "user", request).document["proposal"]
    return {"proposal_id": proposal["proposal_id"], "revision": 1}


def wait_for_signer(key_id: str, sign: Callable[[], Ran], statement: str) -> None:
    """Returns once what the service signs names this key: it reads the keys again every two seconds."""
    deadline = time.monotonic() + WITHIN_S
    while (answer := sign()).code or answer.document[statement]["signature"]["key_id"] != key_id:
        assert time.monotonic() < deadline, f"the service does not sign with {key_id}: {answer}"
