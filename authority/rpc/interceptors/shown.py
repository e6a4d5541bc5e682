"""Takes from a call what it shows of its caller: metadata, and what gRPC knows of the connection (semantics §2)."""

from typing import Any, Final

from authority.rpc.current_call import Context
from authority.usecases.authenticate import Shown

PROOF_ENTRY: Final = "capability-authority-proof-bin"
"""The metadata entry that carries an Invocation."""
TENANT_ENTRY: Final = "capability-authority-tenant"
"""Names the tenant, as `namespace|id`, for callers who show a certificate; whoever else may."""
_AUTHORIZATION: Final = "authorization"

_LOCAL_PEERS: Final = ("unix:", "ipv4:127.", "ipv6:[::1]", "ipv6:%5B::1%5D")
_CERTIFICATE: Final = "x509_pem_cert"
_SECURITY: Final = "transport_security_type"


def shown_by(context: Context) -> Shown:
    """Every entry that counts, for two of a kind are refused (case I06), and the certificate of this very connection.

    Nothing else of the metadata counts: entries in which proxies forward certificates (`x-forwarded-client-cert` and
    its like) can be sent by anybody. gRPC gives the values of `-bin` entries as bytes.
    """
    entries: Any = context.invocation_metadata() or ()
    sent: dict[str, list[Any]] = {PROOF_ENTRY: [], TENANT_ENTRY: [], _AUTHORIZATION: []}
    for key, value in entries:
        if key in sent:
            sent[key].append(value)
    certificates = list(context.auth_context().get(_CERTIFICATE, ()))
    return Shown(
        proofs=sent[PROOF_ENTRY],
        certificate=certificates[0] if certificates else None,
        authorizations=sent[_AUTHORIZATION],
        tenants=sent[TENANT_ENTRY],
        is_private=not sent[_AUTHORIZATION] or _is_private(context),
    )


def _is_private(context: Context) -> bool:
    is_tls = list(context.auth_context().get(_SECURITY, ())) == [b"ssl"]
    return is_tls or str(context.peer()).startswith(_LOCAL_PEERS)
