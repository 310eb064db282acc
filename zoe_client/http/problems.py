"""Convert HTTP errors to the SDK's exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from zoe_client import wire
from zoe_client.errors import Unreachable, ZoeError, from_problem
from zoe_client.words.connections import failure_words

if TYPE_CHECKING:
    import httpx


def problem_of(response: httpx.Response) -> ZoeError:
    """Return the exception for a refusal; its body must have been read."""
    return problem_in(response.content, response.status_code, response.url.host)


def problem_in(content: bytes, status: int, host: str) -> ZoeError:
    """Return the exception for the content of a refusal."""
    try:
        return from_problem(wire.Problem.model_validate_json(content))
    except ValidationError:
        if status in (502, 503, 504):
            return Unreachable(f"no answer from the server behind {host}")
        return from_problem(wire.Problem(title=f"HTTP {status}", status=status, code="http_error"))


def unreachable(http: httpx.Client | httpx.AsyncClient, error: httpx.TransportError) -> Unreachable:
    """Return the exception for a connection that failed."""
    return Unreachable(f"no answer from {http.base_url.copy_with(path='/')}: {failure_words(error)}")
