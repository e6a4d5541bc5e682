"""The feed of revocations of one tenant, verified item by item."""

from capability_authority.offline.key_set import KeySet
from capability_authority.offline.revocations import RevocationState, RevocationView
from capability_authority.offline.verification import verify_as
from capability_authority.v1.statements_pb2 import Revocation, RevocationHeartbeat, SignedStatement
from capability_authority.v1.types_pb2 import TenantRef

__all__ = ["RevocationFeed"]


class RevocationFeed:
    """Takes in what a feed tells, refuses whatever does not verify or follow, and answers what was withdrawn.

        feed = RevocationFeed(tenant)
        for statement in response.revocations:
            feed.take(statement, key_set)
        feed.hear(response.heartbeat, key_set)
        verify_receipt(receipt, key_set, revocations=feed.view(now_ms=now_ms, maximum_age_ms=60_000))

    A feed that was refused something stays as it was: get what is missing from `cursor` on.
    """

    def __init__(self, tenant: TenantRef) -> None:
        self._state = RevocationState(tenant)

    @property
    def cursor(self) -> int:
        """The sequence of the last item that was taken in: what a watch goes on after. 0 before the first."""
        return self._state.sequence

    @property
    def as_of_ms(self) -> int | None:
        """Every withdrawal that was acknowledged before, in milliseconds since 1970, is in here. None: not known."""
        return self._state.as_of_ms

    def take(self, statement: SignedStatement, key_set: KeySet) -> Revocation:
        """Take in the next item; what it says.

        Raises as `verify_as`, and `FeedBroken` for one that does not follow the last: something was left out, told
        twice or out of order, or it is of another tenant's feed.
        """
        item = verify_as(statement, key_set, Revocation)
        self._state.take(item)
        return item

    def hear(self, statement: SignedStatement, key_set: KeySet) -> RevocationHeartbeat:
        """Take in a heartbeat; what it says.

        Raises as `verify_as`, and `FeedBroken` when the feed goes further than what was told here: something was left
        out; or not as far: the authority was put back to an earlier moment, and its feed begins anew.
        """
        heartbeat = verify_as(statement, key_set, RevocationHeartbeat)
        self._state.hear(heartbeat)
        return heartbeat

    def view(self, *, now_ms: int, maximum_age_ms: int) -> RevocationView:
        """What may be believed now: give it to `verify_as`, `verify_statement` or `verify_receipt`.

        `now_ms` is the caller's clock, in milliseconds since 1970. Raises `FeedStale` when the last heartbeat is older
        than `maximum_age_ms`, or when there was none: a withdrawal of since then would not be known.
        """
        return RevocationView(self._state, now_ms=now_ms, maximum_age_ms=maximum_age_ms)
