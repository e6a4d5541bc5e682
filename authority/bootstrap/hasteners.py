"""Wires what Redis hastens or guards: leases, the replay cache, and the proofs of reads."""

import contextlib
from dataclasses import dataclass
from typing import Final

import structlog

from authority.bootstrap.repeating import repeating
from authority.config import Settings
from authority.postgres.generation import GenerationWatch
from authority.redis.connection import connect, inspect_server
from authority.redis.leases import RedisLeases
from authority.redis.link import LinkSettings, RedisLink
from authority.redis.names import KeyNames
from authority.redis.nonces import RedisNonces
from authority.usecases.ports import Clock

_log = structlog.get_logger(__name__)

_LOOK_EVERY_S: Final = 2.0
"""How old the health of Redis may be while nobody calls."""


@dataclass(frozen=True, slots=True)
class Hasteners:
    """What is on Redis, and the link to it."""

    leases: RedisLeases
    nonces: RedisNonces
    link: RedisLink


async def open_hasteners(
    stack: contextlib.AsyncExitStack, settings: Settings, watch: GenerationWatch, clock: Clock
) -> Hasteners:
    """Connected, or left alone until Redis is there; closed with the stack.

    The database must have been read from before: what is cached of it is named by it, and follows when it is replaced.
    """
    assert watch.current is not None
    client = connect(settings.redis_url.get_secret_value())
    for warning in (await inspect_server(client, clock)).warnings:
        _log.warning(warning)
    names = KeyNames(watch.current)
    watch.changed = names.follow
    link = RedisLink(client, names, clock, LinkSettings(wait_ms=settings.redis_wait_ms))
    stack.push_async_callback(link.aclose)
    await link.look()
    await stack.enter_async_context(repeating(link.look, _LOOK_EVERY_S))
    leases = RedisLeases(link, names, lease_ms=settings.lease_ms, replay_ms=settings.replay_ms)
    return Hasteners(leases, RedisNonces(link, names), link)
