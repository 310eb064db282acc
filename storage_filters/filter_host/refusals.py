"""Answers to refused requests, and to reads of damaged objects."""

from __future__ import annotations

from typing import Any

from swift.common.swob import (
    HTTPBadRequest,
    HTTPConflict,
    HTTPException,
    HTTPServiceUnavailable,
    HTTPUnprocessableEntity,
    Request,
)

from storage_filters.transforms.stream_filters import DamagedObjectError, FilterAway, FilterRefusedError
from storage_filters.wsgi.headers import BY_S3

_BY_S3 = "S3"
_AGAIN_S = "1"


def refusal(request: Request, error: Exception) -> HTTPException:
    """Return the answer that states the reason; it can also be raised."""
    if isinstance(error, DamagedObjectError):
        made = HTTPBadRequest if _by_s3(request) else HTTPUnprocessableEntity
        return made(body=f"the stored object is damaged: {error}\n", request=request)
    if isinstance(error, FilterRefusedError) and not isinstance(error, FilterAway):
        made = HTTPBadRequest if _by_s3(request) else HTTPConflict
        return made(body=f"{error}\n", request=request)
    return HTTPServiceUnavailable(body=f"{error}\n", request=request, headers={"Retry-After": _AGAIN_S})


def _by_s3(request: Request) -> bool:
    """Return whether s3api gets the answer. s3api passes on the message of errors with status 400 only, and turns 422
    into 500. Subrequests of `copy` have the header too, but another source.
    """
    env: dict[str, Any] = request.environ
    return env.get("swift.source") == _BY_S3 or BY_S3 in request.headers
