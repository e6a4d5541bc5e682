"""Looks with a plain socket at what does not answer gRPC, to say what is there instead."""

import asyncio
import re
from typing import Final

from capability_authority_conformance.target.outcome import Outcome
from capability_authority_conformance.target.target import Address

__all__ = ["what_is_there"]

_PATIENCE_S: Final = 2.0
_HTTP2_BEGINS: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
_FRAME_TYPE: Final = 3
_SETTINGS: Final = 4
_FIRST_FRAME: Final = 9
_PORT: Final = re.compile("[0-9]{1,5}")
_LAST_PORT: Final = 65_535
_TLS_RECORDS: Final = (0x15, 0x16)
_START: Final = "start it, or name another --target"


async def what_is_there(address: Address, outcome: Outcome) -> tuple[str, str]:
    """What was seen, as the end of a sentence, and what to do."""
    if "http2 header with status" in outcome.text or "content-type" in outcome.text:
        return f"speaks HTTP/2 but not gRPC: {outcome.text}", "name the authority's own port, not a web server's"
    host, colon, port = address.target.rpartition(":")
    if not colon or not _PORT.fullmatch(port) or int(port) > _LAST_PORT:
        return f"did not answer: {outcome}", "name it as HOST:PORT"
    if address.tls_roots is not None:
        return f"did not answer over TLS: {outcome}", "see that it speaks TLS with a certificate of these --tls-roots"
    return await _seen(host.strip("[]"), int(port), outcome)


async def _seen(host: str, port: int, outcome: Outcome) -> tuple[str, str]:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            reader, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return "cannot be reached: nothing answered the connection", "see that the address and the network are right"
    except ConnectionRefusedError:
        return "refuses connections: nothing listens there", _START
    except OSError as error:
        return f"cannot be reached: {error.strerror or error}", "see that the address is right"
    try:
        return await _first_words(reader, writer, outcome)
    finally:
        writer.close()


async def _first_words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, outcome: Outcome) -> tuple[str, str]:
    try:
        writer.write(_HTTP2_BEGINS)
        async with asyncio.timeout(_PATIENCE_S):
            first = await reader.read(64)
    except TimeoutError:
        return (
            "accepts connections and says nothing: it hangs, or waits for TLS",
            "see whether it is alive; with TLS name --tls-roots",
        )
    except OSError:
        first = b""
    if not first:
        return "closes every connection without a word", "see its log; with TLS name --tls-roots"
    if first[0] in _TLS_RECORDS:
        return "speaks TLS", "name --tls-roots FILE, who may vouch for it"
    if len(first) < _FIRST_FRAME or first[_FRAME_TYPE] != _SETTINGS:
        return (
            f"does not speak HTTP/2: its first bytes are {first[:24]!r}",
            "name the port on which the authority speaks gRPC",
        )
    if outcome.code == "DEADLINE_EXCEEDED":
        return (
            "speaks HTTP/2 and does not answer a call in time",
            "see whether it is overloaded or hangs; --call-timeout gives it longer",
        )
    return f"speaks HTTP/2, and broke a call off: {outcome}", "see the target's log"
