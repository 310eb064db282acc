"""Requests to the account of a tenant in an OpenStack Swift, signed in with the tenant's credential (v1)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_client.words.connections import failure_words
from zoe_lib.http.swift_sign_in import ANSWER_BYTES_MAX, NotSignedIn, SignedIn, sign_in_request, signed_in

Path = tuple[bytes, ...]
"""Names from the account downwards: the container, then the parts of an object's name between slashes."""

TIMEOUT_S = 150.0
# A copy inside the store sends nothing until it has ended.
COPY_TIMEOUT_S = 600.0
_CONNECT_S = 5.0
_UNAUTHORIZED = 401
_DOTS = (b".", b"..")
_SIGNED_IN_MAX = 1000


@dataclass(frozen=True, slots=True)
class SwiftLogin:
    """A service by its name in descriptions, with its sign-in URL and user."""

    service: str
    auth_url: str
    user: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """A request below an account. `body` is sent in pieces, once."""

    method: str
    path: Path = ()
    query: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: AsyncIterator[bytes] | bytes | None = None
    timeout_s: float = TIMEOUT_S


def can_be_sent(path: Path) -> bool:
    """Return whether a path names the same object for every HTTP client, proxy and server on the way.

    Swift takes any name, but a part `.` or `..` of a URL is removed on the way (RFC 3986, 5.2.4): the result names
    another object.
    """
    return not any(part in _DOTS for part in path)


class SwiftClient:
    """Connections of this process to the object store, and its tokens."""

    def __init__(self) -> None:
        self._http: httpx.AsyncClient | None = None
        self._signed_in: OrderedDict[SwiftLogin, SignedIn] = OrderedDict()

    async def answer(self, login: SwiftLogin, request: StoreRequest) -> httpx.Response:
        """Return the response, whose content must be read or closed.

        ApiProblem if the store cannot be reached, or if the path could lead to another object.
        """
        if not can_be_sent(request.path):
            raise ApiProblem(Code.INVALID_PATH, "the name of an object with a part `.` or `..` cannot be sent")
        known = self._signed_in.get(login) or await self._sign_in(login)
        answer = await self._send_signed(login, known, request)
        if answer.status_code == _UNAUTHORIZED and not isinstance(request.body, AsyncIterator):
            await answer.aclose()
            answer = await self._send_signed(login, await self._sign_in(login), request)
        return answer

    async def address(self, login: SwiftLogin) -> str:
        """Return the URL of the account of a login. ApiProblem if the store cannot be reached."""
        return (self._signed_in.get(login) or await self._sign_in(login)).account_url

    async def close(self) -> None:
        """Close every connection."""
        if self._http is not None:
            await self._http.aclose()

    async def _sign_in(self, login: SwiftLogin) -> SignedIn:
        wanted = sign_in_request(login.auth_url, login.user, login.key)
        answer = await self._send_request(
            login, wanted.method, wanted.url, headers=wanted.headers, content=wanted.content
        )
        content = await content_of(login, answer)
        try:
            found = signed_in(login.auth_url, answer.headers, content)
        except NotSignedIn:
            self._signed_in.pop(login, None)
            why = f"the object store {login.service} refuses the sign-in of {login.user} ({answer.status_code})"
            raise ApiProblem(Code.FILE_DENIED, why, "set the credential again: zoe storage credentials set") from None
        while len(self._signed_in) >= _SIGNED_IN_MAX:
            self._signed_in.popitem(last=False)
        self._signed_in[login] = found
        return found

    async def _send_signed(self, login: SwiftLogin, known: SignedIn, request: StoreRequest) -> httpx.Response:
        url = f"{known.account_url}/{quote(b'/'.join(request.path))}" if request.path else known.account_url
        headers = {"X-Auth-Token": known.token, "Accept-Encoding": "identity", **request.headers}
        return await self._send_request(
            login,
            request.method,
            url,
            params=dict(request.query),
            headers=headers,
            content=request.body,
            timeout=httpx.Timeout(request.timeout_s, connect=_CONNECT_S),
        )

    async def _send_request(self, login: SwiftLogin, method: str, url: str, **given: Any) -> httpx.Response:
        if self._http is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=5)
            self._http = httpx.AsyncClient(
                timeout=httpx.Timeout(TIMEOUT_S, connect=_CONNECT_S), limits=limits, trust_env=False
            )
        try:
            return await self._http.send(self._http.build_request(method, url, **given), stream=True)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise unreachable(login, error) from None


class Account:
    """An account, with the checks that each response needs."""

    def __init__(self, client: SwiftClient, login: SwiftLogin) -> None:
        self._client = client
        self.login = login

    async def address(self) -> str:
        """Return the URL of the account, which is the same for all logins to it; ApiProblem."""
        return await self._client.address(self.login)

    async def open_response(self, request: StoreRequest, *also: int) -> httpx.Response:
        """Return a response with its body unread; ApiProblem for a refusal whose status is not among `also`."""
        answer = await self._client.answer(self.login, request)
        if answer.is_success or answer.status_code in also:
            return answer
        said = (await content_of(self.login, answer)).decode(errors="replace")
        raise refusal(self.login, answer.status_code, request.path, said)

    async def send_and_close(self, request: StoreRequest, *also: int) -> httpx.Response:
        """Return a response of which only status and headers matter."""
        answer = await self.open_response(request, *also)
        await answer.aclose()
        return answer

    async def read(self, request: StoreRequest, *also: int) -> tuple[httpx.Response, bytes]:
        """Return a response with its whole, bounded body."""
        answer = await self.open_response(request, *also)
        return answer, await content_of(self.login, answer)


async def content_of(login: SwiftLogin, answer: httpx.Response) -> bytes:
    """Return the whole, bounded body of a response, and close it. ApiProblem."""
    content = bytearray()
    try:
        async for piece in answer.aiter_raw():
            content += piece
            if len(content) > ANSWER_BYTES_MAX:
                raise ApiProblem(
                    Code.FILES_UNAVAILABLE, f"the object store {login.service} sent a longer answer than Zoe accepts"
                )
    except httpx.TransportError as error:
        raise unreachable(login, error) from None
    finally:
        await answer.aclose()
    return bytes(content)


def unreachable(login: SwiftLogin, error: Exception) -> ApiProblem:
    """Return the refusal of a request that the store did not answer."""
    why = "its URL is not valid" if isinstance(error, httpx.InvalidURL) else failure_words(error)
    return ApiProblem(Code.FILES_UNAVAILABLE, f"the object store {login.service} does not answer: {why}")


_MEANINGS = {
    401: (Code.FILE_DENIED, "the object store does not allow this for {path}"),
    403: (Code.FILE_DENIED, "the object store does not allow this for {path}"),
    404: (Code.NOT_FOUND, "{path} does not exist"),
    409: (Code.WRONG_KIND, "{path} is not empty"),
    412: (Code.FILE_EXISTS, "{path} exists"),
    413: (Code.WORKSPACE_FULL, "the object store takes no more: {said}"),
    416: (Code.INVALID_RANGE, "{path} does not have these bytes"),
    429: (Code.FILES_BUSY, "the object store has too many requests; try again soon"),
    498: (Code.FILES_BUSY, "the object store has too many requests; try again soon"),
    507: (Code.WORKSPACE_FULL, "the object store is full"),
}
_SAID_MAX = 200


def refusal(login: SwiftLogin, status: int, path: Path, said: str) -> ApiProblem:
    """Return the problem for a status of the store."""
    code, text = _MEANINGS.get(status, (Code.FILES_UNAVAILABLE, f"the object store {login.service} answered {status}"))
    shown = b"/".join(path).decode(errors="replace") or "the account"
    return ApiProblem(code, text.replace("{path}", shown).replace("{said}", said.strip()[:_SAID_MAX]))
