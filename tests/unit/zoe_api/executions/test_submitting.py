"""Submissions: fingerprints of requests, and refusals of a batch."""

from __future__ import annotations

import time
from typing import Any

import pytest
from fastapi import Response

from tests.support.applications import application, execution
from tests.support.plain_api import PEER, caller_of, person, refusal, services
from zoe_api.executions import submitting as submissions
from zoe_api.http.problems.codes import PROBLEMS, Code
from zoe_client.wire import BatchRequest, Diagnostic, SubmitRequest
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions
from zoe_lib.store.errors import IdempotencyConflict
from zoe_lib.submission.checking import Checked
from zoe_lib.submission.refusal import SubmissionRefused


def one(**given: Any) -> SubmitRequest:
    return SubmitRequest(**{"application": {"name": "x"}, **given})


def test_requests_that_differ_have_other_fingerprints() -> None:
    bodies = [
        one(),
        one(name="y"),
        one(priority=1),
        one(priority=0),
        one(hold=True),
        one(begin_at_s=5.0),
        one(begin_in_s=5.0),
        one(after=["ok:a"]),
        one(after=["ok:a"], keep=True),
        one(deadline="2040-01-01T00:00Z"),
        one(deadline_s=5.0),
        one(application={"name": "z"}),
        BatchRequest(executions=[one()]),
        BatchRequest(executions=[one(), one()]),
        BatchRequest(executions=[one(hold=True)]),
    ]
    assert len({submissions._fingerprint(body) for body in bodies}) == len(bodies)
    assert len({submissions._fingerprint(one()) for _ in range(2)}) == 1


def test_fields_that_were_added_later_count_only_if_they_are_given() -> None:
    defaults: dict[str, Any] = {
        "hold": False,
        "begin_at_s": None,
        "begin_in_s": None,
        "after": [],
        "keep": False,
        "deadline": None,
    }
    assert submissions._fingerprint(one(**defaults)) == submissions._fingerprint(one())
    batch = BatchRequest(executions=[one(**defaults)])
    assert submissions._fingerprint(batch) == submissions._fingerprint(BatchRequest(executions=[one()]))


@pytest.mark.parametrize(
    ("prefer", "minimal"),
    [
        (None, False),
        ("", False),
        ("return=minimal", True),
        ('respond-async, Return = "minimal"; x=y', True),
        ("return=representation", False),
        ("return=minimal2", False),
    ],
)
def test_a_client_may_want_no_representation(prefer: str | None, minimal: bool) -> None:
    answer = Response()
    assert submissions._minimal(prefer, answer) is minimal
    assert answer.headers.get("preference-applied") == ("return=minimal" if minimal else None)


def test_the_refusal_of_a_batch_names_each_execution() -> None:
    faults = [Diagnostic(pointer="/application/name", code="missing", message="m")]
    first = SubmissionRefused("invalid_description", "bad", "hint", faults)
    second, third = SubmissionRefused("quota_exceeded", "", "wait"), SubmissionRefused("never_fits", "too large")
    found = submissions._batch_refusal([(0, first), (3, second), (4, third)])
    assert (found.code, found.hint) == ("invalid_description", "hint")
    assert found.detail == "none of the batch was accepted, because 3 of its executions cannot be"
    assert [(e.pointer, e.code, e.message, e.hint) for e in found.errors] == [
        ("/executions/0/application/name", "missing", "m", ""),
        ("/executions/3", "quota_exceeded", PROBLEMS[Code.QUOTA_EXCEEDED][1], "wait"),
        ("/executions/4", "never_fits", "too large", ""),
    ]


def test_each_description_of_a_batch_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def checked(document: Any, *_: Any) -> Checked:
        asked.append(document)
        if document["name"] == "bad":
            raise SubmissionRefused("never_fits")
        return Checked(application(), 0, ())

    monkeypatch.setattr(submissions, "check_description", checked)
    bodies = [one(), one(), one(priority=1), one(name="other")]
    assert len(submissions._all_checked(bodies, caller_of(services(), person()), None)) == 4
    assert len(asked) == 2
    bad = one(application={"name": "bad"})
    with refusal(Code.NEVER_FITS) as found:
        submissions._all_checked([one(), bad, bad], caller_of(services(), person()), None)
    assert [e.pointer for e in found.problem.errors] == ["/executions/1", "/executions/2"]


def test_an_execution_is_made_of_what_was_checked() -> None:
    fit = Checked(application(default_deadline_s=60.0), 4, ("note",))
    made = submissions._execution("e", one(), fit, NO_CONDITIONS, person())
    assert (made.id, made.name, made.tenant, made.user, made.priority) == ("e", "sums", "iostack", "ada", 4)
    assert made.notes[0] == "note"
    assert made.deadline_s == pytest.approx(time.time() + 60, abs=30)
    given = submissions._execution("e", one(name="mine", deadline_s=5.0), fit, Conditions(begin_at_s=1.0), person())
    assert (given.name, given.conditions.begin_at_s) == ("mine", 1.0)
    assert given.deadline_s == pytest.approx(time.time() + 5, abs=3)


def test_a_key_of_another_user_is_a_conflict() -> None:
    submissions._check_own(person(), [execution(1), execution(2)])
    with pytest.raises(IdempotencyConflict):
        submissions._check_own(person(), [execution(1), execution(2, user=PEER)])


def test_warnings_and_prices_are_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "price_notes", lambda *_: ["price"])
    fit = submissions._with_price(Checked(application(), 0, ("note",)), ("warning",), caller_of(services(), person()))
    assert fit.notes == ("note", "warning", "price")
