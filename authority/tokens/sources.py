"""Where the keys of a token issuer are: a file, or a URL that is asked within limits of size and time."""

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

MOST_BYTES: Final = 256 * 1024
WITHIN_S: Final = 5.0
"""For all of an answer together."""
_CHUNK: Final = 16 * 1024
_OK: Final = 200
_LOOPBACK_4: Final = ip_network("127.0.0.0/8")
_LOOPBACK_6: Final = IPv6Address("::1")


class SourceWrong(Exception):
    """The place of the keys cannot be used. The message says why, and never what was answered."""


class SourceAway(Exception):
    """The keys could not be read now. The message says why, and never what was answered."""


@dataclass(frozen=True, slots=True)
class KeySource:
    """Reads the bytes of a key set. Blocks: to be called in a thread. Raises SourceAway."""

    place: str
    """As the operator wrote it."""
    read: Callable[[], bytes]


def file_source(file: Path) -> KeySource:
    """A file on this machine."""

    def read() -> bytes:
        try:
            with file.open("rb") as opened:
                return _bounded(opened.read(MOST_BYTES + 1))
        except OSError as error:
            raise SourceAway(f"cannot be read ({error.strerror})") from None

    return KeySource(str(file), read)


def url_source(url: str) -> KeySource:
    """A URL. Raises SourceWrong unless it is https, or http to an address of this machine: keys make the caller."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise SourceWrong("is no URL") from None
    if not host or parts.username is not None or parts.fragment or parts.scheme not in ("https", "http"):
        raise SourceWrong("must be an https URL, without user and fragment")
    is_plain = parts.scheme == "http"
    if is_plain and not _is_loopback(host):
        raise SourceWrong("must be https; http is asked only of 127.0.0.1 and [::1]")
    # What is on this machine is never asked through a proxy, which would carry it off.
    direct = [urllib.request.ProxyHandler({})] if is_plain else []
    opener = urllib.request.build_opener(_NoRedirects(), *direct)
    return KeySource(url, lambda: _fetch(opener, url))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Who is redirected could be sent to anybody's keys."""

    def redirect_request(self, *_: object) -> None:
        """Follows none: what was answered is an error, as any other."""


def _fetch(opener: urllib.request.OpenerDirector, url: str) -> bytes:
    end = time.monotonic() + WITHIN_S
    try:
        with opener.open(url, timeout=WITHIN_S) as answer:
            return _body(answer, end)
    except urllib.error.HTTPError as error:
        with error:
            raise SourceAway(f"answered {error.code}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise SourceAway(f"cannot be asked ({type(error).__name__})") from None


def _body(answer: Any, end: float) -> bytes:  # noqa: ANN401 - urllib knows no better
    if answer.status != _OK:
        raise SourceAway(f"answered {answer.status}")
    body = bytearray()
    # A read waits for what comes next, however little: who drips must not have a thread for ever.
    while chunk := answer.read1(_CHUNK):
        body += chunk
        if time.monotonic() > end:
            raise SourceAway(f"took more than {WITHIN_S:.0f} s")
        _bounded(body)
    if answer.length:
        raise SourceAway("ended too early")
    return bytes(body)


def _bounded(body: bytes | bytearray) -> bytes:
    if len(body) > MOST_BYTES:
        raise SourceAway(f"has more than {MOST_BYTES:,} bytes")
    return bytes(body)


def _is_loopback(host: str) -> bool:
    try:
        found: IPv4Address | IPv6Address = ip_address(host)
    except ValueError:
        return False
    return found == _LOOPBACK_6 or found in _LOOPBACK_4
