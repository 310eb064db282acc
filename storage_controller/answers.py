"""Errors of the controller: 400, 401, 404, 405, 409, 422, and 503 while its database is away."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from sqlalchemy.exc import DataError, SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from zoe_client.words.plain_errors import sentence

_log = logging.getLogger(__name__)
_REQUEST_ID_MAX = 100


class RequestRefusedError(Exception):
    """An answer other than success, with a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def warning(sentences: Iterable[str]) -> dict[str, str]:
    """Return the header that warns about a successful request; empty without sentences."""
    text = ", ".join(f'299 zoe-storage "{sentence}"' for sentence in sentences)
    return {"Warning": text} if text else {}


def answer_errors(app: FastAPI) -> None:
    """Turn exceptions into answers; log a defect of the controller and answer 503, since its effect is unknown."""

    @app.exception_handler(RequestRefusedError)
    def answer_refusal(_: Request, error: RequestRefusedError) -> JSONResponse:
        return JSONResponse({"error": error.sentence}, error.status)

    @app.exception_handler(HTTPException)
    def of_the_framework(_: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, headers=error.headers)

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        return JSONResponse({"error": f"{place or 'body'}: {sentence(first)}"}, 400)

    @app.exception_handler(DataError)
    def not_to_be_kept(_: Request, error: DataError) -> JSONResponse:
        return JSONResponse({"error": f"the request cannot be stored: {str(error.orig).splitlines()[0]}"}, 400)

    @app.exception_handler(SQLAlchemyError)
    def database(request: Request, error: SQLAlchemyError) -> JSONResponse:
        _log.error("the database is not available%s: %s", _asked_by(request), error)
        return JSONResponse({"error": "the controller's database is not available at present; try again later"}, 503)

    @app.exception_handler(ClientDisconnect)
    def answer_disconnect(_: Request, _error: ClientDisconnect) -> Response:
        return Response(status_code=400)  # the client disconnected within its body and does not read the answer

    @app.exception_handler(Exception)
    def defect(request: Request, error: Exception) -> JSONResponse:
        _log.error("a request failed%s", _asked_by(request), exc_info=error)
        return JSONResponse({"error": "the controller failed; see its log"}, 503)


def _asked_by(request: Request) -> str:
    """Return the id of the API's request that caused this one, for the log."""
    text = request.headers.get("X-Request-Id", "")[:_REQUEST_ID_MAX]
    return f" (request {text})" if text.isascii() and text.replace("-", "").isalnum() else ""
