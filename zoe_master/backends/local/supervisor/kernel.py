"""The few process attributes that Python has no name for."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Descendants whose parent ends become our children, so none gets away."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """SIGKILL for this process when its parent ends; a change of user undoes it."""
    _prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def renounce_privileges() -> None:
    """No program started from here gains rights, set-user-id bits or not."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    unsigned = ctypes.c_ulong
    if _libc.prctl(option, unsigned(value), unsigned(0), unsigned(0), unsigned(0)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
