"""Connect this process's terminal, or its pipes, with a terminal in a service."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from zoe_client.calls.terminals import Terminal
from zoe_client.errors import ZoeError

_READ_BYTES = 32 * 1024
_ESCAPE = b"~"


def size() -> tuple[int, int]:
    """Return rows and columns of this terminal."""
    found = shutil.get_terminal_size()
    return max(1, found.lines), max(1, found.columns)


def name_of_terminal() -> str:
    """Return TERM, if it is a plain name."""
    name = os.environ.get("TERM", "")
    return name if re.fullmatch(r"[A-Za-z0-9._+-]{1,64}", name) else "xterm-256color"


def attach(terminal: Terminal, in_terminal: bool) -> None:
    """Return when the program has ended, or the user has left; ZoeError if the server ended the connection,
    OSError if the output cannot be written.
    """
    woken, wakeup = os.pipe()
    for descriptor in (woken, wakeup):
        os.set_blocking(descriptor, False)
    failed: list[ZoeError | OSError] = []
    reader = threading.Thread(target=_show, args=(terminal, wakeup, failed), daemon=True)
    with _raw(in_terminal), _resizing(wakeup, in_terminal):
        reader.start()
        left = _feed(terminal, woken, in_terminal)
        terminal.close()
        reader.join()
    if left:
        terminal.message = "you have left; the program was ended"
    elif failed:
        raise failed[0]


def _show(terminal: Terminal, wakeup: int, failed: list[ZoeError | OSError]) -> None:
    """Write the output until the end. The end of standard output's reader ends the terminal."""
    try:
        for is_error, data in terminal.outputs():
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(2 if is_error else 1, rest) :]
    except (OSError, ZoeError) as error:
        failed.append(error)
    finally:
        with suppress(OSError):
            os.write(wakeup, b"x")


def _feed(terminal: Terminal, woken: int, in_terminal: bool) -> bool:
    """Send the user's keys until the end; return whether the user has left by `~.`."""
    keys = _Keys()
    sources = [0, woken]
    while True:
        ready, _, _ = select.select(sources, [], [])
        if woken in ready:
            if b"x" in os.read(woken, 4096):
                return False
            terminal.resize(*size())
        if 0 in ready:
            data = os.read(0, _READ_BYTES)
            if not data:
                sources.remove(0)
                terminal.end_input()
            elif not in_terminal:
                terminal.write(data)
            elif keys.leave(data):
                return True
            else:
                terminal.write(keys.typed)


class _Keys:
    """Keys without escapes: at the start of a line, `~.` leaves, and `~~` is one `~`."""

    def __init__(self) -> None:
        self._at_start = True
        self._escaping = False
        self.typed = b""

    def leave(self, data: bytes) -> bool:
        """Read the pending keys; return whether they were `~.`."""
        typed = bytearray()
        for number in data:
            key = bytes([number])
            if self._escaping:
                self._escaping = False
                if key == b".":
                    return True
                typed += key if key == _ESCAPE else _ESCAPE + key
            elif self._at_start and key == _ESCAPE:
                self._escaping = True
                continue
            else:
                typed += key
            self._at_start = key in (b"\r", b"\n")
        self.typed = bytes(typed)
        return False


@contextmanager
def _raw(wanted: bool) -> Iterator[None]:
    """Pass every key on unchanged, if standard input is a terminal."""
    if not (wanted and os.isatty(0)):
        yield
        return
    before = termios.tcgetattr(0)
    try:
        tty.setraw(0, termios.TCSADRAIN)
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        sys.stdout.flush()


@contextmanager
def _resizing(wakeup: int, wanted: bool) -> Iterator[None]:
    """Wake the loop when the window changes its size."""
    if not wanted:
        yield
        return
    before = signal.signal(signal.SIGWINCH, lambda *_: os.write(wakeup, b"w"))
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
