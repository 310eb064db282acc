"""Messages of the SDK's errors: title and detail, nothing twice."""

from __future__ import annotations

import pytest

from zoe_client.errors import InvalidDescription, NotFound, Refused
from zoe_client.wire import Diagnostic, Problem


@pytest.mark.parametrize(
    ("title", "detail", "sentence"),
    [
        (
            "It does not exist, or you may not see it",
            "execution x does not exist",
            "execution x does not exist, or you may not see it",
        ),
        ("The name is taken", "the name x is taken by a workflow", "the name x is taken by a workflow"),
        ("The price list is invalid", "rates are missing", "The price list is invalid: rates are missing"),
        ("The queue is long", "", "The queue is long"),
    ],
)
def test_no_sentence_is_said_twice(title: str, detail: str, sentence: str) -> None:
    assert str(Refused(Problem(title=title, status=404, code="not_found", detail=detail))) == sentence


@pytest.mark.parametrize(
    ("detail", "sentence"),
    [
        ("x is the id of an array; name one of its executions", "x is the id of an array; name one of its executions"),
        ("execution x does not exist", "execution x does not exist, or you may not see it"),
        ("", "It does not exist, or you may not see it"),
    ],
)
def test_what_is_not_found_is_named(detail: str, sentence: str) -> None:
    title = "It does not exist, or you may not see it"
    assert str(NotFound(Problem(title=title, status=404, code="not_found", detail=detail))) == sentence


def test_the_message_of_an_invalid_description_names_its_errors() -> None:
    found = [Diagnostic(pointer="/name", code="missing", message="is missing", hint="add it")]
    problem = Problem(title="The description is not valid", status=422, code="x", detail="1 error", errors=found)
    assert str(InvalidDescription(problem)) == "The description is not valid: 1 error\n/name: is missing"
