"""The few process attributes for which Python has no function."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends, so that none escapes."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have the kernel send SIGKILL to this process when its parent ends; a change of user undoes it."""
    _prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def renounce_privileges() -> None:
    """Give up privileges for good: no program started from here gains any, set-user-id or not."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    unsigned = ctypes.c_ulong
    if _libc.prctl(option, unsigned(value), unsigned(0), unsigned(0), unsigned(0)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
