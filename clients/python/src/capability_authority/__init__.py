"""Client side of the Capability Authority.

`capability_authority.v1` holds the generated messages of the contract, `capability_authority.offline` everything that
can be done without a server: signing, strict reading, verification, fingerprints and canonical JSON.
`capability_authority.client` is the async client, `capability_authority.sync` the same for programs without an event
loop. The main names of the async one stand here too. They are loaded when first asked for, so that whoever verifies
offline never imports gRPC.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capability_authority.client import AuthorityError, CapabilityAuthority, Credentials, RetryPolicy, TlsRoots

__all__ = ["AuthorityError", "CapabilityAuthority", "Credentials", "RetryPolicy", "TlsRoots"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("capability_authority.client"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
