"""Each route that only asks says what bounds its work."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute

from tests.support.largest_questions import largest_question, question_paths
from zoe_api.access.access import Requires, RequiresCaller
from zoe_api.main import ROUTES
from zoe_api.questions.bounded import Bound, question
from zoe_lib.domain.applications.roles import Scope

_ASKS = re.compile(r"nothing (is stored|changes|is submitted)|without setting", re.IGNORECASE)
_CHANGE_FOR_READERS = {"report_queries"}


def scopes_of(route: APIRoute) -> Iterator[Scope]:
    for dependency in route.dependant.dependencies:
        if isinstance(dependency.call, Requires | RequiresCaller):
            yield dependency.call.scope


def asks(route: APIRoute) -> bool:
    """Return whether a POST changes nothing: readers may send it, or its description says so."""
    read = Scope.READ in scopes_of(route) and route.name not in _CHANGE_FOR_READERS
    return "POST" in route.methods and (read or bool(_ASKS.search(route.description)))


def test_every_post_that_asks_says_what_bounds_it() -> None:
    routes = [route for route in ROUTES if isinstance(route, APIRoute)]
    assert {route.path for route in routes if asks(route)} == set(question_paths())
    assert all(isinstance(bound, Bound) for bounds in question_paths().values() for bound in bounds)


@pytest.mark.parametrize("path", question_paths())
def test_the_largest_question_of_each_is_known(path: str) -> None:
    assert isinstance(largest_question(path), dict)


def test_a_declared_function_stays_the_same() -> None:
    def ask() -> None:
        pass

    assert question(Bound.SHORT)(ask) is ask
