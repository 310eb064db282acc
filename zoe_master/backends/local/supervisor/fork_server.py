"""The fork server: it imports the supervisor once, and forks one for each service.

A new interpreter would take 40 ms of CPU time for the same imports. The fork server ends with the back-end that started
it, and its supervisors go on.
"""

from __future__ import annotations

import ctypes
import gc
import os
import select
import signal
import socket
import sys

from . import files, left_files, processes
from .main import main as supervise

_REQUEST_BYTES_MAX = 4096
_BLOCKED = (signal.SIGUSR1, signal.SIGTERM)
_ARGUMENTS_BEGIN, _ARGUMENTS_END = 47, 48
"""Places in /proc/self/stat; see proc(5)."""

_IMPORTED_LATER = (left_files,)
"""Supervisors import these when they need them; here it costs nothing."""


def main() -> None:
    """Serve the requests at descriptor 0, a socket that keeps messages apart, until its other end is closed.

    A request is the directory of a service. The answer is the supervisor's process id with the clock ticks at which it
    began, or a minus sign and the number of an error.
    """
    requests = socket.socket(fileno=0)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    _set_title("zoe-fork-server")
    gc.collect()
    gc.freeze()
    poll = select.poll()
    poll.register(requests, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if woken in ready:
            os.read(woken, _REQUEST_BYTES_MAX)
            _reap()
        if requests.fileno() not in ready:
            continue
        directory = os.fsdecode(requests.recv(_REQUEST_BYTES_MAX))
        if not directory:
            return
        if _answer(requests) == 0:
            os.close(woken)
            os.close(wake)
            _become_supervisor(requests, directory)


def _answer(requests: socket.socket) -> int:
    """Fork, and answer; return 0 in the new process."""
    try:
        pid = os.fork()
        if pid == 0:
            return 0
    except OSError as error:
        requests.send(b"-%d" % (error.errno or 0))
        return -1
    # The process stays in the list of processes until `_reap`, even if it has ended.
    requests.send(b"%d %d" % (pid, processes.start_ticks(pid) or 0))
    return pid


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _become_supervisor(requests: socket.socket, directory: str) -> None:
    """Supervise a service in a session and with standard files of its own."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, _BLOCKED)  # until the supervisor has handlers
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        errors = os.open(f"{directory}/{files.ERRORS}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        requests.detach()
        for descriptor, standard in ((null, 0), (errors, 1), (errors, 2)):
            os.dup2(descriptor, standard)
        _set_title(f"zoe-supervisor {directory}")
        sys.argv = ["zoe-supervisor", directory]
        supervise()
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


def _set_title(title: str) -> None:
    """Show a title in lists of processes, in the place of the last argument and of what is before it."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    # The first two fields are the process id and the name in brackets.
    begin, end = int(fields[_ARGUMENTS_BEGIN - 2]), int(fields[_ARGUMENTS_END - 2])
    if 0 < begin < end:
        ctypes.memmove(begin, os.fsencode(title)[: end - begin - 1].ljust(end - begin, b"\0"), end - begin)
