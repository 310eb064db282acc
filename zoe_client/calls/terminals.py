"""A terminal in a running service, over a WebSocket."""

from __future__ import annotations

import json
import os
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from functools import partial
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from zoe_client.calls import frames
from zoe_client.errors import AccessEnded, Unreachable, ZoeError
from zoe_client.http.problems import problem_in
from zoe_client.http.proxies import proxy_for
from zoe_client.http.sockets import ThreadSocket
from zoe_client.http.tls import trust_of_this_machine
from zoe_client.wire import TerminalOpening

_OPEN_S = 15.0
_ERRNO = re.compile(r"\[Errno (\d+)\]")


class TerminalEnded(ZoeError):  # noqa: N818 - the name is the fact
    """The server closed the terminal before the program ended; the message gives the cause."""


class TerminalClosed(TerminalEnded, AccessEnded):
    """The server closed the terminal because you may not use the service any more."""


class Terminal:
    """One program in a service. Read `outputs` in one thread; write from any. Use it as a context manager."""

    def __init__(self, url: str, token: str, path: str, opening: TerminalOpening) -> None:
        self.exit_code: int | None = None
        self.message = ""
        self._room = threading.Condition()
        self._untaken = 0
        self._over = False
        self._host = urlsplit(url).hostname or ""
        self._socket = _connect(url, token, path)
        self._send(opening.model_dump_json())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def outputs(self) -> Iterator[tuple[bool, bytes]]:
        """Yield the output as (is standard error, data) until the program ends; ZoeError if the connection ends first.

        Data is acknowledged when the next is requested: a reader that stops makes the program wait.
        """
        try:
            while True:
                message = self._socket.receive()
                if isinstance(message, str):
                    raise problem_in(message.encode(), 500, self._host)
                kind, content = message[:1], message[1:]
                if kind == frames.EXIT:
                    end = json.loads(content)
                    self.exit_code, self.message = end["exit_code"], end["message"]
                    return
                if kind == frames.TAKEN:
                    self._acknowledge(frames.count_of(content))
                elif kind in (frames.OUTPUT, frames.ERRORS):
                    yield kind == frames.ERRORS, content
                    self._send(frames.taken_message(len(content)))
        except ConnectionClosed as closed:
            reason = (closed.rcvd and closed.rcvd.reason) or "the connection to the server broke"
            refused = closed.rcvd is not None and closed.rcvd.code == frames.REFUSED
            raise (TerminalClosed if refused else TerminalEnded)(reason) from None
        finally:
            self._acknowledge(0, over=True)

    def write(self, data: bytes) -> None:
        """Send input; block while the program takes none."""
        for start in range(0, len(data), frames.CONTENT_MAX):
            piece = data[start : start + frames.CONTENT_MAX]
            free = frames.WINDOW - len(piece)
            with self._room:
                self._room.wait_for(partial(self._may_send, free))
                self._untaken += len(piece)
            self._send(frames.INPUT + piece)

    def end_input(self) -> None:
        """Close the program's standard input."""
        self._send(frames.INPUT_END)

    def resize(self, rows: int, columns: int) -> None:
        """Send the program the size of its window."""
        self._send(frames.size_message(rows, columns))

    def close(self) -> None:
        """End the terminal, and the program if it still runs."""
        self._socket.close()

    def _may_send(self, untaken_max: int) -> bool:
        return self._over or self._untaken <= untaken_max

    def _send(self, message: str | bytes) -> None:
        try:
            self._socket.send(message)
        except ConnectionClosed:
            return  # the reader of the outputs learns the cause

    def _acknowledge(self, count: int, over: bool = False) -> None:
        with self._room:
            self._untaken = max(0, self._untaken - count)
            self._over = self._over or over
            self._room.notify_all()


def _connect(url: str, token: str, path: str) -> ThreadSocket:
    address = f"{url.rstrip('/').replace('http', 'ws', 1)}/api/v1{path}"
    options: dict[str, Any] = {"ssl": trust_of_this_machine(url)} if url.startswith("https://") else {}
    try:
        return ThreadSocket(
            address,
            additional_headers={"Authorization": f"Bearer {token}"},
            subprotocols=["zoe-terminal"],
            open_timeout=_OPEN_S,
            proxy=proxy_for(url),
            max_size=frames.CONTENT_MAX + 1,
            max_queue=None,  # the window bounds the backlog, and pings behind it must be answered
            compression=None,
            **options,
        )
    except InvalidStatus as refused:
        response = refused.response
        raise problem_in(bytes(response.body or b""), response.status_code, urlsplit(url).hostname or "") from None
    except (OSError, WebSocketException) as error:
        raise Unreachable(f"no answer from {url}: {_cause_of(error)}") from None


def _cause_of(error: Exception) -> str:
    """Return the system's message, without the event loop's prefix, which repeats the address."""
    found = _ERRNO.search(str(error))
    if found is not None and isinstance(error, OSError) and not isinstance(error, (socket.gaierror, ssl.SSLError)):
        return os.strerror(int(found[1]))
    return str(error) or type(error).__name__
