"""Start a supervisor, and tell it to stop."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from zoe_master.backends.local.supervisor import files, processes

# Only this directory is added to the path of a bare interpreter, so compiled files are found; `-m` of a package, or a
# script by its file name, would be slower.
_PROGRAM = "import sys; sys.path.append({path!r}); from supervisor.fork_server import main; main()"
_TITLE_BYTES = 512  # the place of the last argument, where supervisors show their directories
_ANSWER_S = 10.0
_ANSWER_BYTES_MAX = 100


@dataclass(frozen=True, slots=True)
class SupervisorProcess:
    """A started supervisor: its process id, and the clock ticks at which it began."""

    pid: int
    start_ticks: int

    @property
    def has_ended(self) -> bool:
        """Return whether it has ended; another process may have its id by now."""
        process = processes.read_process(self.pid)
        return process is None or process.state == "Z" or process.start_ticks != self.start_ticks


class ForkServer:
    """Starts supervisors by a process that has imported them. Thread-safe; started by the first use, and again by the
    next one if it was killed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: socket.socket | None = None
        self._pid = 0

    def launch(self, directory: Path) -> SupervisorProcess:
        """Return a new supervisor for a service's directory; OSError. See `supervisor` for the requirements."""
        with self._lock:
            if self._requests is not None:
                try:
                    return self._launch(self._requests, directory)
                except (ConnectionError, TimeoutError):  # a late answer would be taken for that of the next request
                    self._end()
            self._requests = self._start()
            try:
                return self._launch(self._requests, directory)
            except OSError:
                self._end()
                raise

    def close(self) -> None:
        """End the server; the supervisors go on."""
        with self._lock:
            self._end()

    def _start(self) -> socket.socket:
        """Start the server by `posix_spawn`, which does not copy the page tables of a large master."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            program = _PROGRAM.format(path=str(Path(__file__).parents[1]))
            self._pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", "-c", program, "-" * _TITLE_BYTES],
                {"PATH": os.defpath, "LANG": "C.UTF-8"},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                ],
                setsid=True,
                setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
                setsigmask=(),
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.settimeout(_ANSWER_S)
        return ours

    @staticmethod
    def _launch(requests: socket.socket, directory: Path) -> SupervisorProcess:
        requests.send(os.fsencode(directory))
        numbers = [int(word) for word in requests.recv(_ANSWER_BYTES_MAX).split()]
        if not numbers:
            raise ConnectionResetError("the process that starts supervisors has ended; see the log of zoe-master")
        if len(numbers) == 1:
            raise OSError(-numbers[0], os.strerror(-numbers[0]))
        return SupervisorProcess(*numbers)

    def _end(self) -> None:
        if self._requests is not None:
            self._requests.close()
            self._requests = None
            _kill(self._pid)


def _kill(pid: int) -> None:
    """End a server that has nothing to do any more, or hangs."""
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        return


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
