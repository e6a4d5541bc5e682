"""The sync client: every verb of the async one."""

import os
from collections.abc import AsyncIterable, Iterable
from types import TracebackType
from typing import Self, Unpack

from capability_authority.client import (
    AuthorityError,
    BearerToken,
    CallOptions,
    CommitItem,
    Content,
    Credentials,
    RetryPolicy,
    StreamedCommit,
    TlsRoots,
)
from capability_authority.client import CapabilityAuthority as Async
from capability_authority.client.authority import DEFAULT_RETRIES, DEFAULT_TIMEOUT
from capability_authority.client.streams import STREAM_WINDOW
from capability_authority.sync.delegation import Delegate, iterating, waiting
from capability_authority.sync.iteration import Iteration, pulled
from capability_authority.v1.capability_service_pb2 import CommitValidatedResponse, StreamCommitValidatedRequest
from capability_authority.v1.statements_pb2 import SignedStatement

__all__ = ["CapabilityAuthority"]


class CapabilityAuthority(Delegate):
    """A client of one authority, as one principal, for programs without an event loop.

        with CapabilityAuthority.connect() as authority:
            proposal = authority.get_proposal(proposal_id)
            validation = authority.validate(proposal)

    Each verb is that of the async client, which runs in an event loop of its own, in a thread that all sync clients of
    the process share; so any number of threads may use one client. Ctrl-C during a call cancels the call, as
    cancelling does there: a commit that has reached the database may still land, and the same key tells.

    Where an event loop runs in the calling thread, a verb works and holds that loop up for as long as it takes: use the
    async client there. Enter it after any fork.
    """

    @classmethod
    def connect(
        cls,
        target: str | None = None,
        *,
        credentials: Credentials | str | os.PathLike[str] | None = None,
        tls: TlsRoots | None = None,
        retries: RetryPolicy = DEFAULT_RETRIES,
        timeout: float = DEFAULT_TIMEOUT,
        pinned_key_ids: frozenset[str] | None = None,
        bearer_token: BearerToken | None = None,
    ) -> Self:
        """A client to be entered with `with`; only then a channel is made. All else is as for the async client.

        Raises `CredentialsRefused`, `PlaintextRefused`.
        """
        return cls(
            Async.connect(
                target,
                credentials=credentials,
                tls=tls,
                retries=retries,
                timeout=timeout,
                pinned_key_ids=pinned_key_ids,
                bearer_token=bearer_token,
            )
        )

    @property
    def credentials(self) -> Credentials:
        """Who calls, and which authority is believed."""
        return self._authority.credentials

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def close(self) -> None:
        """Close the connection; calls that still run in other threads end with `TransportError` or `ConnectionClosed`.

        Closing again does nothing.
        """
        self._close()

    call = waiting(Async.call)

    propose = waiting(Async.propose)
    get_proposal = waiting(Async.get_proposal)
    list_proposals = iterating(Async.list_proposals)
    validate = waiting(Async.validate)
    decide = waiting(Async.decide)
    decide_many = waiting(Async.decide_many)
    list_reviews = iterating(Async.list_reviews)
    withdraw = waiting(Async.withdraw)

    evaluate_policy = waiting(Async.evaluate_policy)
    get_policy = waiting(Async.get_policy)

    issue_grant = waiting(Async.issue_grant)
    exchange_grant = waiting(Async.exchange_grant)
    revoke_grant = waiting(Async.revoke_grant)
    get_grant = waiting(Async.get_grant)
    verify_grant = waiting(Async.verify_grant)

    issue = waiting(Async.issue)
    issue_batch = waiting(Async.issue_batch)
    verify = waiting(Async.verify)
    revoke = waiting(Async.revoke)
    watch_revocations = iterating(Async.watch_revocations)
    key_set = waiting(Async.key_set)
    versions = waiting(Async.versions)

    commit = waiting(Async.commit)
    commit_batch = waiting(Async.commit_batch)
    get_receipt = waiting(Async.get_receipt)
    list_receipts = iterating(Async.list_receipts)
    verify_receipt = waiting(Async.verify_receipt)

    get_record = waiting(Async.get_record)
    write_unvalidated = waiting(Async.write_unvalidated)
    revoke_record = waiting(Async.revoke_record)
    correct = waiting(Async.correct)
    list_records = iterating(Async.list_records)
    recall = iterating(Async.recall)
    recall_aggregate = waiting(Async.recall_aggregate)
    cite = waiting(Async.cite)
    citations = iterating(Async.citations)
    export = waiting(Async.export)

    put_evidence = waiting(Async.put_evidence)
    read_evidence = waiting(Async.read_evidence)

    resolve_key = waiting(Async.resolve_key)
    reserve_replay = waiting(Async.reserve_replay)
    verify_action_envelope = waiting(Async.verify_action_envelope)

    list_audit_events = iterating(Async.list_audit_events)
    watch_audit_events = iterating(Async.watch_audit_events)

    def vouch_for(self, content: Content, *, media_type: str | None = None) -> SignedStatement:
        """The caller's own claim, signed with its key, that it made exactly these bytes; calls nobody."""
        return self._authority.vouch_for(content, media_type=media_type)

    def commit_stream(
        self,
        commits: AsyncIterable[CommitItem] | Iterable[CommitItem],
        *,
        window: int = STREAM_WINDOW,
        verify: bool = True,
        **options: Unpack[CallOptions],
    ) -> Iteration[StreamedCommit]:
        """Commit what comes, for as long as it comes, as the async client does, whose docstring says the whole.

        A plain iterable is read in a thread of its own, so that it may wait for what is to come; an async one in the
        client's event loop. A loop that may be left early belongs into a `with` block.
        """
        source = commits if isinstance(commits, AsyncIterable) else pulled(commits)
        return Iteration(self._authority.commit_stream(source, window=window, verify=verify, **options), self._run)

    def commit_requests(
        self,
        requests: AsyncIterable[StreamCommitValidatedRequest] | Iterable[StreamCommitValidatedRequest],
        *,
        window: int = STREAM_WINDOW,
        **options: Unpack[CallOptions],
    ) -> Iteration[tuple[int, CommitValidatedResponse | AuthorityError]]:
        """As `commit_stream`, for who has the messages: nothing is filled in, and no receipt is verified."""
        source = requests if isinstance(requests, AsyncIterable) else pulled(requests)
        return Iteration(self._authority.commit_requests(source, window=window, **options), self._run)
