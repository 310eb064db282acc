"""A store behind the gateway that speaks Swift's protocol: Swift itself, or Ceph's RADOS gateway."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from eventlet import Timeout
from swift.common.bufferedhttp import http_connect_raw
from swift.common.utils import HeaderKeyDict

from storage_gateway.logins import Login, Logins, StoreAway, StoreSettings

PIECE_BYTES = 64 * 1024
_UNAUTHORISED = 401
_CONTINUE = 100
_T = TypeVar("_T")


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
class Upload:
    """A PUT whose body is sent piece by piece; nothing is stored before `end`."""

    _connection: Any
    _chunked: bool
    _wait_s: float
    refused: StoreAnswer | None = None
    """The answer of a store that did not want the body."""

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
            raise StoreAway(f"the store takes no more: {error}") from None

    def close(self) -> None:
        """Give up: what was sent is not stored."""
        self._connection.close()


class SwiftStore:
    """Sends requests of all accounts, each as the user that may."""

    def __init__(self, settings: StoreSettings) -> None:
        self._settings = settings
        self._logins = Logins(settings, self._sign_in)
        self.wait_s = settings.wait_s
        """How long the store may take for an answer."""

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], query: str = "", body: bytes | None = None
    ) -> StoreAnswer:
        """Return the answer to a request without a body, or with a short one; StoreAway. path: `/account/...`."""
        length = {} if body is None else {"Content-Length": str(len(body))}

        def send(login: Login) -> StoreAnswer:
            connection = self._connected(method, login, path, {**headers, **length}, query)
            if body:
                Upload(connection, False, self._settings.wait_s).send(body)
            return _answer(connection, self._settings.wait_s)

        return self._as_who_may(path, send, lambda answer: answer)

    def upload(self, path: str, headers: Mapping[str, str]) -> Upload:
        """Return the connection to which a body is sent, once the store wants it; StoreAway."""
        chunked = "content-length" not in {name.lower() for name in headers}
        sent = {**headers, "Expect": "100-continue", **({"Transfer-Encoding": "chunked"} if chunked else {})}

        def send(login: Login) -> Upload:
            connection = self._connected("PUT", login, path, sent, "")
            try:
                with Timeout(self._settings.wait_s):
                    response = connection.getexpect()
            except (Exception, Timeout) as error:
                connection.close()
                raise StoreAway(f"the store does not answer: {error}") from None
            upload = Upload(connection, chunked, self._settings.wait_s)
            if response.status != _CONTINUE:
                upload.refused = _made(connection, response, self._settings.wait_s)
            return upload

        return self._as_who_may(path, send, lambda upload: upload.refused)

    def _as_who_may(self, path: str, send: Callable[[Login], _T], answer_of: Callable[[_T], StoreAnswer | None]) -> _T:
        """Return what came of a request; it is sent once more if the store has forgotten the token."""
        for again in (True, False):
            login = self._logins.of(path.strip("/").partition("/")[0])
            found = send(login)
            answer = answer_of(found)
            if answer is None or answer.status != _UNAUTHORISED:
                return found
            answer.close()
            self._logins.forget(login)
            if not again:
                break
        raise StoreAway(f"the store does not accept {login.name}")

    def _connected(self, method: str, login: Login, path: str, headers: Mapping[str, str], query: str) -> Any:
        return self._opened(method, login.url, login.path(path), {**headers, "X-Auth-Token": login.token}, query)

    def _sign_in(self, user: str, key: str) -> tuple[int, HeaderKeyDict]:
        url = self._settings.auth_url
        connection = self._opened("GET", url, urlsplit(url).path, {"X-Auth-User": user, "X-Auth-Key": key})
        answer = _answer(connection, self._settings.wait_s)
        answer.body()
        return answer.status, answer.headers

    def _opened(self, method: str, url: str, path: str, headers: Mapping[str, str], query: str = "") -> Any:
        place = urlsplit(url)
        sent = {**headers, "Connection": "close"}
        try:
            with Timeout(self._settings.connect_s):
                return http_connect_raw(
                    place.hostname, place.port, method, path, sent, query, ssl=place.scheme == "https"
                )
        except (Exception, Timeout) as error:
            raise StoreAway(f"the store is away: {error}") from None


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
