"""Connections to a store: send a request, and wait for its answer, or for its consent to the body, within timeouts."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlsplit

from eventlet import Timeout
from swift.common.bufferedhttp import http_connect_raw
from swift.common.utils import HeaderKeyDict

from storage_gateway.logins import StoreAway

PIECE_BYTES = 64 * 1024
_CONTINUE = 100


@dataclass(slots=True)
class StoreAnswer:
    """Answer of the store; `close` returns the connection, whether the body was read or not."""

    status: int
    reason: str
    headers: HeaderKeyDict
    _connection: Any
    _response: Any
    _wait_s: float

    def pieces(self) -> Iterator[bytes]:
        """Yield the body. Raises StoreAway if the store stops in the middle."""
        try:
            while piece := self._read(PIECE_BYTES):
                yield piece
        finally:
            self.close()

    def body(self) -> bytes:
        """Return the whole body, of a short answer."""
        return b"".join(self.pieces())

    def close(self) -> None:
        """Close the connection."""
        self._response.close()
        self._connection.close()

    def _read(self, size: int) -> bytes:
        try:
            with Timeout(self._wait_s):
                return bytes(self._response.read(size))
        except (Exception, Timeout) as error:
            raise StoreAway(f"the store stopped sending: {error}") from None


def local_answer(status: int, headers: Mapping[str, str] | None = None, body: bytes = b"") -> StoreAnswer:
    """Return an answer of the gateway, in place of one of the store."""
    nothing = io.BytesIO()
    made = HeaderKeyDict({"Content-Length": str(len(body)), **(headers or {})})
    return StoreAnswer(status, HTTPStatus(status).phrase, made, nothing, io.BytesIO(body), 0.0)


class BodyUpload(Protocol):
    """A PUT with a body that is sent piece by piece; nothing is stored before `end`."""

    refused: StoreAnswer | None
    """The answer of a store that refused the body."""

    def send(self, piece: bytes) -> None:
        """Send a piece; StoreAway."""

    def end(self) -> StoreAnswer:
        """Return the answer after the last piece; StoreAway."""

    def close(self) -> None:
        """Give up: nothing is stored."""


@dataclass(slots=True)
class Upload:
    """A `BodyUpload` whose body is passed on unchanged."""

    _connection: Any
    _chunked: bool
    _wait_s: float
    refused: StoreAnswer | None = None

    def send(self, piece: bytes) -> None:
        """Send a piece; StoreAway."""
        self._send(b"%x\r\n%s\r\n" % (len(piece), piece) if self._chunked else piece)

    def end(self) -> StoreAnswer:
        """Return the answer after the last piece; StoreAway."""
        if self._chunked:
            self._send(b"0\r\n\r\n")
        return _answer(self._connection, self._wait_s)

    def _send(self, raw: bytes) -> None:
        try:
            with Timeout(self._wait_s):
                self._connection.send(raw)
        except (Exception, Timeout) as error:
            raise StoreAway(f"the store stopped receiving: {error}") from None

    def close(self) -> None:
        """Give up: nothing is stored."""
        self._connection.close()


@dataclass(frozen=True, slots=True)
class Connections:
    """Opens a connection for each request. connect_s: timeout for a connection; wait_s: for an answer, and each piece
    of it.
    """

    connect_s: float
    wait_s: float

    def ask(
        self, method: str, url: str, path: str, headers: Mapping[str, str], query: str = "", body: bytes = b""
    ) -> StoreAnswer:
        """Return the answer to a request without a body, or with a short one. Raises StoreAway. path: quoted."""
        connection = self._open(method, url, path, headers, query)
        if body:
            Upload(connection, False, self.wait_s).send(body)
        return _answer(connection, self.wait_s)

    def upload(self, url: str, path: str, headers: Mapping[str, str]) -> Upload:
        """Return the connection for a body, once the store accepts it. Raises StoreAway."""
        chunked = "content-length" not in {name.lower() for name in headers}
        sent = {**headers, "Expect": "100-continue", **({"Transfer-Encoding": "chunked"} if chunked else {})}
        connection = self._open("PUT", url, path, sent, "")
        try:
            with Timeout(self.wait_s):
                response = connection.getexpect()
        except (Exception, Timeout) as error:
            connection.close()
            raise StoreAway(f"the store does not answer: {error}") from None
        upload = Upload(connection, chunked, self.wait_s)
        if response.status != _CONTINUE:
            upload.refused = _answer_of(connection, response, self.wait_s)
        return upload

    def _open(self, method: str, url: str, path: str, headers: Mapping[str, str], query: str) -> Any:
        place = urlsplit(url)
        sent = {**headers, "Connection": "close"}
        try:
            with Timeout(self.connect_s):
                return http_connect_raw(
                    place.hostname, place.port, method, path, sent, query, ssl=place.scheme == "https"
                )
        except (Exception, Timeout) as error:
            raise StoreAway(f"the store does not answer: {error}") from None


def _answer(connection: Any, wait_s: float) -> StoreAnswer:
    try:
        with Timeout(wait_s):
            response = connection.getresponse()
    except (Exception, Timeout) as error:
        connection.close()
        raise StoreAway(f"the store does not answer: {error}") from None
    return _answer_of(connection, response, wait_s)


def _answer_of(connection: Any, response: Any, wait_s: float) -> StoreAnswer:
    return StoreAnswer(
        response.status, response.reason, HeaderKeyDict(response.getheaders()), connection, response, wait_s
    )
