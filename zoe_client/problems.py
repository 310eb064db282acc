"""Convert HTTP errors to the SDK's exceptions."""

from __future__ import annotations

import httpx
from pydantic import ValidationError

from zoe_client import wire
from zoe_client.errors import Unreachable, ZoeError, from_problem


def problem_of(response: httpx.Response) -> ZoeError:
    """Return the exception for a refusal; its body must have been read."""
    try:
        return from_problem(wire.Problem.model_validate_json(response.content))
    except ValidationError:
        if response.status_code in (502, 503, 504):
            return Unreachable(f"no answer from the server behind {response.url.host}")
        title = f"HTTP {response.status_code}"
        return from_problem(wire.Problem(title=title, status=response.status_code, code="http_error"))


def unreachable(http: httpx.Client, error: httpx.TransportError) -> Unreachable:
    """Return the exception for a connection that was not made, or broke."""
    return Unreachable(f"no answer from {http.base_url.copy_with(path='/')}: {error or type(error).__name__}")
