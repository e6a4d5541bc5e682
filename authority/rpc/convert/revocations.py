"""Messages of the feed of revocations."""

from authority.rpc.convert.statements import optional_statement_message, statement_message
from authority.usecases.watch_revocations import FeedTidings
from capability_authority.v1 import capability_service_pb2 as pb


def tidings_message(tidings: FeedTidings) -> pb.WatchRevocationsResponse:
    """One message of a watch."""
    return pb.WatchRevocationsResponse(
        revocations=map(statement_message, tidings.revocations),
        heartbeat=optional_statement_message(tidings.heartbeat),
    )
