"""The few process attributes for which Python has no function."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CLONE_NEWNS = 0x20000
_MS_BIND, _MS_REC, _MS_SLAVE = 0x1000, 0x4000, 0x80000
_MS_RDONLY, _MS_REMOUNT = 0x1, 0x20

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


def own_mounts() -> None:
    """Give this process and its children a mount namespace; OSError if not permitted.

    New mounts of the machine still appear here; mounts made here appear nowhere else.
    """
    _check(_libc.unshare(_CLONE_NEWNS))
    _mount("none", "/", _MS_REC | _MS_SLAVE)


def show_accounts(directory: str) -> None:
    """Bind the files `passwd` and `group` of a directory over those in /etc, after `own_mounts`."""
    for name in ("passwd", "group"):
        _mount(f"{directory}/{name}", f"/etc/{name}", _MS_BIND)


def make_read_only(directory: str) -> None:
    """Make a directory read-only for all users, after `own_mounts`."""
    _mount(directory, directory, _MS_BIND | _MS_REC)
    _mount("none", directory, _MS_REMOUNT | _MS_BIND | _MS_RDONLY)


def _mount(source: str, target: str, flags: int) -> None:
    _check(_libc.mount(source.encode(), target.encode(), None, ctypes.c_ulong(flags), None))


def _prctl(option: int, value: int) -> None:
    unsigned = ctypes.c_ulong
    _check(_libc.prctl(option, unsigned(value), unsigned(0), unsigned(0), unsigned(0)))


def _check(result: int) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
