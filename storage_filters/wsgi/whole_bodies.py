"""The body of a request as a server reads it, which either ends where its head says, or with one kind of error.

eventlet gives fewer bytes than announced, or raises OSError or ValueError, where a client breaks off. Parts of Swift
handle some of these: for others `s3api` answers 500 with a traceback in the log, and `bulk` takes a list of names that
is cut in the middle of one for a whole list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_BODY = "zoe.whole_body"
"""Where an environment, and those that s3api makes of it, have the body."""


class WholeBody:
    """Takes the place of a request's body. length: bytes that the head announces; None for chunks. error: makes what is
    raised if the client breaks off.
    """

    def __init__(self, stream: Any, length: int | None, error: Callable[[], Exception]) -> None:
        self._stream = stream
        self._left = length
        self._error = error
        self._raised: Exception | None = None

    def read(self, size: int | None = None, *rest: Any) -> bytes:
        """Return bytes; the error if the client broke off before."""
        data = self._of_client(lambda: self._stream.read(size, *rest))
        if self._left is not None:
            wanted = self._left if size is None or size < 0 else min(size, self._left)
            if len(data) < wanted:
                raise self._broken_off()
            self._left -= len(data)
        return data

    def readline(self, size: int | None = None) -> bytes:
        """Return a line; the error if the client broke off before."""
        data = self._of_client(lambda: self._stream.readline(size))
        if self._left is not None:
            if not data and self._left and size != 0:
                raise self._broken_off()
            self._left -= len(data)
        return data

    @property
    def broken_off(self) -> bool:
        """Return whether the client broke off before the end."""
        return self._raised is not None

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def __getattr__(self, name: str) -> Any:
        # Swift tells its stream what to answer to `Expect: 100-continue`.
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
    """Let a request's body be read by WholeBody, which see."""
    env["wsgi.input"] = env[_BODY] = WholeBody(env["wsgi.input"], length, error)


def broke_off(env: Mapping[str, Any]) -> bool:
    """Return whether the client broke off within the body; False where nothing reads it by WholeBody."""
    body = env.get(_BODY)
    return body is not None and bool(body.broken_off)
