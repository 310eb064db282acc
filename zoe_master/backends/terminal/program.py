"""The program of a terminal as a process of this machine, with a pseudo-terminal or with three pipes."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import struct
import termios
import time

_PR_SET_CHILD_SUBREAPER = 36
_READ_BYTES = 32 * 1024
_HANGUP_S, _KILL_S = 1.0, 10.0


class ProcessStreams:
    """The descriptors of a program: `outputs` are those to read, `input` the one to write; -1 if closed."""

    tty: bool
    input: int
    outputs: list[int]

    def read(self, descriptor: int) -> bytes | None:
        """Return available bytes, empty at the end; None if there are none now."""
        try:
            return os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:  # a pseudo-terminal without open processes
            return b""

    def write(self, data: bytes) -> int:
        """Return the number of bytes taken; all of them once it no longer reads."""
        try:
            return os.write(self.input, data) if self.input >= 0 else len(data)
        except BlockingIOError:
            return 0
        except OSError:
            return len(data)

    def end_input(self) -> None:
        """Close its input."""
        if self.tty:
            self.write(b"\x04")
        elif self.input >= 0:
            os.close(self.input)
            self.input = -1


class TerminalProcess(ProcessStreams):
    """A process and its descendants."""

    def __init__(self, argv: list[str], tty: bool, rows: int, columns: int) -> None:
        _adopt_orphans()
        self.tty = tty
        self.exit_code: int | None = None
        if tty:
            self.input, theirs = os.openpty()
            self.outputs = [self.input]
            self.resize(rows, columns)
            inner = (theirs, theirs, theirs)
        else:
            (stdin, self.input), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
            self.outputs = [out, err]
            inner = (stdin, stdout, stderr)
        self._pid = os.fork()
        if self._pid == 0:
            _execute(argv, inner, tty)
        for descriptor in set(inner):
            os.close(descriptor)
        for descriptor in {self.input, *self.outputs}:
            os.set_blocking(descriptor, False)

    def resize(self, rows: int, columns: int) -> None:
        """Resize the program's window."""
        if self.tty and self.input >= 0:
            with contextlib.suppress(OSError):
                fcntl.ioctl(self.input, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def reap(self) -> None:
        """Collect ended processes; record the exit code of the first one."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._pid:
                    code = os.waitstatus_to_exitcode(status)
                    self.exit_code = code if code >= 0 else 128 - code

    def end(self) -> None:
        """End it with all its descendants: hang up first, then kill."""
        if self.exit_code is None:
            for number in (signal.SIGHUP, signal.SIGCONT):
                with contextlib.suppress(OSError):
                    os.killpg(self._pid, number)
        began_s = time.monotonic()
        while time.monotonic() < began_s + _KILL_S:
            self.reap()
            left = descendants(os.getpid())
            if not left:
                return
            if self.exit_code is not None or time.monotonic() > began_s + _HANGUP_S:
                for pid in left:
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


def descendants(root: int) -> list[int]:
    """Return all children of a process, their children and so on."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
                text = file.read()
                children.setdefault(int(text[text.rindex(b")") + 2 :].split()[1]), []).append(int(name))
    found, ahead = [], [root]
    while ahead:
        more = children.get(ahead.pop(), [])
        found += more
        ahead += more
    return found


def _adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends, so that none escapes."""
    zero = ctypes.c_ulong(0)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), zero, zero, zero)


def _execute(argv: list[str], inner: tuple[int, int, int], tty: bool) -> None:
    try:
        os.setsid()
        if tty:
            fcntl.ioctl(inner[0], termios.TIOCSCTTY, 0)
        for target, descriptor in enumerate(inner):
            os.dup2(descriptor, target)
        os.closerange(3, 1024)
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        os.execv(argv[0], argv)
    finally:
        os._exit(127)
