"""The client for programs without an event loop: the same verbs, which return when they are done.

    from capability_authority.sync import CapabilityAuthority

    with CapabilityAuthority.connect() as authority:
        for record in authority.list_records(memory_namespace="clients/rules"):
            print(record.content)

Errors and values are those of `capability_authority.client`.
"""

from capability_authority.sync.authority import CapabilityAuthority
from capability_authority.sync.iteration import Iteration

__all__ = ["CapabilityAuthority", "Iteration"]
