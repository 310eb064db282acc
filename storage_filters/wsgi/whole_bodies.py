"""Request bodies that end either as announced, or with one kind of error.

If a client disconnects, eventlet returns fewer bytes than announced, or raises OSError or ValueError. Parts of Swift
handle some of these: for others `s3api` answers 500 with a traceback in the log, and `bulk` takes a list of names that
is cut in the middle of a name for a complete list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_BODY = "zoe.whole_body"
"""Key of the body in an environment, also in copies by s3api."""


class WholeBody:
    """Replaces a request's body. length: bytes that the head announces; None for chunks. error: makes the exception
    that is raised if the client disconnects.
    """

    def __init__(self, stream: Any, length: int | None, error: Callable[[], Exception]) -> None:
        self._stream = stream
        self._left = length
        self._error = error
        self._raised: Exception | None = None

    def read(self, size: int | None = None, *rest: Any) -> bytes:
        """Return bytes. Raises the error if the client disconnected."""
        data = self._of_client(lambda: self._stream.read(size, *rest))
        if self._left is not None:
            wanted = self._left if size is None or size < 0 else min(size, self._left)
            if len(data) < wanted:
                raise self._broken_off()
            self._left -= len(data)
        return data

    def readline(self, size: int | None = None) -> bytes:
        """Return a line. Raises the error if the client disconnected."""
        data = self._of_client(lambda: self._stream.readline(size))
        if self._left is not None:
            if not data and self._left and size != 0:
                raise self._broken_off()
            self._left -= len(data)
        return data

    @property
    def broken_off(self) -> bool:
        """Return whether the client disconnected before the end."""
        return self._raised is not None

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def __getattr__(self, name: str) -> Any:
        # Swift passes its answer to `Expect: 100-continue` to its stream.
        return getattr(self._stream, name)

    def _of_client(self, read: Callable[[], bytes]) -> bytes:
        if self._raised is not None:
            raise self._raised
        try:
            return read()
        except (OSError, ValueError):
            raise self._broken_off() from None

    def _broken_off(self) -> Exception:
        self._raised = self._error()
        return self._raised


def put_whole_body(env: dict[str, Any], length: int | None, error: Callable[[], Exception]) -> None:
    """Replace a request's body by a WholeBody."""
    env["wsgi.input"] = env[_BODY] = WholeBody(env["wsgi.input"], length, error)


def broke_off(env: Mapping[str, Any]) -> bool:
    """Return whether the client disconnected within the body; False where no WholeBody reads it."""
    body = env.get(_BODY)
    return body is not None and bool(body.broken_off)
