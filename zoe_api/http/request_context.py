"""The context of every request: its id, log line and metrics, and a response if something fails."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol
from uuid import uuid4

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zoe_api.http import metrics
from zoe_api.http.attempts.refused_audit import RefusedAudit
from zoe_api.http.position_headers import WRITTEN
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import problem, problem_response
from zoe_lib.store import positions
from zoe_lib.store.people import AuditEntry

log = structlog.get_logger(__name__)

PREFIX = "/api/v1"
_REQUEST_ID_MAX = 64
Changes = Mapping[str, Sequence[object]]


class Audit(Protocol):
    """Records the results of changes."""

    def end(self, entry_id: int, status: int, changes: Changes) -> None:
        """Complete an entry that was written before the change."""
        ...

    def add(self, entry: AuditEntry) -> None:
        """Add an entry for a change that was not made."""
        ...


class RequestContext:
    """ASGI middleware. Unlike middleware made of functions, it forwards streams without buffering."""

    def __init__(self, app: ASGIApp, audit: Audit) -> None:
        self._app = app
        self._audit = audit
        self._refused = RefusedAudit()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope).get("x-request-id", ""))
        scope.setdefault("state", {})["request_id"] = request_id
        head = _Head(scope, request_id, send, self._audit, self._refused)
        named = structlog.contextvars.bound_contextvars(request=request_id, address=_address(scope))
        with named, positions.collect() as head.written:
            try:
                await self._app(scope, receive, head.send)
            except Exception:
                log.exception("request failed", method=scope["method"], path=scope["path"])
                if (
                    head.sent
                ):  # too late for a response: ending the connection shows the client that the response is incomplete
                    raise
                await problem_response(problem(Code.INTERNAL, path=scope["path"]))(scope, receive, head.send)


class _Head:
    """Watch the head of the answer."""

    def __init__(self, scope: Scope, request_id: str, send: Send, audit: Audit, refused: RefusedAudit) -> None:
        self._audit = audit
        self._refused = refused
        self._late: AuditEntry | None = None
        self._scope = scope
        self._request_id = request_id
        self._send = send
        self._began_s = time.perf_counter()
        self.sent = False
        self.written = positions.Written()

    async def send(self, message: Message) -> None:
        """Forward a message; add the request's id to the head, and count it."""
        if message["type"] == "http.response.start":
            self.sent = True
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = self._request_id
            if self.written.newest and message["status"] < 400:
                headers[WRITTEN] = str(self.written.newest)
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("Cache-Control", "no-store")  # files of the web UI set their own cache time
            self._count(message["status"])
            await self._write_down(self._scope["state"], message["status"])
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            late, self._late = self._late, None
            if late is not None:
                await run_in_threadpool(self._audit.add, late)

    async def _write_down(self, state: dict[str, Any], status: int) -> None:
        changes = state.get("audit_changes", {})
        if state.get("audit_id") is not None:
            await run_in_threadpool(self._audit.end, state["audit_id"], status, changes)
        elif state.get("audit") is not None:
            entry = replace(state["audit"], status=status, changes=changes)
            if state.get("audit_late", False):
                self._late = entry
            else:
                await run_in_threadpool(self._audit.add, entry)
        else:
            self._late = self._refused.entry(self._scope, status)

    def _count(self, status: int) -> None:
        took_s = time.perf_counter() - self._began_s
        method, route = metrics.known_method(self._scope["method"]), _route(self._scope)
        metrics.observe_request(method, route, status, took_s)
        about = {k: v for k, v in self._scope.get("path_params", {}).items() if k.endswith("_id")}
        names = {key.removesuffix("_id"): value for key, value in about.items()}
        names |= _asker(self._scope)
        log.info("answered", method=method, route=route, status=status, took_ms=round(took_s * 1e3, 2), **names)


def _asker(scope: Scope) -> dict[str, str]:
    """Return the client, if it is known."""
    state = scope["state"]
    details = {"user": state.get("user"), "tenant": state.get("tenant")}
    return {name: value for name, value in details.items() if value}


def _address(scope: Scope) -> str:
    """Return the client's address; empty without one. All lines of a request contain it, so it is bounded."""
    return str((scope.get("client") or ("",))[0])


def _request_id(text: str) -> str:
    """Return the client's own id if it is valid: it goes into logs, events and the response."""
    sane = text.isascii() and text.replace("-", "").isalnum() and len(text) <= _REQUEST_ID_MAX
    return text if sane else f"req-{uuid4().hex[:16]}"


def _route(scope: Scope) -> str:
    """Return the template of the path, since each path would add a time series. Mounted applications set their own
    name.
    """
    if "route" in scope["state"]:
        return str(scope["state"]["route"])
    template = getattr(scope.get("route"), "path", None)
    if template is None:
        return "unknown"
    mounted_at = scope.get("root_path", "").removeprefix(scope.get("app_root_path", ""))
    return f"{mounted_at}{template}"
