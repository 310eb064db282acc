"""How another process of the same user asks for a restart of one server of a store: the storage controller's command.

python -m zoe_embedded.swift.restart_socket SOCKET NAME
"""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from zoe_embedded.swift.store import ObjectStore

_LOOK_S = 0.5
_QUESTION_S = 5.0
_ANSWER_S = 300.0
_NAME_BYTES_MAX = 200
_ANSWER_BYTES_MAX = 4096
_OK = b"ok"


class RestartSocket:
    """A Unix socket in a directory of its own, which only its user enters; use as a context manager."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._directory = Path(tempfile.mkdtemp(prefix="zoe-restart-"))
        self._path = self._directory / "socket"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._path))
        self._socket.listen()
        self._socket.settimeout(_LOOK_S)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-restart", daemon=True)

    def command(self, name: str) -> list[str]:
        """Return program and arguments that restart a server."""
        return [sys.executable, "-m", __name__, str(self._path), name]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End after the restart that runs, so that its server is stopped with the others."""
        self._closing.set()
        self._thread.join()
        self._socket.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _run(self) -> None:
        while not self._closing.is_set():
            with suppress(OSError):  # a time-out, or one who asks and leaves
                line, _ = self._socket.accept()
                with line:
                    line.settimeout(_QUESTION_S)
                    line.sendall(self._answer(line.recv(_NAME_BYTES_MAX).decode(errors="replace")))

    def _answer(self, name: str) -> bytes:
        if name not in self._store.processes:
            return f"the store has no server {name!r}".encode()
        try:
            self._store.restart(name)
        except Exception as error:  # the next one may succeed
            return (str(error) or type(error).__name__).encode()[:_ANSWER_BYTES_MAX]
        return _OK


def main(path: str, name: str) -> int:
    """Ask for a restart and wait for it; return 1 with a sentence if it failed."""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(_ANSWER_S)
            line.connect(path)
            line.sendall(name.encode())
            answer = line.recv(_ANSWER_BYTES_MAX)
    except OSError as error:
        answer = f"the store cannot be asked: {error}".encode()
    print("it was restarted" if answer == _OK else answer.decode(errors="replace") or "no answer")
    return 0 if answer == _OK else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
