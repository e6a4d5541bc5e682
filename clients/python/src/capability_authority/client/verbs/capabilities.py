"""Verbs of CapabilityService that judge and revoke capabilities, and tell the keys that sign them."""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from datetime import UTC
from typing import TypeVar, Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.content import Content
from capability_authority.client.presentations import present, terms_of
from capability_authority.client.values import CapabilityVerdict, IssuedCapability, Revocation, RevocationNews
from capability_authority.client.versions import CONTRACT_REVISION, Versions, client_version
from capability_authority.client.words import word_of
from capability_authority.offline import KeySet, KeyUnknown, RevocationFeed
from capability_authority.v1 import capability_service_pb2 as pb
from capability_authority.v1.errors_pb2 import ErrorReason
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority.v1.types_pb2 import TenantRef

__all__ = ["CapabilityVerbs"]

Told = TypeVar("Told")


class CapabilityVerbs(Connection):
    """What became of capabilities, and the key set."""

    async def verify(
        self,
        capability: IssuedCapability | SignedStatement,
        *,
        content: Content | None = None,
        media_type: str | None = None,
        evidence_digests: Iterable[str] | None = None,
        commit_idempotency_key: str | None = None,
        **options: Unpack[CallOptions],
    ) -> CapabilityVerdict:
        """Ask whether a commit of this content would be judged good now.

        Without content only the capability is judged. Changes nothing, and a refusal of the capability is an answer.
        What else is None is taken from the capability.
        Raises `AuthorityError` when the question itself is refused.
        """
        statement, terms = terms_of(capability)
        request = pb.VerifyCapabilityRequest(capability=statement)
        if content is not None:
            presented = present(terms, content, media_type, evidence_digests, commit_idempotency_key)
            request.presentation.CopyFrom(presented)
        response = await self._send(request, pb.VerifyCapabilityResponse, **options)
        return CapabilityVerdict(
            granted=response.verdict == pb.VerifyCapabilityResponse.VERDICT_GRANTED,
            reason=word_of(ErrorReason, response.reason).upper() if response.reason else "",
            facts=dict(response.facts),
            receipt_id=response.receipt_id,
        )

    async def revoke(
        self,
        capability: IssuedCapability | SignedStatement | str,
        *,
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> Revocation:
        """Withdraw a capability for ever, named by itself or by its id: as its holder, an admin, or who may issue.

        Once this returns, nothing is committed with it any more, and no commit that was on its way lands afterwards.
        Revoked before, by whomever: the time of that.

        Raises `AuthorityError`: `AlreadyCommitted` when it came too late, with the receipt's id; `NotFound` for what is
        not there or not yours; `IdempotencyConflict`.
        """
        capability_id = capability if isinstance(capability, str) else terms_of(capability)[1].capability_id
        request = pb.RevokeCapabilityRequest(request_id=request_id, capability_id=capability_id)
        response = await self._send(request, pb.RevokeCapabilityResponse, **options)
        return Revocation(response.revoke_time.ToDatetime(tzinfo=UTC), response.replayed)

    async def watch_revocations(
        self, feed: RevocationFeed | None = None, **options: Unpack[CallOptions]
    ) -> AsyncGenerator[RevocationNews, None]:
        """What is withdrawn in the caller's tenant, verified against the pinned issuer's keys, as it happens.

        Everything is taken into `feed`, a new one unless given, before it is told; a feed of before goes on where it
        was. A stream that ends or is cut is followed by another, by itself; without news a message comes about every
        ten seconds, and makes the feed young again: give `news.feed.view(…)` to `offline` when you verify.

        Raises `AuthorityError`, `CallerUnauthenticated` once the caller is revoked, and `StatementError` (of `offline`)
        for what does not verify, or does not follow what was told before.
        """
        caller = self.credentials
        tenant = TenantRef(namespace=caller.tenant.namespace, id=caller.tenant.id)
        feed = RevocationFeed(tenant) if feed is None else feed
        request = pb.WatchRevocationsRequest(cursor=feed.cursor)

        def take_in(_: pb.WatchRevocationsResponse) -> None:
            request.cursor = feed.cursor

        async with aclosing(self._watch(request, pb.WatchRevocationsResponse, take_in, **options)) as messages:
            async for message in messages:
                yield await self._taken_in(feed, message)

    async def _taken_in(self, feed: RevocationFeed, message: pb.WatchRevocationsResponse) -> RevocationNews:
        arrived = self._now()

        async def believed(take: Callable[[SignedStatement, KeySet], Told], statement: SignedStatement) -> Told:
            try:
                return take(statement, await self._key_sets.current())
            except KeyUnknown:
                return take(statement, await self._key_sets.current(at_least_since=arrived))

        revoked = [await believed(feed.take, statement) for statement in message.revocations]
        if message.HasField("heartbeat"):
            await believed(feed.hear, message.heartbeat)
        return RevocationNews(tuple(revoked), feed)

    async def versions(self, **options: Unpack[CallOptions]) -> Versions:
        """Which versions meet here, asked anew: of this client, of the authority, and of the contract between them.

        Raises `AuthorityError`.
        """
        response = await self._fetch_key_set(**options)
        return Versions(client_version(), response.service_version, CONTRACT_REVISION, response.contract_revision)

    async def key_set(self, *, refresh: bool = False, **options: Unpack[CallOptions]) -> KeySet:
        """The pinned issuer's keys, to verify statements with `capability_authority.offline`.

        At most five minutes old; `refresh` fetches them again. Raises `KeySetRefused` (of `offline`) when the
        authority is not the pinned issuer, and `AuthorityError`.
        """
        since = self._now() if refresh else None
        return await self._key_sets.current(at_least_since=since, **options)
