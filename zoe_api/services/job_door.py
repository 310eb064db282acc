"""Refuse calls of jobs that exceed their rate, before they cost a thread or a connection to the database.

A refusal costs as much as a short response, so refusals are spaced, too: a job gets as many per second as it may call.
A connection has one request at a time, so later ones wait in the kernel's buffer, and 250 connections of a job, as many
as an address may have, cost no more than one that never waits.
"""

from __future__ import annotations

from asyncio import sleep

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from zoe_api.http.problems.problems import ApiProblem, problem_response, refuse_unread
from zoe_api.services.job_calls import CallRates
from zoe_lib.tokens.job_tokens import JobTokens, is_job_token

_BEARER = "bearer "
_SHORT_BYTES = 65_536


class JobDoor:
    """ASGI middleware: forward requests, limiting those of a job to its rate."""

    def __init__(self, app: ASGIApp, tokens: JobTokens, rates: CallRates) -> None:
        self._app = app
        self._tokens = tokens
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request or WebSocket."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        found = self._refusal(headers.get("authorization", ""))
        if found is None:
            await self._app(scope, receive, send)
            return
        refused, after_s = found
        await sleep(after_s)
        if _is_short(headers):  # a new connection would cost more than the requests on this one
            await problem_response(refused.for_path(scope["path"]))(scope, receive, send)
        else:
            await refuse_unread(refused.for_path(scope["path"]), scope, receive, send)

    def _refusal(self, authorization: str) -> tuple[ApiProblem, float] | None:
        """Return why a call is refused, and the delay of the refusal in seconds; invalid tokens are refused later, by
        authentication.
        """
        text = authorization[len(_BEARER) :].strip() if authorization.lower().startswith(_BEARER) else ""
        token = self._tokens.read(text) if is_job_token(text) else None
        if token is None:
            return None
        try:
            self._rates.take(token.execution_id)
        except ApiProblem as refused:
            return refused, self._rates.refusal_in_s(token.execution_id)
        return None


def _is_short(headers: Headers) -> bool:
    """Return whether a request has no body, or one that is cheap to discard."""
    length = headers.get("content-length", "0")
    return "transfer-encoding" not in headers and length.isdecimal() and int(length) <= _SHORT_BYTES
