"""The folder of private keys: the only place where they are (data.md, issuer_key)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from authority.domain.statement import KeyPurpose
from authority.usecases.ports import NoSigningKey
from capability_authority.offline import KeyRefused, PrivateKey, load_private_key_file, save_private_key_file

_NAMING_DIGITS: Final = 16
_FOLDER_MODE: Final = 0o700


@dataclass(frozen=True, slots=True)
class KeyFolder:
    """A folder of PEM files of mode 0600, one a key: `<purpose>-<first 16 hex digits of its thumbprint>.pem`."""

    path: Path

    def file_of(self, purpose: KeyPurpose, key_id: str) -> Path:
        """Where the private key with this id is, or would be."""
        return self.path / f"{purpose.value}-{key_id.removeprefix('sha256:')[:_NAMING_DIGITS]}.pem"

    def load(self, purpose: KeyPurpose, key_id: str) -> PrivateKey:
        """The private key.

        Raises `NoSigningKey`, naming the file, when it is missing, cannot be read, can be read by others (semantics
        §2), or holds something else than this very key.
        """
        file = self.file_of(purpose, key_id)
        try:
            private_key = load_private_key_file(file)
        except FileNotFoundError:
            raise NoSigningKey(f"the private key of {key_id} is not here: expected in {file}") from None
        except (KeyRefused, OSError) as error:
            raise NoSigningKey(f"the private key of {key_id} cannot be used: {error}") from error
        if private_key.public_key.key_id != key_id:
            raise NoSigningKey(f"{file} holds the private key of {private_key.public_key.key_id}, not of {key_id}")
        return private_key

    def save(self, purpose: KeyPurpose, private_key: PrivateKey) -> Path:
        """Writes a new private key, durably; makes the folder, mode 0700, when it is not there. Returns the file."""
        self.path.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        file = self.file_of(purpose, private_key.public_key.key_id)
        save_private_key_file(file, private_key)
        return file
