"""How another process of the same user asks for a restart of one server of a store, or for a storage policy: the
commands of the storage controller.

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
    """A Unix socket in a directory of its own, which only its user enters; use as a context manager."""

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

    def restarts(self, name: str) -> list[str]:
        """Return program and arguments that restart a server."""
        return [*self._program, "restart", name]

    @property
    def makes_policies(self) -> list[str]:
        """Return program and arguments that make a storage policy, whose document is a further one."""
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
                    line.sendall(self._answer(_all_of(line, _QUESTION_BYTES_MAX)).encode()[:_ANSWER_BYTES_MAX])

    def _answer(self, question: str) -> str:
        verb, _, what = question.partition(" ")
        try:
            return _DONE + (self._store.make_policy(what) if verb == "policy" else self._restarted(what))
        except Exception as error:  # the next one may succeed
            return _FAILED + (str(error) or type(error).__name__)

    def _restarted(self, name: str) -> str:
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
    """Ask and wait; return 1 with a sentence if it failed."""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(_ANSWER_S)
            line.connect(path)
            line.sendall(f"{verb} {what}".encode())
            line.shutdown(socket.SHUT_WR)
            answer = _all_of(line, _ANSWER_BYTES_MAX)
    except OSError as error:
        answer = f"{_FAILED}the store cannot be asked: {error}"
    print(answer.removeprefix(_DONE).removeprefix(_FAILED) or "no answer")
    return 0 if answer.startswith(_DONE) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
