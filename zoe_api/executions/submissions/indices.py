"""Indices of arrays in requests."""

from __future__ import annotations

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Services
from zoe_client.wire import Diagnostic
from zoe_lib.domain.executions.indices import IndexSet, IndicesError, TooManyIndices, parse_array


def given_indices(text: str, services: Services) -> tuple[IndexSet, int | None]:
    """Return the indices of a request, and how many may be active at once; 422 if they cannot be read."""
    try:
        return parse_array(text, services.settings.array_indices_max)
    except IndicesError as error:
        code = "too_many" if isinstance(error, TooManyIndices) else "invalid"
        hint = "submit several arrays" if code == "too_many" else ""
        wrong = Diagnostic(pointer="/indices", code=code, message=str(error), hint=hint)
        raise ApiProblem(Code.INVALID_REQUEST, str(error), hint, [wrong]) from None
