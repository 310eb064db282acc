"""A child of the resident process becomes, as far as a command can see, the caller's process, and runs the command."""

from __future__ import annotations

import fcntl
import io
import os
import signal
import socket
import struct
import sys
import time
from typing import Any

from zoe_cli.helper.caller import ANSWER_S, GO, NUMBER_BYTES
from zoe_cli.helper.surroundings import read_at_start

_AT_ONCE = 256 * 1024
_CREDENTIALS = struct.Struct("iII")
_FLUSH_FAILED = 120


class _Running:
    """The call that this process runs; the resident process has none."""

    caller: socket.socket | None = None
    code = 0


def run(caller: socket.socket, around: bytes) -> None:
    """Run one call if its caller says so. `end` reports the exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    caller.settimeout(ANSWER_S)
    try:
        _take_over(caller, around)
        caller.sendall(os.getpid().to_bytes(NUMBER_BYTES, "big"))
        caller.settimeout(None)  # once the caller has sent it, it runs nothing itself, however slow it was
        begins = caller.recv(len(GO)) == GO
    except (OSError, ValueError):
        begins = False
    if begins and _lives_with(caller):
        _Running.caller = caller
        _Running.code = _exit_code()


def end() -> None:
    """Report the exit code and end this process, if it runs a call."""
    caller, code = _Running.caller, _Running.code
    if caller is None:
        return
    if not _flushed():
        code = _FLUSH_FAILED
    try:
        caller.sendall(code.to_bytes(NUMBER_BYTES, "big", signed=True))
    finally:
        os._exit(0)


def _flushed() -> bool:
    """Write what is left in the streams; report a failure as Python does at its end."""
    whole = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            whole = False
            if stream is sys.stdout:
                sys.stderr.write(f"Exception ignored in: {stream!r}\n{type(error).__name__}: {error}\n")
    return whole


def _take_over(caller: socket.socket, around: bytes) -> None:
    """Take the caller's files, folder, words and variables. OSError or ValueError if it is not like this process."""
    _, user, _ = _CREDENTIALS.unpack(caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    data, files, _, _ = socket.recv_fds(caller, _AT_ONCE, 4)
    length = int.from_bytes(data[:NUMBER_BYTES], "big")
    request = bytearray(data[NUMBER_BYTES:])
    while len(request) < length and (more := caller.recv(_AT_ONCE)):
        request += more
    theirs, umask, count, *rest = bytes(request).split(b"\0")
    if user != os.geteuid() or theirs != around or len(request) != length:
        raise ValueError
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    os.fchdir(files[3])
    for file in files:
        os.close(file)
    os.umask(int(umask))
    sys.argv = ["zoe", *map(os.fsdecode, rest[: int(count)])]
    _set_variables(rest[int(count) :])
    sys.stdin = sys.__stdin__ = _stream(0, sys.stdin)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, sys.stdout)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, sys.stderr)  # type: ignore[misc]


def _set_variables(variables: list[bytes]) -> None:
    """Replace the environment; what this program's imports have set in their own stays."""
    kept = {name: value for name, value in os.environ.items() if read_at_start(name)}
    os.environ.clear()
    for variable in variables:
        name, _, value = variable.partition(b"=")
        os.environb[name] = value
    os.environ.update(kept)
    time.tzset()


def _stream(number: int, like: Any) -> io.TextIOWrapper:
    """Open a standard stream as Python does when it starts."""
    mode = "w" if number else "r"
    binary: Any = open(number, f"{mode}b", 0 if like.write_through else -1, closefd=False)  # noqa: SIM115
    getattr(binary, "raw", binary).name = like.name
    lines = number == 2 or (number == 1 and binary.isatty())
    stream = io.TextIOWrapper(
        binary, like.encoding, like.errors, newline="\n", line_buffering=lines, write_through=like.write_through
    )
    stream.mode = mode  # type: ignore[misc]
    return stream


def _lives_with(caller: socket.socket) -> bool:
    """Let SIGIO end this process when its caller ends; False if it has ended already.

    The signal may also tell of the caller's last message, which this process has read by then.
    """

    def end_with_caller(number: int, _frame: object) -> None:
        if _has_ended(caller):
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    signal.signal(signal.SIGIO, end_with_caller)
    descriptor = caller.fileno()
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_ASYNC)
    return not _has_ended(caller)


def _has_ended(caller: socket.socket) -> bool:
    try:
        return caller.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _exit_code() -> int:
    """Run the command; return the exit code of this process, less than 0 for a signal."""
    from zoe_cli.main import main

    try:
        main()
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return (ended.code or 0) & 0xFF
        print(ended.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        return -signal.SIGINT
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0
