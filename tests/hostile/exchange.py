"""One request and its answer over a connection that stays open as long as the server lets it."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse

_PATIENCE_S = 60.0
_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. status: 0 if the connection ended without an answer."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def header(self, name: str) -> str | None:
        """Return the value of a header."""
        return next((value for text, value in self.headers if text.lower() == name.lower()), None)

    @property
    def text(self) -> bytes:
        """Return all that the client sees."""
        return repr(self.headers).encode() + self.body


class Line:
    """A client's connection."""

    def __init__(self, host: str, port: int) -> None:
        self._at = host, port
        self._socket: socket.socket | None = None

    def ask(self, method: str, sent: bytes) -> Answer:
        """Return the answer; of a stream of events, the beginning. TimeoutError if none comes."""
        kept = self._socket is not None
        answer = self._asked(method, sent)
        return self._asked(method, sent) if answer.status == 0 and kept else answer

    def close(self) -> None:
        """End the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _asked(self, method: str, sent: bytes) -> Answer:
        if self._socket is None:
            self._socket = socket.create_connection(self._at, timeout=_PATIENCE_S)
        response = HTTPResponse(self._socket, method=method)
        try:
            self._socket.sendall(sent)
            response.begin()
            stream = (response.getheader("content-type") or "").startswith(_STREAM)
            body = response.read1() if stream else response.read()
        except TimeoutError:
            raise
        except (OSError, HTTPException):
            self.close()
            return Answer(0)
        if stream or response.will_close or not sent.startswith(method.encode()):
            self.close()
        return Answer(response.status, tuple(response.getheaders()), body)
