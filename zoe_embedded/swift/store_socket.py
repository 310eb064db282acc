"""Socket of a running store, for the storage controller's commands to restart a server or to create a storage policy:

python -m zoe_embedded.swift.store_socket SOCKET restart NAME
python -m zoe_embedded.swift.store_socket SOCKET policy JSON
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
_QUESTION_BYTES_MAX = 2**20
_ANSWER_BYTES_MAX = 4096
_PIECE_BYTES = 65536
_DONE, _FAILED = "done ", "failed "


class StoreSocket:
    """A Unix socket in a directory that only its user can enter; use as a context manager."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._directory = Path(tempfile.mkdtemp(prefix="zoe-store-"))
        self._path = self._directory / "socket"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._path))
        self._socket.listen()
        self._socket.settimeout(_LOOK_S)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-store", daemon=True)

    def restart_command(self, name: str) -> list[str]:
        """Return the command that restarts a server."""
        return [*self._program, "restart", name]

    @property
    def policy_command(self) -> list[str]:
        """Return the command that creates a storage policy; its document is a further argument."""
        return [*self._program, "policy"]

    @property
    def _program(self) -> list[str]:
        return [sys.executable, "-m", __name__, str(self._path)]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End after the running restart, so that its server is stopped with the others."""
        self._closing.set()
        self._thread.join()
        self._socket.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _run(self) -> None:
        while not self._closing.is_set():
            with suppress(OSError):  # a timeout, or a client that disconnects
                line, _ = self._socket.accept()
                with line:
                    line.settimeout(_QUESTION_S)
                    line.sendall(self._answer(_all_of(line, _QUESTION_BYTES_MAX)).encode()[:_ANSWER_BYTES_MAX])

    def _answer(self, question: str) -> str:
        verb, _, what = question.partition(" ")
        try:
            return _DONE + (self._store.make_policy(what) if verb == "policy" else self._restart(what))
        except Exception as error:  # the next one may succeed
            return _FAILED + (str(error) or type(error).__name__)

    def _restart(self, name: str) -> str:
        if name not in self._store.processes:
            raise LookupError(f"the store has no server {name!r}")
        self._store.restart(name)
        return "it was restarted"


def _all_of(line: socket.socket, most: int) -> str:
    text = b""
    while len(text) < most and (piece := line.recv(_PIECE_BYTES)):
        text += piece
    return text.decode(errors="replace")


def main(path: str, verb: str, what: str) -> int:
    """Send a request and wait; return 1 with an error message if it failed."""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(_ANSWER_S)
            line.connect(path)
            line.sendall(f"{verb} {what}".encode())
            line.shutdown(socket.SHUT_WR)
            answer = _all_of(line, _ANSWER_BYTES_MAX)
    except OSError as error:
        answer = f"{_FAILED}cannot reach the store: {error}"
    print(answer.removeprefix(_DONE).removeprefix(_FAILED) or "no answer")
    return 0 if answer.startswith(_DONE) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
