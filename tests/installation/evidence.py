"""Digests of three pieces of evidence."""

import hashlib
from typing import Final

from capability_authority.offline import to_wire

EVIDENCE: Final = [to_wire(hashlib.sha256(name).digest()) for name in (b"first", b"second", b"third")]
