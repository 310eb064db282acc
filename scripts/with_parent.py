"""Run a command that ends with the process that started it, however that one ends: `python with_parent.py COMMAND`."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent(number: signal.Signals) -> None:
    """Have the kernel send a signal to this process, or what it executes, when the thread that started it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number))


if __name__ == "__main__":
    end_with_parent(signal.SIGTERM)
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 - the command is the caller's
