"""Client of the programs that serve users' files: the master returns their endpoints."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.concurrency import run_in_threadpool

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem, from_master
from zoe_client.http.tls import verification
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.store.people import Principal

# A program answers at once, or is gone; the transfer of a body may take longer.
_TIMEOUT = httpx.Timeout(150.0, connect=5.0).as_dict()
_REMEMBERED_MAX = 10_000
_REFUSAL_BYTES_MAX = 65_536
_ANSWER_BYTES_MAX = 4 << 20
_DETAIL_MAX = 1000
Ask = Callable[..., dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Endpoint of a program, and its secret."""

    host: str
    port: int
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class FileRequest:
    """A request to a program; `body` is sent in pieces, and its length is among the headers."""

    method: str
    path: str
    query: Mapping[str, str | int | list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: AsyncIterator[bytes] | None = None


class FilePrograms:
    """Asks the master for the program of a user once, and again if it does not answer."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Endpoint] = {}
        self._transport: httpx.AsyncHTTPTransport | None = None

    async def answer(self, ask: Ask, principal: Principal, request: FileRequest, request_id: str) -> httpx.Response:
        """Return the response, whose content must be read or closed; ApiProblem for a refusal."""
        key = (principal.tenant, principal.user)
        known = self._known.get(key)
        if known is not None:
            try:
                return await self._send_request(known, request)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                self._known.pop(key, None)  # no part of the body was read
        found = await run_in_threadpool(_request_endpoint, ask, principal, request_id)
        if len(self._known) >= _REMEMBERED_MAX:
            self._known.clear()
        self._known[key] = found
        try:
            return await self._send_request(found, request)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            self._known.pop(key, None)
            raise _unavailable() from None

    async def content(self, answer: httpx.Response) -> bytes:
        """Return the whole content of a bounded response; ApiProblem."""
        try:
            return await _read(answer, _ANSWER_BYTES_MAX)
        except (httpx.TransportError, ValueError):
            raise _unavailable() from None
        finally:
            await answer.aclose()

    async def close(self) -> None:
        """Close every connection."""
        if self._transport is not None:
            await self._transport.aclose()

    async def _send_request(self, endpoint: Endpoint, request: FileRequest) -> httpx.Response:
        if self._transport is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
            self._transport = httpx.AsyncHTTPTransport(verify=verification("http://"), limits=limits, trust_env=False)
        url = httpx.URL(scheme="http", host=endpoint.host, port=endpoint.port, path=request.path, params=request.query)
        headers = {"Host": url.netloc.decode(), "Authorization": f"Bearer {endpoint.secret}", **request.headers}
        sent = httpx.Request(
            request.method, url, headers=headers, content=request.body, extensions={"timeout": _TIMEOUT}
        )
        try:
            answer = await self._transport.handle_async_request(sent)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise
        except httpx.TransportError:
            raise _unavailable() from None
        if answer.is_error:
            raise await _refusal(answer)
        return answer


def _request_endpoint(ask: Ask, principal: Principal, request_id: str) -> Endpoint:
    body = {"tenant": principal.tenant, "user": principal.user}
    try:
        return Endpoint(**ask("files", body, request_id, principal.user))
    except MasterRefused as refused:
        raise from_master(refused) from None


async def _refusal(answer: httpx.Response) -> ApiProblem:
    """Return the refusal of a program; it runs as the user, so its text is not trusted."""
    try:
        said = json.loads(await _read(answer, _REFUSAL_BYTES_MAX))
        return ApiProblem(Code(said["code"]), str(said["detail"])[:_DETAIL_MAX])
    except (httpx.TransportError, ValueError, KeyError, TypeError):
        return _HEADLESS.get(answer.status_code, _unavailable())
    finally:
        await answer.aclose()


async def _read(answer: httpx.Response, most: int) -> bytes:
    content = bytearray()
    async for piece in answer.aiter_raw():
        content += piece
        if len(content) > most:
            raise ValueError("too much")
    return bytes(content)


_HEADLESS = {
    404: ApiProblem(Code.UPLOAD_GONE),
    409: ApiProblem(Code.WRONG_KIND),
    423: ApiProblem(Code.UPLOAD_BUSY),
    507: ApiProblem(Code.WORKSPACE_FULL, "the disk of the files, or your quota on it, is full"),
}
"""Refusals of requests whose response has no content (HEAD)."""


def _unavailable() -> ApiProblem:
    return ApiProblem(Code.FILES_UNAVAILABLE, "the program that serves them does not answer; try again")
