"""Start a supervisor, and tell it to stop."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from zoe_master.backends.local.supervisor import files, processes

# Only this directory is added to the path of a bare interpreter, so compiled files are found; `-m` of a package, or a
# script by its file name, would be slower.
_PROGRAM = "import sys; sys.path.append({path!r}); from supervisor.main import main; main()"
_BLOCKED = (signal.SIGUSR1, signal.SIGTERM)


def launch(directory: Path) -> int:
    """Return the pid of a new supervisor for a service's directory; see `supervisor` for the requirements.

    Uses `posix_spawn`, which does not copy the page tables of a large master.
    """
    program = _PROGRAM.format(path=str(Path(__file__).parents[1]))
    errors = str(directory / files.ERRORS)
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", "-c", program, str(directory)],
        {"PATH": os.defpath, "LANG": "C.UTF-8"},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
        setsigmask=_BLOCKED,  # until the supervisor has handlers
    )


def reap(pid: int) -> bool:
    """Return whether that child has ended; collects its exit status, so that no zombie stays."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def ask_to_stop(directory: Path, pid: int | None, start_ticks: int | None) -> bool:
    """Write the request where the supervisor polls it each second, and signal the supervisor if its process is known.

    Return False if neither was possible (a full disk, and a supervisor that has not reported yet).
    """
    try:
        (directory / files.STOP).touch()
        left = True
    except OSError:
        left = False
    return _hurry(pid, start_ticks) or left


def _hurry(pid: int | None, start_ticks: int | None) -> bool:
    if pid is None or start_ticks is None:
        return False
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if processes.start_ticks(pid) != start_ticks:
            return False
        signal.pidfd_send_signal(handle, signal.SIGUSR1)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True
