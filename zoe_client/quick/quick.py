"""The calls of quick commands, as plain JSON over the standard library's HTTP client.

The SDK's imports take longer than such a call. The SDK handles the rest: proxies, retries, answers of other shapes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

from zoe_client.errors import Unreachable, ZoeError, checked_part
from zoe_client.http.proxies import proxy_for
from zoe_client.http.tls import trust_of_this_machine
from zoe_client.quick.plain import Array, ArrayPage, Execution, ExecutionUseList, Page, UsageList, matches_type

if TYPE_CHECKING:
    from pydantic import BaseModel

    from zoe_client.client import Client
    from zoe_client.http.sse import ServerEvent

Answer = TypeVar("Answer")
_TIMEOUT_S = 10.0
_SILENCE_S = 45.0
"""The server sends something every 15 s."""


class QuickClient:
    """Client of one Zoe. Use it as a context manager, or call `close`."""

    def __init__(self, url: str, token: str, *, patience_s: float = 0.0) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._patience_s = patience_s
        self._parts = urlsplit(self.url)
        self._connection: HTTPConnection | None = None
        self._client: Client | None = None
        self._simple = not patience_s and _simple(self.url) and proxy_for(self.url) is None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        if self._connection is not None:
            self._connection.close()
        if self._client is not None:
            self._client.close()

    @property
    def sdk(self) -> Client:
        """The SDK's client of the same server."""
        if self._client is None:
            from zoe_client.client import Client

            self._client = Client(self.url, self._token, patience_s=self._patience_s)
        return self._client

    def execution(self, execution_id: str) -> Execution:
        """Return one execution."""
        return self._read(Execution, "ExecutionView", "GET", f"/executions/{_part(execution_id)}")

    def executions(self, **query: str | float | list[str] | None) -> Page:
        """Return one page of executions, newest first; parameters as those of the API."""
        return self._read(Page, "ExecutionList", "GET", "/executions", parameters=query)

    def arrays(self, **query: str | float | list[str] | None) -> ArrayPage:
        """Return one page of arrays, newest first; parameters as those of the API."""
        return self._read(ArrayPage, "ArrayList", "GET", "/arrays", parameters=query)

    def submit_array(self, body: Mapping[str, Any], *, idempotency_key: str | None = None) -> Array:
        """Submit an array; `body`: fields of `wire.ArrayRequest`. The same idempotency key returns the same array."""
        headers = {"Idempotency-Key": idempotency_key or os.urandom(16).hex()}
        return self._read(Array, "ArraySummary", "POST", "/arrays", body=dict(body), headers=headers)

    def control_array(self, array_id: str, action: Literal["cancel", "hold", "release", "requeue"]) -> Array:
        """Apply an action to a whole array; repeating it is safe."""
        return self._read(Array, "ArraySummary", "POST", f"/arrays/{_part(array_id)}/{action}")

    def cancel_indices(self, array_id: str, indices: str) -> Array:
        """Cancel these indices of an array, such as `3-5,9`, including those that have not begun."""
        path = f"/arrays/{_part(array_id)}/cancel"
        return self._read(Array, "ArraySummary", "POST", path, parameters={"indices": indices})

    def execution_usage(self, execution_id: str) -> UsageList:
        """Return usage samples of an execution."""
        return self._read(UsageList, "UsageList", "GET", f"/executions/{_part(execution_id)}/usage")

    def use_of(self, execution_id: str) -> ExecutionUseList:
        """Return usage and cost of an execution."""
        query = {"id": [execution_id]}
        return self._read(ExecutionUseList, "ExecutionUseList", "GET", "/usage/executions", parameters=query)

    def control(self, execution_id: str, action: Literal["cancel", "hold", "release", "requeue"]) -> Execution:
        """Apply an action to an execution; repeating it is safe."""
        return self._read(Execution, "ExecutionView", "POST", f"/executions/{_part(execution_id)}/{action}")

    def requeue_held(self, execution_id: str) -> Execution:
        """Requeue an execution, and hold it before its next attempt; repeating it is safe."""
        path, query = f"/executions/{_part(execution_id)}/requeue", {"hold": True}
        return self._read(Execution, "ExecutionView", "POST", path, parameters=query)

    def scale(self, execution_id: str, total_counts: dict[str, int]) -> Execution:
        """Change how many instances of its components an execution has."""
        path, body = f"/executions/{_part(execution_id)}/scale", {"total_counts": total_counts}
        return self._read(Execution, "ExecutionView", "POST", path, body=body)

    def accept(self, execution_id: str, offer: int) -> Execution:
        """Accept an offer for an execution."""
        path, body = f"/executions/{_part(execution_id)}/accept", {"offer": offer}
        return self._read(Execution, "ExecutionView", "POST", path, body=body)

    def modify(self, execution_id: str, changes: dict[str, Any], version: int | None = None) -> Execution:
        """Change a waiting execution; `changes`: fields of `wire.ModifyRequest`. Conflict if its version has changed
        since it was read.
        """
        headers = None if version is None else {"If-Match": f'"{version}"'}
        return self._read(
            Execution, "ExecutionView", "PATCH", f"/executions/{_part(execution_id)}", body=changes, headers=headers
        )

    def submit(
        self,
        application: dict[str, Any],
        settings: Mapping[str, Any] = MappingProxyType({}),
        *,
        idempotency_key: str | None = None,
    ) -> Execution:
        """Submit an application; the same idempotency key returns the same execution.

        `settings`: further fields of the request (`wire.SubmitRequest`), such as a name.
        """
        body = {"application": application, **settings}
        headers = {"Idempotency-Key": idempotency_key or os.urandom(16).hex()}
        return self._read(Execution, "ExecutionView", "POST", "/executions", body=body, headers=headers)

    @property
    def streams(self) -> bool:
        """Return whether `stream` reaches this server."""
        return self._simple

    def stream(self, path: str) -> Iterator[ServerEvent | None]:
        """Yield the events of a stream up to the server's `end`, and None for each comment that keeps it open; Refused,
        or Unreachable if it breaks before.
        """
        from zoe_client.http.sse import parse_events

        connection = self._connect(_SILENCE_S)
        try:
            connection.request("GET", f"{self._parts.path}/api/v1{path}", headers=self._headers())
            response = connection.getresponse()
            if response.status >= HTTPStatus.BAD_REQUEST:
                raise self._problem(response.read(), response.status)
            for event in parse_events(line.decode().rstrip("\r\n") for line in response):
                if event is not None and event.kind == "end":
                    return
                yield event
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()
        raise Unreachable(f"no answer from {self.url}/: the stream ended")

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    def _unreachable(self, error: Exception) -> Unreachable:
        from zoe_client.words.connections import failure_words

        return Unreachable(f"no answer from {self.url}/: {failure_words(error)}")

    def _problem(self, content: bytes, status: int) -> ZoeError:
        from zoe_client.http.problems import problem_in

        return problem_in(content, status, self._parts.hostname or "")

    def _read(
        self,
        kind: type[Answer],
        model: str,
        method: str,
        path: str,
        *,
        parameters: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Make one request, which may be repeated safely; return its answer as this kind."""
        if self._simple:
            content = self._send(method, path + _query(parameters), body, headers or {})
        else:
            content = self.sdk.answer(
                method, path, json=body, parameters=parameters, headers=headers, again=True
            ).content
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        return cast(Answer, answer if matches_type(answer, kind) else self._as_model(model, content))

    def _as_model(self, name: str, content: bytes) -> dict[str, Any]:
        """Return the answer of another version with its defaults; ZoeError if it is invalid."""
        from zoe_client import wire

        model: type[BaseModel] = getattr(wire, name)
        return self.sdk.read(model, content).model_dump(mode="json")

    def _send(self, method: str, path: str, body: dict[str, Any] | None, headers: dict[str, str]) -> bytes:
        """Return the content of the answer; Refused, or Unreachable."""
        sent = None if body is None else json.dumps(body).encode()
        given = {**self._headers(), "Accept": "application/json", **headers}
        if sent is not None:
            given["Content-Type"] = "application/json"
        while True:
            kept, connection = self._connection, self._connection or self._connect()
            self._connection = None
            try:
                connection.request(method, f"{self._parts.path}/api/v1{path}", sent, given)
                response = connection.getresponse()
                content = response.read()
                break
            except (OSError, HTTPException) as error:
                connection.close()
                if kept is None:
                    raise self._unreachable(error) from error
                # The server closed the connection since the last request: try a new one.
        self._connection = None if response.will_close else connection
        if response.status >= HTTPStatus.BAD_REQUEST:
            raise self._problem(content, response.status)
        return content

    def _connect(self, timeout_s: float = _TIMEOUT_S) -> HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "http":
            return HTTPConnection(host, port, timeout=timeout_s)
        return HTTPSConnection(host, port, timeout=timeout_s, context=trust_of_this_machine(self.url))


def _simple(url: str) -> bool:
    """Return whether the URL has only a scheme, a host, a port and a path, in ASCII."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return url.isascii() and bool(parts.hostname) and not (parts.username or parts.query or parts.fragment)


def _query(parameters: dict[str, Any] | None) -> str:
    given = {key: _text(value) for key, value in (parameters or {}).items() if value is not None}
    return "?" + urlencode(given, doseq=True) if given else ""


def _text(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _part(text: str) -> str:
    return quote(checked_part(text), safe="")
