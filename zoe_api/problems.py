"""Refusals as problem+json (RFC 9457) with stable codes."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from zoe_lib.descriptions import DescriptionError
from zoe_lib.domain.lifecycle import IllegalTransition
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable
from zoe_lib.store.base import ConcurrentUpdate, IdempotencyConflict, InvalidCursor, NotFound, StoreUnavailable
from zoe_lib.wire import Diagnostic, Problem


class ApiProblem(Exception):  # noqa: N818 - it is an answer
    """A refusal on its way to the client."""

    def __init__(
        self,
        status: int,
        code: str,
        title: str,
        detail: str = "",
        hint: str = "",
        errors: Sequence[Diagnostic] = (),
    ) -> None:
        super().__init__(f"{code}: {detail or title}")
        self.problem = Problem(title=title, status=status, code=code, detail=detail, hint=hint, errors=list(errors))


def problem_response(problem: Problem) -> Response:
    """The HTTP form of a problem."""
    headers = {"WWW-Authenticate": "Bearer"} if problem.status == 401 else {}
    if problem.status == 503:
        headers["Retry-After"] = "1"
    return JSONResponse(problem.model_dump(), problem.status, headers, media_type="application/problem+json")


def bad_document(diagnostics: Sequence[Diagnostic]) -> ApiProblem:
    """All that is wrong with a description."""
    return ApiProblem(
        422,
        "invalid_description",
        "The description is not valid",
        f"{len(diagnostics)} error{'s' if len(diagnostics) != 1 else ''}",
        "`zoe validate FILE` shows them all",
        diagnostics,
    )


def install(app: FastAPI) -> None:
    """Let every known error answer with its problem."""

    @app.exception_handler(ApiProblem)
    def _api_problem(request: Request, error: ApiProblem) -> Response:
        return problem_response(error.problem.model_copy(update={"instance": request.url.path}))

    @app.exception_handler(Exception)
    def _unexpected(request: Request, _error: Exception) -> Response:
        title = "Something went wrong here; it was logged with the request id"
        return problem_response(Problem(title=title, status=500, code="internal", instance=request.url.path))

    for error_type in _TRANSLATIONS:
        app.add_exception_handler(error_type, _translated)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http)


_TRANSLATIONS: dict[type[Exception], tuple[int, str, str]] = {
    NotFound: (404, "not_found", "There is no such thing, or it is not yours"),
    ConcurrentUpdate: (409, "conflict", "It was changed meanwhile: read it again and try again"),
    IllegalTransition: (409, "illegal_state", "That cannot happen to it now"),
    IdempotencyConflict: (409, "idempotency_conflict", "This idempotency key came with another request before"),
    InvalidCursor: (400, "invalid_cursor", "The cursor is not one of ours"),
    StoreUnavailable: (503, "database_unavailable", "The database cannot be reached now; try again soon"),
    MasterUnreachable: (503, "master_unreachable", "The master is not reachable; what was submitted runs later"),
}


def _translated(request: Request, error: Exception) -> Response:
    status, code, title = next(v for t, v in _TRANSLATIONS.items() if isinstance(error, t))
    detail = "" if isinstance(error, StoreUnavailable | IllegalTransition) else str(error)
    return problem_response(Problem(title=title, status=status, code=code, detail=detail, instance=request.url.path))


def _invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [
        Diagnostic(pointer="/" + "/".join(str(part) for part in e["loc"]), code=str(e["type"]), message=str(e["msg"]))
        for e in error.errors()
    ]
    title = "The request is not valid"
    problem = Problem(title=title, status=422, code="invalid_request", instance=request.url.path, errors=errors)
    return problem_response(problem)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "no_such_route", 405: "method_not_allowed"}.get(error.status_code, "http_error")
    problem = Problem(title=str(error.detail), status=error.status_code, code=code, instance=request.url.path)
    return problem_response(problem)


def from_description(error: DescriptionError) -> ApiProblem:
    """The refusal of a description, with every diagnostic."""
    return bad_document(
        [Diagnostic(pointer=d.pointer, code=d.code, message=d.message, hint=d.hint) for d in error.diagnostics]
    )


def from_master(error: MasterRefused) -> ApiProblem:
    """What the master said no to."""
    if error.code in ("no_logs", "no_address", "not_queued"):
        return ApiProblem(404, error.code, "The master has no answer to that", str(error))
    return ApiProblem(502, error.code, "The master could not answer", str(error))
