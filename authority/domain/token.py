"""What a verified bearer token says (semantics §2)."""

from dataclasses import dataclass

from authority.domain.credential import Credential, CredentialForm
from authority.domain.references import Instant, TenantRef


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """A token whose issuer signed it for us; it is valid until `expire_time`."""

    issuer: str
    subject: str
    """What the issuer calls the principal. Compared byte for byte, and only beside the issuer."""
    tenant: TenantRef
    expire_time: Instant

    @property
    def credential(self) -> Credential:
        """What a principal is registered by."""
        return Credential(CredentialForm.TOKEN, self.subject, self.issuer)
