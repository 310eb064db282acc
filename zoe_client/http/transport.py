"""Requests of the SDK over HTTP: answers as models, retries, streams that resume."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from zoe_client.errors import Refused, Unreachable, ZoeError, bad_name, checked_part, is_part
from zoe_client.http.flow import BlockingFlow
from zoe_client.http.problems import problem_of, unreachable
from zoe_client.http.proxies import proxy_for
from zoe_client.http.server import checked_address, chosen_server, without_password
from zoe_client.http.sse import ServerEvent
from zoe_client.http.streams import ResumedStream
from zoe_client.http.tls import trust_of_this_machine

Model = TypeVar("Model", bound=BaseModel)

# Seconds; pauses are random and double, so that clients of a restarted server do not return all at once.
_SENTENCES_MAX = 3
_NO_OLDER_THAN = "Zoe-No-Older-Than"
# Paths of requests that the master answers from its last tick.
_OF_THE_QUEUE = ("/explain", "/eta", "/plan", ":plan")
_RETRY_PAUSE_S = 0.3
_RETRY_PAUSE_S_MAX = 3.0
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class OwnPosition:
    """The newest position of the journal in answers to this client's changes."""

    def __init__(self) -> None:
        self._newest = 0

    def headers(self, path: str, headers: dict[str, str] | None) -> dict[str, str] | None:
        """Return the headers of a request: requests about the queue wait until the master has seen this client's
        changes.
        """
        if not self._newest or not path.endswith(_OF_THE_QUEUE):
            return headers
        return {_NO_OLDER_THAN: str(self._newest), **(headers or {})}

    def note(self, response: httpx.Response) -> None:
        """Record the position in an answer."""
        named = response.headers.get("Zoe-Position", "")
        if named.isascii() and named.isdigit():
            self._newest = max(self._newest, int(named))

    def give_up(self, request: httpx.Request, refusal: ZoeError) -> bool:
        """Return whether to repeat the request without the position: the master is away, and stored data may answer, or
        the journal lacks the position, as after a restore of the database.
        """
        code = refusal.problem.code if isinstance(refusal, Refused) else ""
        if code == "position_unknown":
            self._newest = 0
        away = isinstance(refusal, Unreachable) and refusal.answered
        return (away or code.startswith("position_")) and request.headers.pop(_NO_OLDER_THAN, None) is not None


class Transport:
    """Connection to a server. Use it as a context manager, or call `close`.

    While the server does not answer, requests that may safely be repeated are retried for up to `patience_s`: reads,
    and requests marked as safe. Others are retried only if no connection was made. `transport` replaces the network in
    tests. Without `url` and `token`, `chosen_server` finds them."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout_s: float = 10.0,
        patience_s: float = 0.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if url is None or token is None:
            url, token = chosen_server(url, token)
        self.url = checked_address(url)
        self._token = token
        self._patience_s = patience_s
        self._position = OwnPosition()
        self._http = httpx.Client(transport=transport, **http_options(self.url, token, timeout_s, transport))
        self.flow = BlockingFlow(self._http)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({without_password(self.url)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._http.close()

    def call(
        self,
        model: type[Model],
        method: str,
        path: str,
        *,
        body: BaseModel | None = None,
        json: dict[str, Any] | None = None,
        parameters: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        again: bool = False,
        timeout_s: float | None = None,
    ) -> Model:
        """Make one request, and return its answer as this model."""
        response = self.answer(
            method, path, body=body, json=json, parameters=parameters, headers=headers, again=again, timeout_s=timeout_s
        )
        return self.read(model, response.content)

    def do(self, method: str, path: str, **how: Any) -> None:
        """Make one request without an answer's content; `how` as for `answer`."""
        self.answer(method, path, **how)

    def text(self, path: str, parameters: dict[str, Any] | None = None) -> str:
        """Return the answer of a GET as text."""
        return self.answer("GET", path, parameters=parameters).text

    def read(self, model: type[Model], content: bytes) -> Model:
        """Return the content of an answer as this model."""
        return model_of(model, content, self.url)

    def answer(
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
        """Make one request, with a model or JSON as its body. `again`: it may be repeated safely, like a read.
        `timeout_s` replaces the client's.
        """
        request = self._http.build_request(
            method,
            path,
            json=json if body is None else body.model_dump(mode="json"),
            params=given_parameters(parameters),
            headers=self._position.headers(path, headers),
            timeout=httpx.USE_CLIENT_DEFAULT if timeout_s is None else timeout_s,
        )
        if not self._patience_s:
            return self._send(request)
        # Its import takes as long as a quick command, and few clients need it.
        from tenacity import Retrying

        return Retrying(**retries(self._patience_s, again or method == "GET"))(self._send, request)

    def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            response = self._http.send(request)
        except httpx.TransportError as error:
            raise unreachable(self._http, error) from error
        if response.is_error:
            refusal = problem_of(response)
            if self._position.give_up(request, refusal):
                return self._send(request)
            raise refusal
        self._position.note(response)
        return response

    def stream(
        self, path: str, parameters: dict[str, str | int], deadline_s: float | None = None
    ) -> Iterator[ServerEvent]:
        """Yield the events of a stream, even if the server restarts; TimedOut after `deadline_s` of
        `time.monotonic`."""
        stream = ResumedStream(self.flow, path, parameters, self._patience_s, deadline_s)
        return self.flow.iterate(stream.more)


def http_options(url: str, token: str, timeout_s: float, transport: object) -> dict[str, Any]:
    """Return the options of an httpx client for a server; `transport` replaces the network in tests.

    ZoeError for an invalid token: httpx would show it in its own error.
    """
    token = token.strip()  # a token read from a file ends with a newline
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ZoeError("the token contains characters that tokens cannot have")
    return {
        "base_url": url + "/api/v1",
        "headers": {"Authorization": f"Bearer {token}"} if token else {},
        "timeout": timeout_s,
        "trust_env": False,
        "proxy": None if transport else proxy_for(url),
        "verify": trust_of_this_machine(url),
    }


def given_parameters(parameters: dict[str, Any] | None) -> dict[str, Any]:
    """Return the parameters of a request that are not None."""
    return {key: value for key, value in (parameters or {}).items() if value is not None}


def model_of(model: type[Model], content: bytes, url: str) -> Model:
    """Return the content of an answer of a server as this model; ZoeError."""
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        from zoe_client.words.plain_errors import sentences

        found = "; ".join(islice(sentences(error), _SENTENCES_MAX))
        raise ZoeError(f"the server at {url} sent an answer that this client cannot read: {found}") from None


def retries(patience_s: float, harmless: bool) -> dict[str, Any]:
    """Return tenacity's options: retry while the server is away, if the request is harmless or was never sent."""
    from tenacity import retry_if_exception, stop_before_delay, wait_random_exponential

    def may_retry(error: BaseException) -> bool:
        return isinstance(error, Unreachable) and (harmless or isinstance(error.__cause__, _NEVER_SENT))

    return {
        "retry": retry_if_exception(may_retry),
        "stop": stop_before_delay(patience_s),
        "wait": wait_random_exponential(_RETRY_PAUSE_S, _RETRY_PAUSE_S_MAX),
        "reraise": True,
    }


def path_part(text: str) -> str:
    """Return a name or an id as one part of a path; NotFound if it cannot be one."""
    return quote(checked_part(text), safe="")


def new_name(text: str, pattern: str) -> str:
    """Return the name of a new object as one part of a path. Refused, as by the server, if it cannot be one; the server
    checks other names. pattern: the server's rule.
    """
    if not is_part(text):
        raise bad_name(pattern)
    return quote(text, safe="")
