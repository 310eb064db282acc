"""A store behind the gateway that speaks Swift's protocol: Swift itself, or Ceph's RADOS gateway."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from eventlet import Timeout
from swift.common.bufferedhttp import http_connect_raw
from swift.common.utils import HeaderKeyDict

PIECE_BYTES = 64 * 1024
_RENEWED_BEFORE_S = 60.0
_UNKNOWN_LIFE_S = 600.0
_UNAUTHORISED = 401
_CONTINUE = 100


class StoreAway(Exception):  # noqa: N818 - the name is the fact
    """The store gave no answer that can be used; the message says why."""


@dataclass(slots=True)
class StoreAnswer:
    """What the store answered; `close` gives the connection back, whether the body was read or not."""

    status: int
    reason: str
    headers: HeaderKeyDict
    _connection: Any
    _response: Any
    _wait_s: float

    def pieces(self) -> Iterator[bytes]:
        """Yield the body; StoreAway if the store stops in the middle."""
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


@dataclass(slots=True)
class StoreSettings:
    """Where the store is and who the gateway is there. auth_url: of its authentication of version 1. connect_s: longest
    wait for a connection; wait_s: for an answer, and for each piece of it.
    """

    auth_url: str
    user: str
    key_file: Path
    connect_s: float = 2.0
    wait_s: float = 60.0


@dataclass(slots=True)
class _Login:
    base: str
    token: str
    until_s: float


@dataclass(slots=True)
class Upload:
    """A PUT whose body is sent piece by piece; nothing is stored before `end`."""

    _connection: Any
    _chunked: bool
    _wait_s: float
    refused: StoreAnswer | None = field(default=None)
    """The answer of a store that did not want the body."""

    def send(self, piece: bytes) -> None:
        """Send a piece; StoreAway."""
        try:
            with Timeout(self._wait_s):
                self._connection.send(b"%x\r\n%s\r\n" % (len(piece), piece) if self._chunked else piece)
        except (Exception, Timeout) as error:
            raise StoreAway(f"the store takes no more: {error}") from None

    def end(self) -> StoreAnswer:
        """Return the answer after the last piece; StoreAway."""
        if self._chunked:
            self.send_end()
        return _answer(self._connection, self._wait_s)

    def send_end(self) -> None:
        """Send the end of a body whose length was not said before."""
        try:
            with Timeout(self._wait_s):
                self._connection.send(b"0\r\n\r\n")
        except (Exception, Timeout) as error:
            raise StoreAway(f"the store takes no more: {error}") from None

    def close(self) -> None:
        """Give up: what was sent is not stored."""
        self._connection.close()


class SwiftStore:
    """Sends requests as the gateway's user, who may use all accounts."""

    def __init__(self, settings: StoreSettings) -> None:
        self._settings = settings
        self._login: _Login | None = None

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], query: str = "", body: bytes | None = None
    ) -> StoreAnswer:
        """Return the answer to a request without a body, or with a short one; StoreAway. path: `/account/...`."""
        for last in (False, True):
            login = self._signed_in()
            length = {} if body is None else {"Content-Length": str(len(body))}
            connection = self._connected(method, login, path, {**headers, **length}, query)
            if body:
                Upload(connection, False, self._settings.wait_s).send(body)
            answer = _answer(connection, self._settings.wait_s)
            if answer.status != _UNAUTHORISED:
                return answer
            answer.close()
            self._forget(login)
            if last:
                raise StoreAway("the store does not accept the gateway's user")
        raise AssertionError

    def upload(self, path: str, headers: Mapping[str, str], query: str = "") -> Upload:
        """Return the connection to which a body is sent, once the store wants it; StoreAway."""
        chunked = "content-length" not in {name.lower() for name in headers}
        sent = {**headers, "Expect": "100-continue", **({"Transfer-Encoding": "chunked"} if chunked else {})}
        for last in (False, True):
            login = self._signed_in()
            connection = self._connected("PUT", login, path, sent, query)
            try:
                with Timeout(self._settings.wait_s):
                    response = connection.getexpect()
            except (Exception, Timeout) as error:
                connection.close()
                raise StoreAway(f"the store does not answer: {error}") from None
            upload = Upload(connection, chunked, self._settings.wait_s)
            if response.status == _CONTINUE:
                return upload
            upload.refused = _made(connection, response, self._settings.wait_s)
            if response.status != _UNAUTHORISED:
                return upload
            upload.refused.close()
            self._forget(login)
            if last:
                raise StoreAway("the store does not accept the gateway's user")
        raise AssertionError

    def _connected(self, method: str, login: _Login, path: str, headers: Mapping[str, str], query: str) -> Any:
        place = urlsplit(login.base)
        sent = {**headers, "X-Auth-Token": login.token, "Connection": "close"}
        whole = place.path + quote(path.encode("utf-8", "surrogateescape"))
        try:
            with Timeout(self._settings.connect_s):
                return http_connect_raw(
                    place.hostname, place.port, method, whole, sent, query, ssl=place.scheme == "https"
                )
        except (Exception, Timeout) as error:
            raise StoreAway(f"the store is away: {error}") from None

    def _signed_in(self) -> _Login:
        if self._login is None or self._login.until_s < time.monotonic():
            self._login = self._sign_in()
        return self._login

    def _forget(self, login: _Login) -> None:
        if self._login is login:
            self._login = None

    def _sign_in(self) -> _Login:
        settings, place = self._settings, urlsplit(self._settings.auth_url)
        sent = {"X-Auth-User": settings.user, "X-Auth-Key": settings.key_file.read_text().strip()}
        try:
            with Timeout(settings.connect_s):
                connection = http_connect_raw(
                    place.hostname, place.port, "GET", place.path, sent, ssl=place.scheme == "https"
                )
        except (Exception, Timeout) as error:
            raise StoreAway(f"the store's authentication is away: {error}") from None
        answer = _answer(connection, settings.wait_s)
        answer.body()
        url, token = answer.headers.get("X-Storage-Url"), answer.headers.get("X-Auth-Token")
        if answer.status // 100 != 2 or not url or not token:
            raise StoreAway(f"the store does not let the gateway sign in: {answer.status}")
        life_s = float(answer.headers.get("X-Auth-Token-Expires") or _UNKNOWN_LIFE_S)
        return _Login(_base(url), token, time.monotonic() + max(life_s - _RENEWED_BEFORE_S, life_s / 2))


def _base(url: str) -> str:
    """Return the URL below which accounts are: `X-Storage-Url` without its last part."""
    return url.rstrip("/").rpartition("/")[0]


def _answer(connection: Any, wait_s: float) -> StoreAnswer:
    try:
        with Timeout(wait_s):
            response = connection.getresponse()
    except (Exception, Timeout) as error:
        connection.close()
        raise StoreAway(f"the store does not answer: {error}") from None
    return _made(connection, response, wait_s)


def _made(connection: Any, response: Any, wait_s: float) -> StoreAnswer:
    return StoreAnswer(
        response.status, response.reason, HeaderKeyDict(response.getheaders()), connection, response, wait_s
    )
