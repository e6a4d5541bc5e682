"""Whether living memory says nearly the same already, by MinHash over pieces of text, as datasketch makes it."""

import hashlib
import zlib
from collections.abc import Iterator

from datasketch import MinHash

from authority.domain.likeness import HASH_BYTES, MARK_BYTES, SIGNATURE_HASHES
from authority.domain.material import Material, Need
from authority.domain.validation import Judgement
from authority.validators.normalizing import normalized
from authority.validators.protocol import passes, review

BANDS = 16
"""Of 8 hashes each: of contents that share 0.7 of their pieces 61 in 100 meet in one, of 0.8 95, of 0.9 all."""
THRESHOLD_PERMILLE = 800
PIECE = 5
"""Characters of each piece: one other word in twenty leaves contents alike."""
LEAST_CHARACTERS = 40
"""Shorter texts are alike by chance, and are left to the comparison of whole contents and of what they assert."""
_AT_ONCE = 4096


class NearDuplicate:
    """No living record of the memory namespace says nearly the same."""

    name = "near_duplicate"
    version = "1"
    needs = frozenset({Need.NEAR})

    def judge(self, material: Material) -> Judgement:
        """Leaves it to a person, naming the record that is most like it; the likeness is the confidence."""
        alike = material.alike
        if alike is None:
            return review("not_compared")
        near = max(alike.near, key=lambda record: record.similarity_permille, default=None)
        if near and near.similarity_permille >= THRESHOLD_PERMILLE:
            return review(f"near_duplicate_of:{near.record_id}", near.similarity_permille)
        return passes() if alike.is_complete else review("too_many_to_compare")


def signature_of(text: str) -> bytes:
    """The signature of a text; empty for one that is too short. Case, white space and NFKC forms make no difference."""
    text = " ".join(normalized("NFKC", text).casefold().split())
    if len(text) < LEAST_CHARACTERS:
        return b""
    pieces = list({text[at : at + PIECE].encode(errors="replace") for at in range(len(text) - PIECE + 1)})
    made = MinHash(num_perm=SIGNATURE_HASHES, hashfunc=zlib.crc32)
    for at in range(0, len(pieces), _AT_ONCE):
        # So many at a time: each takes 1 KiB of working memory.
        made.update_batch(pieces[at : at + _AT_ONCE])
    signature: bytes = made.hashvalues.astype(">u4").tobytes()
    return signature


def bands_of(signature: bytes) -> tuple[bytes, ...]:
    """Digests of the parts of a signature, each with its place. Contents that share none are not compared."""
    return tuple(_bands(signature)) if signature else ()


def _bands(signature: bytes) -> Iterator[bytes]:
    size = SIGNATURE_HASHES // BANDS * HASH_BYTES
    for band in range(BANDS):
        part = signature[band * size : (band + 1) * size]
        yield hashlib.sha256(bytes([band]) + part).digest()[:MARK_BYTES]
