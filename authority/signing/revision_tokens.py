"""Revision tokens: a commit or revocation answers one, a recall takes it as "at least as fresh as" (semantics §8)."""

from pathlib import Path
from typing import Final, Self

from authority.domain.freshness import Freshness
from authority.domain.references import TenantRef
from authority.domain.refusal import Refusal, malformed
from authority.signing.page_tokens import SECRET_FILE
from authority.signing.sealed_text import SECRET_BYTES, Seal
from authority.signing.secret_file import read_or_make_secret

_LABEL: Final = b"capability-authority/revision-token/v1\x00"
_RECEIPT: Final = "r"
_TOMBSTONE: Final = "t"


class SealedRevisionTokens:
    """Implements the port `RevisionTokens` under the secret of the page tokens, whose labels keep the two apart."""

    def __init__(self, secret: bytes) -> None:
        self._seal = Seal(secret, _LABEL)

    @classmethod
    def from_folder(cls, folder: Path) -> Self:
        """With the secret of the page tokens, made when it is missing. Raises as `SealedPageTokens.from_folder`."""
        return cls(read_or_make_secret(folder / SECRET_FILE, SECRET_BYTES))

    def seal(self, tenant: TenantRef, freshness: Freshness) -> str:
        """A token that only a call of the tenant opens, for ever."""
        if freshness.receipt_id is not None:
            says = _RECEIPT + freshness.receipt_id
        else:
            says = f"{_TOMBSTONE}{freshness.tombstone_sequence}"
        return self._seal.close(str(tenant), says.encode("ascii"))

    def open(self, tenant: TenantRef, token: str) -> Freshness | Refusal:
        """What it stands for, or MALFORMED in the same words for one that is foreign or made up."""
        opened = self._seal.open(str(tenant), token)
        if opened is None:
            return malformed("at_least_as_fresh_as", "must be a revision token that this authority gave to this tenant")
        says = opened.decode("ascii")
        kind, key = says[0], says[1:]
        return Freshness(receipt_id=key) if kind == _RECEIPT else Freshness(tombstone_sequence=int(key))
