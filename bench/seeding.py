"""Fills the tables with what waits for its commit, and files with the requests that will commit it. Not measured."""

import signal
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import psycopg

from authority.postgres.rows import key_id_bytes
from bench.committable import SEQUENCES_EACH, Ground, Maker
from bench.database import settle
from bench.figures import note
from bench.installation import Installation
from bench.request_files import write_messages
from bench.rows import insert, reserve_sequences

_AT_ONCE: Final = 500
"""So many are kept in memory and inserted in one transaction."""
_PARTS_EACH: Final = 2
"""Of each share: there is more than one processor, and more than one client is rare."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What one process makes: one for each second place in `sequences`, and a file of their requests."""

    url: str
    ground: Ground
    sequences: range
    file: Path
    issued: bool


def seed(
    installation: Installation, name: str, count: int, shares: int, *, issued: bool = True
) -> list[Sequence[Path]]:
    """Makes so many committable proposals, and files of their requests in so many shares.

    The requests are to commit them, or to issue their capabilities where these are not issued yet. Two processes for
    each share sign and insert, unless there is little to do. At the end the tables' statistics are true.
    """
    if not count:
        return [()] * shares
    begun, parts = time.monotonic(), shares * _PARTS_EACH
    files = [installation.folder / f"{name}-{part}.requests" for part in range(parts)]
    orders = _divided(installation, count, files, issued=issued)
    if count <= _AT_ONCE:
        for order in orders:
            _make_part(order)
    else:
        with ProcessPoolExecutor(parts, get_context("spawn"), initializer=_leave_ctrl_c) as pool:
            list(pool.map(_make_part, orders))
    settle(installation.admin_url)
    note(f"… {count} proposals made for {name} in {time.monotonic() - begun:.1f} s")
    return [files[part : part + _PARTS_EACH] for part in range(0, parts, _PARTS_EACH)]


def _divided(installation: Installation, count: int, files: Sequence[Path], *, issued: bool) -> list[_Part]:
    ground = Ground(
        installation.keys,
        installation.issuer_keys,
        installation.policy_version,
        key_id_bytes(installation.holder.key_id),
    )
    with psycopg.connect(installation.admin_url, autocommit=True) as connection:
        first = reserve_sequences(connection, count * SEQUENCES_EACH)
    bounds = [first + count * part // len(files) * SEQUENCES_EACH for part in range(len(files) + 1)]
    return [
        _Part(installation.admin_url, ground, range(begin, end, SEQUENCES_EACH), file, issued)
        for begin, end, file in zip(bounds, bounds[1:], files, strict=False)
    ]


def _leave_ctrl_c() -> None:
    """To whoever started us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _make_part(part: _Part) -> None:
    maker = Maker(part.ground)
    with psycopg.connect(part.url) as connection:
        for begin in range(0, len(part.sequences), _AT_ONCE):
            batch = [maker.make(sequence) for sequence in part.sequences[begin : begin + _AT_ONCE]]
            insert(connection, batch, issued=part.issued)
            connection.commit()
            requests = (one.commit_request() if part.issued else one.issue_request() for one in batch)
            write_messages(part.file, (request.SerializeToString() for request in requests))
