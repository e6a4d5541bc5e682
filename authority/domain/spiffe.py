"""SPIFFE ids: which texts are one, and of which trust domain (the SPIFFE ID standard, section 2)."""

import re
from typing import Final

SCHEME: Final = "spiffe://"
_MOST_BYTES: Final = 2048
_TRUST_DOMAIN: Final = re.compile(r"[a-z0-9._-]{1,255}")
_SEGMENT: Final = re.compile(r"[A-Za-z0-9._-]+")


def trust_domain_of(text: str) -> str | None:
    """The trust domain of a SPIFFE id that names a workload; None for any other text.

    Nothing is decoded, folded or normalised: a port, user, query, fragment, percent sign, empty segment, `.` or `..`
    makes it another text.
    """
    if not text.startswith(SCHEME) or len(text.encode()) > _MOST_BYTES:
        return None
    domain, *segments = text.removeprefix(SCHEME).split("/")
    if not _TRUST_DOMAIN.fullmatch(domain) or not segments or not all(map(_is_segment, segments)):
        return None
    return domain


def is_trust_domain(text: str) -> bool:
    """Whether it can name a trust domain."""
    return _TRUST_DOMAIN.fullmatch(text) is not None


def poses_as_spiffe(text: str) -> bool:
    """Whether somebody could take the text for a SPIFFE id, or for a part of one, whatever its letters' case."""
    return "spiffe:" in text.casefold()


def _is_segment(text: str) -> bool:
    return text not in (".", "..") and _SEGMENT.fullmatch(text) is not None
