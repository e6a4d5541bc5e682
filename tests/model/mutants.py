"""Authorities over dicts that are wrong on purpose, each in one way that the model test is there to find.

With each stand the rules of the machine that suffice to find it: among all rules it would be found as well, in minutes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from authority.inprocess.tables import Tables
from authority.usecases.ports import (
    Capabilities,
    Clock,
    Committer,
    RecordRevocations,
    Registry,
    Revocations,
    Statements,
    Validations,
)
from tests.model import wrong_committers as blind
from tests.model.stages import OpenOverTables
from tests.model.wrong_batches import AnswersInItsOwnOrder, FailsAllForOne, LetsEachOfABatchWin, LetsTheLastWin
from tests.model.wrong_committers import (
    Blind,
    Blinded,
    BurnsOnFailure,
    CommitsOnExpiredReceipts,
    CommitsRevokedCapabilities,
    CommitsSupersededRevisions,
    CommitsTwicePerProposal,
    LeavesTheCapability,
    LosesTheEvent,
    RefusesBeforeReplay,
    RefusesRevokedBeforeReplay,
    RemembersInProcess,
    ReplaysAnyFingerprint,
    SignsReplaysAnew,
    TellsTwice,
)
from tests.model.wrong_memories import (
    BuriesNothing,
    LeavesTheCorrected,
    LetsAnAgentRevoke,
    TellsNobodyOfRevocations,
    TellsTheLastRevocation,
)
from tests.model.wrong_stores import (
    ForgetsWhoHolds,
    HandsOutInItsOwnOrder,
    HidesRevocations,
    IssuesAnew,
    IssuesNothingAfterARevocation,
    IssuesToEachOfABatch,
    RemembersCallers,
    RetriesUndoRevocations,
    RevivesTurnedDown,
    RevokesTheKey,
    RevokesWhatWasCommitted,
    RevokesWithoutAMark,
    SpendsNothing,
    SpendsOfTheLastAlone,
    TellsTheLastTime,
)
from tests.world.stores import SOURCE, Store, store_over


@dataclass(frozen=True, slots=True)
class Mutant:
    """What is wrong is said by its name, and by the docstring of what is named so."""

    open_store: OpenOverTables
    rules: frozenset[str]


def _committing(make: Callable[[Tables, Clock], Committer], *rules: str) -> Mutant:
    def open_store(tables: Tables, clock: Clock, statements: Statements) -> Store:
        return replace(store_over(tables, clock, statements), committer=make(tables, clock))

    return Mutant(open_store, frozenset(rules))


def _blind(spot: Blind, *rules: str) -> Mutant:
    return _committing(partial(Blinded, sight=spot), *rules)


def _validating(make: Callable[[Tables], Validations], *rules: str) -> Mutant:
    def open_store(tables: Tables, clock: Clock, statements: Statements) -> Store:
        return replace(store_over(tables, clock, statements), validations=make(tables))

    return Mutant(open_store, frozenset(rules))


def _issuing(make: Callable[[Tables, Clock], Capabilities], *rules: str) -> Mutant:
    def open_store(tables: Tables, clock: Clock, statements: Statements) -> Store:
        return replace(store_over(tables, clock, statements), capabilities=make(tables, clock))

    return Mutant(open_store, frozenset(rules))


def _registering(make: Callable[[Tables], Registry], *rules: str) -> Mutant:
    def open_store(tables: Tables, clock: Clock, statements: Statements) -> Store:
        return replace(store_over(tables, clock, statements), registry=make(tables))

    return Mutant(open_store, frozenset(rules))


def _revoking(make: Callable[[Tables], Revocations], *rules: str) -> Mutant:
    def open_store(tables: Tables, clock: Clock, statements: Statements) -> Store:
        return replace(store_over(tables, clock, statements), revocations=make(tables))

    return Mutant(open_store, frozenset(rules))


def _withdrawing(make: Callable[[Tables, str], RecordRevocations], *rules: str) -> Mutant:
    def open_store(tables: Tables, clock: Clock, statements: Statements) -> Store:
        return replace(store_over(tables, clock, statements), record_revocations=make(tables, SOURCE))

    return Mutant(open_store, frozenset(rules))


MUTANTS: dict[str, Mutant] = {
    "is blind to revoked principals": _blind(blind.to_revoked_principals, "revoke"),
    "is blind to revoked holder keys": _blind(blind.to_revoked_holder_keys, "revoke"),
    "is blind to revoked issuer keys": _blind(blind.to_revoked_issuer_keys, "rotate_issuer_key"),
    "is blind to revoked grants": _blind(blind.to_revoked_grants, "lend", "make_ready_under", "revoke_grant"),
    "is blind to revoked ancestors": _blind(blind.to_revoked_ancestors, "lend", "make_ready_under", "revoke_grant"),
    "SpendsNothing": _issuing(SpendsNothing, "lend", "make_ready_under"),
    "SpendsOfTheLastAlone": _issuing(SpendsOfTheLastAlone, "lend", "make_ready_under"),
    "is blind to tombstones": _blind(blind.to_tombstones, "withdraw_content"),
    "is blind to what a correction stands on": _blind(blind.to_tombstones, "make_corrections"),
    "is blind to the active policy": _blind(blind.to_the_active_policy, "govern"),
    "is blind to decisions against": _blind(blind.to_decisions_against, "revoke_approval"),
    "is blind to the end of approvals": _blind(blind.to_the_end_of_approvals, "make_ready", "let_pass"),
    "CommitsTwicePerProposal": _committing(CommitsTwicePerProposal, "make_ready", "commit"),
    "CommitsSupersededRevisions": _committing(CommitsSupersededRevisions, "revise"),
    "CommitsOnExpiredReceipts": _committing(CommitsOnExpiredReceipts, "make_ready", "let_pass"),
    "CommitsRevokedCapabilities": _committing(CommitsRevokedCapabilities, "revoke_capability"),
    "BurnsOnFailure": _committing(BurnsOnFailure, "commit_with_another", "commit"),
    "ReplaysAnyFingerprint": _committing(ReplaysAnyFingerprint, "commit_with_another"),
    "RefusesBeforeReplay": _committing(RefusesBeforeReplay, "commit", "let_pass", "disturb"),
    "RefusesRevokedBeforeReplay": _committing(RefusesRevokedBeforeReplay, "exchange", "commit", "disturb"),
    "SignsReplaysAnew": _committing(SignsReplaysAnew, "commit", "disturb"),
    "RemembersInProcess": _committing(RemembersInProcess, "commit", "disturb"),
    "LosesTheEvent": _committing(LosesTheEvent, "make_record"),
    "TellsTwice": _committing(TellsTwice, "commit", "disturb"),
    "LeavesTheCapability": _committing(LeavesTheCapability, "commit"),
    "LetsEachOfABatchWin": _committing(LetsEachOfABatchWin, "make_record", "commit_batch"),
    "LetsTheLastWin": _committing(LetsTheLastWin, "make_record", "commit_batch"),
    "AnswersInItsOwnOrder": _committing(AnswersInItsOwnOrder, "make_ready", "commit_batch"),
    "FailsAllForOne": _committing(FailsAllForOne, "make_ready", "commit_batch"),
    "RevivesTurnedDown": _validating(RevivesTurnedDown, "review", "validate"),
    "IssuesAnew": _issuing(IssuesAnew, "issue_again"),
    "IssuesToEachOfABatch": _issuing(IssuesToEachOfABatch, "issue_batch"),
    "HandsOutInItsOwnOrder": _issuing(HandsOutInItsOwnOrder, "issue_batch"),
    "RemembersCallers": _registering(RemembersCallers, "commit_on_stream", "revoke"),
    "RetriesUndoRevocations": _issuing(RetriesUndoRevocations, "exchange"),
    "IssuesNothingAfterARevocation": _issuing(IssuesNothingAfterARevocation, "exchange"),
    "HidesRevocations": _issuing(HidesRevocations, "exchange"),
    "ForgetsWhoHolds": _issuing(ForgetsWhoHolds, "revoke_capability"),
    "TellsTheLastTime": _revoking(TellsTheLastTime, "exchange"),
    "RevokesTheKey": _revoking(RevokesTheKey, "exchange"),
    "RevokesWhatWasCommitted": _revoking(RevokesWhatWasCommitted, "commit", "revoke_capability"),
    "RevokesWithoutAMark": _revoking(RevokesWithoutAMark, "exchange"),
    "BuriesNothing": _withdrawing(BuriesNothing, "revoke_record_twice"),
    "TellsNobodyOfRevocations": _withdrawing(TellsNobodyOfRevocations, "revoke_record_twice"),
    "TellsTheLastRevocation": _withdrawing(TellsTheLastRevocation, "revoke_record_twice"),
    "LetsAnAgentRevoke": _withdrawing(LetsAnAgentRevoke, "revoke_record"),
    "LeavesTheCorrected": _committing(LeavesTheCorrected, "make_corrections"),
    "corrects what was corrected": _committing(CommitsSupersededRevisions, "make_corrections"),
}
