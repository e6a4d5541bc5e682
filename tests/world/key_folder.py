"""A folder of private keys for as long as a test runs."""

import os
from pathlib import Path

from authority.domain.statement import KeyPurpose
from authority.signing.key_folder import KeyFolder
from capability_authority.offline import PrivateKey


class PassingKeyFolder(KeyFolder):
    """A `KeyFolder` whose files a crash of the machine may take: eight waits for the disk less for each tenant."""

    def save(self, purpose: KeyPurpose, private_key: PrivateKey) -> Path:
        """Writes a new private key, as its owner's alone; makes the folder when it is not there."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self.file_of(purpose, private_key.public_key.key_id)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:  # noqa: PTH123
            opened.write(private_key.to_pem())
        return file
