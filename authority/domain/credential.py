"""What a caller is known by beside a key that signs: a certificate's names, a token's subject (semantics §2)."""

import hashlib
from dataclasses import dataclass
from enum import Enum

_LABEL = "capability-authority/credential/v1"


class CredentialForm(Enum):
    """How a caller shows who it is."""

    ED25519 = "ed25519"
    """A key that signs Invocations: the only form that can sign."""
    SPIFFE = "spiffe"
    """The SPIFFE id in the one URI name of a client certificate."""
    SPKI = "spki"
    """The public key of a client certificate, as `sha256:` and the digest of its SubjectPublicKeyInfo.

    It outlives the certificate, whose thumbprint would end with it.
    """
    SUBJECT = "subject"
    """The distinguished name of a client certificate, as RFC 4514 writes it."""
    TOKEN = "token"  # noqa: S105 - the name of a form
    """Issuer and subject of a signed bearer token."""


CERTIFICATE_FORMS = frozenset({CredentialForm.SPIFFE, CredentialForm.SPKI, CredentialForm.SUBJECT})
"""What a connection shows. Its handshake proves the certificate's key, so that these bind a holder as a key does."""


@dataclass(frozen=True, slots=True)
class Credential:
    """Something that is shown instead of a signature. `issuer` is that of a token, else empty.

    `shown` is compared byte for byte, never a part of it and never folded.
    """

    form: CredentialForm
    shown: str
    issuer: str = ""

    @property
    def id(self) -> str:
        """`sha256:…` over form and texts, each with its length: it stands where a key's thumbprint does.

        Nobody has a key with this thumbprint, so that what is bound to a certificate never passes for a signature.
        """
        digest = hashlib.sha256()
        for text in (_LABEL, self.form.value, self.issuer, self.shown):
            encoded = text.encode()
            digest.update(len(encoded).to_bytes(4, "big") + encoded)
        return f"sha256:{digest.hexdigest()}"
