"""Refusals as problem+json (RFC 9457) with stable codes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from zoe_api.http.problems.codes import PROBLEMS, Code
from zoe_api.http.problems.refusals import note_refused
from zoe_client.wire import Diagnostic, Problem
from zoe_client.words.plain_errors import sentence
from zoe_lib.descriptions import DescriptionError
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable
from zoe_lib.store.errors import (
    AlreadyMade,
    ConcurrentUpdate,
    IdempotencyConflict,
    InvalidCursor,
    NameTaken,
    NotFound,
    PriceListRefused,
    QuotaExceeded,
    StatementRefused,
    StoreError,
    StoreUnavailable,
    TimeLimitTooLong,
    TooManyStored,
    TooManyTokens,
    Unstorable,
)
from zoe_lib.submission import refusal as refusals
from zoe_lib.submission.refusal import SubmissionRefused, from_limits

MEDIA_TYPE = "application/problem+json"
_ERRORS_MAX = 100  # more than anyone reads; limits the response to a hostile request
_TEXT_MAX = 1000
_RETRY_AFTER_S = "1"
_RETRY_AFTER_S_OF = {
    Code.REPLAY_BUSY: "5",
    Code.PLAN_BUSY: "1",
    Code.LOGS_BUSY: "1",
    Code.TERMINALS_BUSY: "1",
    Code.CHECK_BUSY: "1",
    Code.POSITION_BUSY: "1",
    Code.FILES_BUSY: "1",
    Code.SIGN_IN_BUSY: "1",
    Code.TOO_MANY_STREAMS: "10",
    Code.QUEUE_TOO_LONG: "60",
}


class ApiProblem(Exception):  # noqa: N818 - it is an answer
    """A refusal that becomes the response."""

    def __init__(self, code: Code, detail: str = "", hint: str = "", errors: Sequence[Diagnostic] = ()) -> None:
        super().__init__(f"{code}: {detail}")
        self.problem = problem(code, detail, hint, errors)

    def retry_after(self, seconds: float) -> ApiProblem:
        """Return the refusal with the time after which the client should retry."""
        self.problem = self.problem.with_retry_after(seconds)
        return self

    def for_path(self, path: str) -> Problem:
        """Return the problem of a request to this path."""
        return self.problem.model_copy(update={"instance": path})


def _problem_of_refusal(refused: SubmissionRefused) -> ApiProblem:
    return ApiProblem(Code(refused.code), refused.detail, refused.hint, refused.errors)


def problem_of(error: StoreError) -> ApiProblem:
    """Return the refusal of a submission beyond a limit."""
    return _problem_of_refusal(from_limits(error))


def problem(code: Code, detail: str = "", hint: str = "", errors: Sequence[Diagnostic] = (), path: str = "") -> Problem:
    """Return the problem of a code."""
    status, title = PROBLEMS[code]
    return Problem(
        type=f"urn:zoe:problem:{code}",
        title=title,
        status=status,
        code=code,
        detail=detail,
        hint=hint,
        instance=path,
        errors=list(errors[:_ERRORS_MAX]),
    )


def problem_response(refusal: Problem) -> Response:
    """Return a problem as an HTTP response."""
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if refusal.retry_after_s is not None:
        headers["Retry-After"] = str(refusal.retry_after_s)
    elif refusal.status == 503 or refusal.code in _RETRY_AFTER_S_OF:
        headers["Retry-After"] = _RETRY_AFTER_S_OF.get(Code(refusal.code), _RETRY_AFTER_S)
    # It contains parts of the request, which may be invalid in UTF-8: half of a surrogate pair.
    body = json.dumps(refusal.model_dump(), ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, refusal.status, headers, MEDIA_TYPE)


def raw_response(refusal: Problem) -> bytes:
    """Return a problem as a raw HTTP response, for a connection whose request could not be handled."""
    response = problem_response(refusal)
    status = f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}".encode()
    headers = [b"%s: %s" % header for header in (*response.raw_headers, (b"connection", b"close"))]
    return b"\r\n".join([status, *headers, b"", bytes(response.body)])


async def refuse_unread(refusal: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond before the body was read, and end the connection; servers would read and discard the rest.

    A WebSocket is not opened; its handshake gets the response.
    """
    response = problem_response(refusal)
    response.headers["Connection"] = "close"
    await response(scope, receive, send)


# Coroutines, although they never wait: the framework would change threads for plain functions.
def install(app: FastAPI) -> None:
    """Register handlers that turn every known error into its problem."""

    @app.exception_handler(ApiProblem)
    async def _api_problem(request: Request, error: ApiProblem) -> Response:
        if error.problem.status == 401:
            note_refused(request.scope, Code(error.problem.code))
        return problem_response(error.for_path(request.url.path))

    @app.exception_handler(SubmissionRefused)
    async def _submission_refused(request: Request, error: SubmissionRefused) -> Response:
        return problem_response(_problem_of_refusal(error).for_path(request.url.path))

    @app.exception_handler(TimeLimitTooLong)
    async def _time_limit_too_long(request: Request, error: TimeLimitTooLong) -> Response:
        return problem_response(problem_of(error).for_path(request.url.path))

    for error_type in _TRANSLATIONS:
        app.add_exception_handler(error_type, _translate_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http)


_TRANSLATIONS: dict[type[Exception], Code] = {
    NotFound: Code.NOT_FOUND,
    NameTaken: Code.NAME_TAKEN,
    ConcurrentUpdate: Code.CONFLICT,
    TooManyTokens: Code.TOO_MANY_TOKENS,
    AlreadyMade: Code.CONFLICT,
    TooManyStored: Code.TOO_MANY_STORED,
    IllegalTransition: Code.ILLEGAL_STATE,
    IdempotencyConflict: Code.IDEMPOTENCY_CONFLICT,
    InvalidCursor: Code.INVALID_CURSOR,
    PriceListRefused: Code.PRICE_LIST_REFUSED,
    StatementRefused: Code.STATEMENT_REFUSED,
    QuotaExceeded: Code.QUOTA_EXCEEDED,
    Unstorable: Code.UNSTORABLE,
    StoreUnavailable: Code.DATABASE_UNAVAILABLE,
    MasterUnreachable: Code.MASTER_UNREACHABLE,
}
_HINTS_OF_MASTER = {
    Code.PLAN_BUSY: "each user may have one plan computed at a time, and the master computes two",
    Code.LOGS_BUSY: "each user may read four outputs at a time",
    Code.FILES_BUSY: "",
    Code.FILES_UNAVAILABLE: "",
    Code.TERMINALS_BUSY: "each user may open four terminals at the same moment",
    Code.QUEUE_TOO_LONG: "submit it, then `zoe eta ID` shows when it is expected to start; or retry "
    "when fewer executions wait",
}
MASTER_AWAY_HINT = (
    "For admins: see the log of zoe-master; after `zoe-keys rotate messaging`, copy keys_dir to all hosts, then "
    "restart the master and each API (Replacing keys, docs/operate/backups.md)"
)
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_INNER = (StoreUnavailable, IllegalTransition)  # their messages are for the log
_ENCODED_SLASH = b"%2f"


async def _translate_error(request: Request, error: Exception) -> Response:
    code = next(code for kind, code in _TRANSLATIONS.items() if isinstance(error, kind))
    detail = "" if isinstance(error, _INNER) else str(error)[:_TEXT_MAX]
    hint = MASTER_AWAY_HINT if code is Code.MASTER_UNREACHABLE else ""
    return problem_response(problem(code, detail, hint, path=request.url.path))


async def _invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    causes = error.errors()
    errors = [
        Diagnostic(pointer=_pointer(e["loc"])[:_TEXT_MAX], code=str(e["type"]), message=sentence(e)[:_TEXT_MAX])
        for e in causes[:_ERRORS_MAX]
    ]
    detail = refusals.error_count(len(causes))
    return problem_response(problem(Code.INVALID_REQUEST, detail, errors=errors, path=request.url.path))


def _pointer(parts: Sequence[object]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: Code.NO_SUCH_ROUTE, 405: Code.METHOD_NOT_ALLOWED}.get(error.status_code, Code.HTTP_ERROR)
    if code is Code.NO_SUCH_ROUTE and _ENCODED_SLASH in request.scope.get("raw_path", b"").lower():
        wrong = Diagnostic(pointer="/path", code="string_pattern_mismatch", message="must have no `/` (%2F) in a name")
        return problem_response(problem(Code.INVALID_REQUEST, errors=[wrong], path=request.url.path))
    # The title says more than the phrase of the status.
    detail = "" if code is Code.NO_SUCH_ROUTE and error.detail == HTTPStatus.NOT_FOUND.phrase else str(error.detail)
    refusal = problem(code, detail, path=request.url.path).model_copy(update={"status": error.status_code})
    response = problem_response(refusal)
    response.headers.update(error.headers or {})
    if code is Code.METHOD_NOT_ALLOWED:
        response.headers["Allow"] = ", ".join(sorted(_methods(request)))
    return response


def _methods(request: Request) -> set[str]:
    """Return all methods of a path; the framework lists those of its first route only."""
    scopes = {method: {**request.scope, "method": method} for method in _METHODS}
    routes = request.app.routes
    return {m for m, scope in scopes.items() if any(route.matches(scope)[0] is Match.FULL for route in routes)}


def from_description(error: DescriptionError) -> ApiProblem:
    """Return the refusal of a description, with every diagnostic."""
    return _problem_of_refusal(refusals.from_description(error))


_AS_IT_IS = ("not_found", "no_logs", "no_terminal", "volume_refused")


def from_master(error: MasterRefused) -> ApiProblem:
    """Return the problem of a refusal by the master."""
    if error.code in _AS_IT_IS:
        return ApiProblem(Code(error.code), str(error))
    if error.code in _HINTS_OF_MASTER:
        code = Code(error.code)
        return ApiProblem(code, str(error), _HINTS_OF_MASTER[code])
    return ApiProblem(Code.MASTER_REFUSED, f"{error.code}: {error}")
