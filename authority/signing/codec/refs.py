"""References as payload messages."""

from authority.domain.references import PrincipalRef, TenantRef
from capability_authority.v1 import types_pb2


def tenant_message(tenant: TenantRef) -> types_pb2.TenantRef:
    """The tenant as a message."""
    return types_pb2.TenantRef(namespace=tenant.namespace, id=tenant.id)


def principal_message(principal: PrincipalRef) -> types_pb2.PrincipalRef:
    """The principal as a message."""
    return types_pb2.PrincipalRef(namespace=principal.namespace, id=principal.id)
