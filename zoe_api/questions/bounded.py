"""Declare the questions among the routes: POST requests that change nothing, each with what bounds its work."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


class Bound(StrEnum):
    """What bounds the work of a question, beside the turns of its client (`zoe_api/http/turns.py`)."""

    SHORT = "some milliseconds at the largest input, in this process"
    PROCESS = "a process of the pool, unless the input is small"
    STEPS_OF_MASTER = "a lane of the master, in counted steps"
    STEPS_OF_CONTROLLER = "a lane of the storage controller, in counted steps"
    CHILD = "a process of its own, one at a time"


def question(*bounds: Bound) -> Callable[[F], F]:
    """Declare a route's function as a question: it is not audited, and takes a turn of its client."""

    def declare(function: F) -> F:
        function.bounds = bounds  # type: ignore[attr-defined]
        return function

    return declare
