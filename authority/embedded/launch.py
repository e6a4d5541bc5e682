"""Becomes a server program: takes on an account, asks to be signalled when the parent ends, then executes it.

A script of its own, `python -I -S launch.py PARENT SIGNAL UID GID PROGRAM ARGUMENT...`, because the order matters: a
change of user clears the parent-death signal, so it is set after that and before the execution, which keeps it. Doing
the same in `Popen(preexec_fn=...)` would run Python between fork and exec of a process that has threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h
REFUSED = 126
"""Exit code when the program was not executed; the reason is on standard error."""


def take_on(uid: int, gid: int) -> None:
    """Run as this user and group from here on, without a way back and without supplementary groups."""
    if uid != os.geteuid():
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)


def end_with_parent(number: int) -> None:
    """Have the kernel send a signal when the thread that started us ends.

    It is sent again for each thread of a killed parent that we pass to on the way, so it must be one that is harmless
    when repeated: SIGINT makes Valkey exit on the spot the second time.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")


def restore_signals() -> None:
    """Let no signal stay ignored or blocked, as Python, a shell or a thread of the parent may have set it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def main(arguments: list[str]) -> int:
    """Execute the program; returns, with an exit code, only when that was not possible."""
    parent, number, uid, gid = (int(argument) for argument in arguments[:4])
    command = arguments[4:]
    try:
        take_on(uid, gid)
        end_with_parent(number)
        if os.getppid() != parent:  # It ended before the signal was asked for.
            return REFUSED
        restore_signals()
        os.umask(0o077)
        os.execv(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]} as user id {uid}, group id {gid}: {error}\n")
    return REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
