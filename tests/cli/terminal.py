"""A command in a process of its own, with a terminal in place of some of its streams."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from collections.abc import Sequence
from types import TracebackType

from tests.support.stack import ZOE

COLUMNS = 80


class Terminal:
    """A context manager around `zoe`; `on` names the streams that are the terminal."""

    def __init__(
        self, *arguments: str, environment: dict[str, str], on: frozenset[str], zoe: Sequence[str] = (str(ZOE),)
    ) -> None:
        self._own, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            [*zoe, *arguments],
            env={**({} if "PATH" in environment else os.environ), "TERM": "xterm-256color", **environment},
            stdin=subprocess.DEVNULL,
            stdout=theirs if "stdout" in on else subprocess.DEVNULL,
            stderr=theirs if "stderr" in on else subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs)
        self._text = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._own)

    def read_until(self, words: str) -> str:
        """Return the output up to these words."""
        while words not in self._text:
            piece = self._read()
            assert piece, f"it ended without {words!r}: {self._text}"
            self._text += piece
        return self._text

    def read_all(self) -> str:
        """Return the output until the end."""
        while piece := self._read():
            self._text += piece
        return self._text

    def interrupt(self) -> None:
        """Ctrl-C."""
        os.kill(self.process.pid, signal.SIGINT)

    def end(self) -> int:
        """The exit code."""
        return self.process.wait(30)

    def _read(self) -> str:
        try:
            return self._decoder.decode(os.read(self._own, 65536))
        except OSError:  # the other side is closed
            return ""
