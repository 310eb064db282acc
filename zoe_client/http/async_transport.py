"""Requests of the SDK over asyncio; the counterpart of `zoe_client.http.transport`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

import httpx
from pydantic import BaseModel

from zoe_client.http.flow import AsyncFlow
from zoe_client.http.problems import problem_of, unreachable
from zoe_client.http.server import checked_address, chosen_server, without_password
from zoe_client.http.sse import ServerEvent
from zoe_client.http.streams import ResumedStream
from zoe_client.http.transport import Model, OwnPosition, given_parameters, http_options, model_of, retries


class AsyncTransport:
    """Connection to a server. Use it with `async with`, or await `aclose`."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout_s: float = 10.0,
        patience_s: float = 0.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if url is None or token is None:
            url, token = chosen_server(url, token)
        self.url = checked_address(url)
        self._token = token
        self._patience_s = patience_s
        self._position = OwnPosition()
        self._http = httpx.AsyncClient(transport=transport, **http_options(self.url, token, timeout_s, transport))
        self.flow = AsyncFlow(self._http)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({without_password(self.url)!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def call(self, model: type[Model], method: str, path: str, **how: Any) -> Model:
        """Make one request, and return its answer as this model; `how` as for `answer`."""
        return model_of(model, (await self.answer(method, path, **how)).content, self.url)

    async def do(self, method: str, path: str, **how: Any) -> None:
        """Make one request without an answer's content."""
        await self.answer(method, path, **how)

    async def text(self, path: str, parameters: dict[str, Any] | None = None) -> str:
        """Return the answer of a GET as text."""
        return (await self.answer("GET", path, parameters=parameters)).text

    async def answer(
        self,
        method: str,
        path: str,
        *,
        body: BaseModel | None = None,
        json: dict[str, Any] | None = None,
        parameters: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        again: bool = False,
        timeout_s: float | None = None,
    ) -> httpx.Response:
        """Make one request. `again`: it may be repeated safely, like a read."""
        request = self._http.build_request(
            method,
            path,
            json=json if body is None else body.model_dump(mode="json"),
            params=given_parameters(parameters),
            headers=self._position.headers(path, headers),
            timeout=httpx.USE_CLIENT_DEFAULT if timeout_s is None else timeout_s,
        )
        if not self._patience_s:
            return await self._send(request)
        from tenacity import AsyncRetrying

        return await AsyncRetrying(**retries(self._patience_s, again or method == "GET"))(self._send, request)

    async def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            response = await self._http.send(request)
        except httpx.TransportError as error:
            raise unreachable(self._http, error) from error
        if response.is_error:
            refusal = problem_of(response)
            if self._position.give_up(request, refusal):
                return await self._send(request)
            raise refusal
        self._position.note(response)
        return response

    def stream(
        self, path: str, parameters: dict[str, str | int], deadline_s: float | None = None
    ) -> AsyncIterator[ServerEvent]:
        """Yield the events of a stream, even if the server restarts; TimedOut after `deadline_s` of
        `time.monotonic`."""
        stream = ResumedStream(self.flow, path, parameters, self._patience_s, deadline_s)
        return self.flow.iterate(stream.more)
