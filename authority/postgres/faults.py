"""What went wrong in the database, told apart by SQLSTATE: the only place that reads one."""

import asyncpg

from authority.usecases.ports import Contention, DependencyUnavailable

_AGAIN_WHOLE = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.LockNotAvailableError,
)
"""40001, 40P01, 55P03: nothing happened; the whole transaction may be tried again (case C09)."""

_AWAY = (
    asyncpg.InsufficientResourcesError,
    asyncpg.QueryCanceledError,
    asyncpg.ReadOnlySQLTransactionError,
)
"""Class 53, 57014, 25006: nothing happened, and this connection is no good (case C20)."""

_LOST = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.DatabaseDroppedError,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)
"""The connection is gone: what was sent may have happened (case C01)."""


_POISON = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
)
"""Classes 22 and 23: one row cannot be stored, and takes the whole call with it."""


class ClockOff(DependencyUnavailable):
    """This process's clock is too far from the database's to judge times (semantics §3)."""


def is_again_whole(error: BaseException) -> bool:
    """Whether the same transaction may simply be tried again."""
    return isinstance(error, _AGAIN_WHOLE)


def is_away(error: BaseException) -> bool:
    """Whether the database refused to work, with nothing done."""
    return isinstance(error, _AWAY)


def is_lost(error: BaseException) -> bool:
    """Whether the answer is lost, so that the outcome is unknown."""
    return isinstance(error, _LOST)


def is_poison(error: BaseException) -> bool:
    """Whether a row of the call cannot be stored, now or ever: in the server's words or already in the driver's."""
    return isinstance(error, _POISON) or (isinstance(error, asyncpg.InterfaceError) and isinstance(error, ValueError))


def is_clock_off(error: BaseException) -> bool:
    """Whether the commit function found our clock too far from its own."""
    return isinstance(error, asyncpg.PostgresError) and error.sqlstate == "CA001"


def as_fault(error: BaseException) -> Exception | None:
    """The fault a use case may meet for a driver's error, or None when it is a defect of ours."""
    if is_clock_off(error):
        return ClockOff(str(error))
    if is_again_whole(error):
        return Contention(type(error).__name__)
    if is_away(error) or is_lost(error):
        return DependencyUnavailable(type(error).__name__)
    return None
