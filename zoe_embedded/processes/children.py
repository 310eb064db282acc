"""Child processes that end with their parent, even if that is killed."""

from __future__ import annotations

import contextlib
import ctypes
import signal
from collections.abc import Callable, Mapping, Sequence

import psutil

_PR_SET_PDEATHSIG = 1
_STOP_S_MAX = 20.0
_prctl = ctypes.CDLL(None).prctl  # looked up before a fork, after which other threads' locks may be held for ever


def end_with_parent() -> None:
    """End this process with the thread that started it, however that one ends; for `preexec_fn`."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def end_orphans(is_one: Callable[[Sequence[str], Mapping[str, str]], bool]) -> None:
    """End processes that a killed one has left, found by command lines and environments, and wait for their ends.

    They get a signal when it dies, but may need some seconds, in which they hold a port, a lead or a socket's file.
    """
    found = [process for process in psutil.process_iter() if _matches(process, is_one)]
    for process in found:
        _signal(process, signal.SIGTERM)
    _, living = psutil.wait_procs(found, _STOP_S_MAX)
    for process in living:
        _signal(process, signal.SIGKILL)
    psutil.wait_procs(living, _STOP_S_MAX)


def _matches(process: psutil.Process, is_one: Callable[[Sequence[str], Mapping[str, str]], bool]) -> bool:
    try:
        return is_one(process.cmdline(), process.environ())
    except (psutil.Error, OSError):  # it has ended, or belongs to another user
        return False


def _signal(process: psutil.Process, number: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)
