"""Refuse calls of jobs that come too often, before they cost a thread or a connection to the database.

A refusal is held back for as long as it says to wait. So a job that never waits gets one answer a second on each of its
connections, of which an address has a bounded number, and requests of others find the API free.
"""

from __future__ import annotations

from asyncio import sleep

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from zoe_api.job_calls import CallRates
from zoe_api.problems import ApiProblem, problem_response, refuse_unread
from zoe_lib.job_tokens import JobTokens, is_job_token

_BEARER = "bearer "
_SHORT_BYTES = 65_536


class JobDoor:
    """ASGI middleware: forward requests, and those of a job as often as it may call.

    hold_s: for how long a refusal is held back at most.
    """

    def __init__(self, app: ASGIApp, tokens: JobTokens, rates: CallRates, hold_s: float = 1.0) -> None:
        self._app = app
        self._tokens = tokens
        self._rates = rates
        self._hold_s = hold_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request or WebSocket."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._refusal(headers.get("authorization", ""))
        if refused is None:
            await self._app(scope, receive, send)
            return
        await sleep(min(refused.problem.retry_after_s or 0.0, self._hold_s))
        if _is_short(headers):  # a new connection would cost more than what is on this one
            await problem_response(refused.at(scope["path"]))(scope, receive, send)
        else:
            await refuse_unread(refused.at(scope["path"]), scope, receive, send)

    def _refusal(self, authorization: str) -> ApiProblem | None:
        """Return why a call must not go on; a token that is none is refused where all others are."""
        text = authorization[len(_BEARER) :].strip() if authorization.lower().startswith(_BEARER) else ""
        token = self._tokens.read(text) if is_job_token(text) else None
        try:
            if token is not None:
                self._rates.take(token.execution_id)
        except ApiProblem as refused:
            return refused
        return None


def _is_short(headers: Headers) -> bool:
    """Return whether a request has no body, or one that is cheap to discard."""
    length = headers.get("content-length", "0")
    return "transfer-encoding" not in headers and length.isdecimal() and int(length) <= _SHORT_BYTES
