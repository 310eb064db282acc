"""Refusals as responses: statuses, headers, limits, and the visible part of an error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from tests.support.applications import execution
from tests.support.plain_api import request, run
from zoe_api.http.problems import problems
from zoe_api.http.problems.codes import PROBLEMS, Code
from zoe_api.http.problems.problems import ApiProblem, from_master, problem, problem_response
from zoe_client.documents.diagnostics import DescriptionError
from zoe_client.documents.diagnostics import Diagnostic as Fault
from zoe_client.wire import Diagnostic
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.lifecycle.lifecycle import IllegalTransition
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable
from zoe_lib.store import errors
from zoe_lib.submission.refusal import SubmissionRefused

REFERENCE = Path(__file__).parents[5] / "docs/reference/errors.md"


def headers_of(found: Any) -> dict[str, str]:
    return dict(problem_response(found).headers)


def body_of(response: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(response.body)
    return document


def test_each_code_has_the_status_that_the_reference_names() -> None:
    told = re.findall(r"^\| `(\w+)` \| (\d{3}) \|", REFERENCE.read_text(), re.MULTILINE)
    assert {name: int(status) for name, status in told} == {code: status for code, (status, _) in PROBLEMS.items()}


def test_a_problem_names_its_code_and_its_path() -> None:
    found = ApiProblem(Code.CONFLICT, "why", "what helps").for_path("/here")
    assert (found.type, found.status, found.code) == ("urn:zoe:problem:conflict", 409, "conflict")
    assert (found.detail, found.hint, found.instance) == ("why", "what helps", "/here")
    assert found.title == PROBLEMS[Code.CONFLICT][1]
    assert str(ApiProblem(Code.CONFLICT, "why")) == "conflict: why"
    assert problem(Code.CONFLICT, path="/there").instance == "/there"


def test_at_most_a_hundred_errors_are_told() -> None:
    errors_ = [Diagnostic(pointer=f"/{n}", code="c", message="m") for n in range(101)]
    assert [error.pointer for error in problem(Code.CONFLICT, errors=errors_).errors] == [f"/{n}" for n in range(100)]


@pytest.mark.parametrize(
    ("code", "after"),
    [
        (Code.CONFLICT, None),
        (Code.QUOTA_EXCEEDED, None),
        (Code.PLAN_BUSY, "1"),
        (Code.REPLAY_BUSY, "5"),
        (Code.LOGS_BUSY, "1"),
        (Code.TERMINALS_BUSY, "1"),
        (Code.CHECK_BUSY, "1"),
        (Code.FILES_BUSY, "1"),
        (Code.SIGN_IN_BUSY, "1"),
        (Code.TOO_MANY_STREAMS, "10"),
        (Code.QUEUE_TOO_LONG, "60"),
        (Code.DATABASE_UNAVAILABLE, "1"),
        (Code.MASTER_UNREACHABLE, "1"),
    ],
)
def test_a_client_hears_when_to_try_again(code: Code, after: str | None) -> None:
    assert headers_of(problem(code)).get("retry-after") == after
    assert headers_of(problem(code).with_retry_after(7.0))["retry-after"] == "7"


def test_each_refusal_that_ends_with_time_says_when() -> None:
    """Limits on numbers end when their user ends something; other limits are explained where they are counted
    (`after`).
    """
    by_number = {Code.QUOTA_EXCEEDED, Code.TOO_MANY_UPLOADS}
    counted = {Code.TOO_MANY_SIGN_INS, Code.JOB_CALLS_TOO_OFTEN, Code.JOB_SUBMITS_TOO_OFTEN}
    silent = {
        code
        for code, (status, _) in PROBLEMS.items()
        if status == 429 and "retry-after" not in headers_of(problem(code))
    }
    assert silent == by_number | counted


def test_answers_are_never_kept_and_only_unknown_clients_are_asked_to_sign_in() -> None:
    told = headers_of(problem(Code.BAD_TOKEN))
    assert told["content-type"] == "application/problem+json"
    assert (told["cache-control"], told["x-content-type-options"]) == ("no-store", "nosniff")
    assert told["www-authenticate"] == "Bearer"
    assert "www-authenticate" not in headers_of(problem(Code.NOT_ADMIN))


def test_text_that_is_invalid_in_utf_8_does_not_break_the_answer() -> None:
    response = problem_response(problem(Code.CONFLICT, "half \ud800 é"))
    assert body_of(response)["detail"] == "half ? é"
    assert response.status_code == 409


def test_a_raw_answer_ends_the_connection() -> None:
    head, _, body = problems.raw_response(problem(Code.TOO_SLOW)).partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"HTTP/1.1 408 Request Timeout"
    assert b"connection: close" in lines
    assert f"content-length: {len(body)}".encode() in lines
    assert json.loads(body)["code"] == "too_slow"


def test_a_refusal_before_the_body_was_read_ends_the_connection() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    run(problems.refuse_unread(problem(Code.TOO_LARGE), {"type": "http"}, None, send))
    assert sent[0]["status"] == 413
    assert (b"connection", b"close") in sent[0]["headers"]


def installed() -> FastAPI:
    app = FastAPI()
    problems.install(app)
    return app


APP = installed()


def answer_to(error: Exception, asked: Any = None) -> Any:
    kinds = type(error).__mro__
    handler: Any = next(APP.exception_handlers[kind] for kind in kinds if kind in APP.exception_handlers)
    asked = asked or request(path="/asked")
    asked.scope["app"] = APP
    return run(handler(asked, error))


ILLEGAL = IllegalTransition(execution(1), ev.Running(at_s=1.0), "it is so")


@pytest.mark.parametrize(
    ("error", "code", "detail"),
    [
        (errors.NotFound("no x"), Code.NOT_FOUND, "no x"),
        (errors.ConcurrentUpdate("it changed"), Code.CONFLICT, "it changed"),
        (errors.NameTaken("user ada already exists"), Code.NAME_TAKEN, "user ada already exists"),
        (errors.AlreadyMade("made"), Code.CONFLICT, "made"),
        (errors.TooManyStored("many"), Code.TOO_MANY_STORED, "many"),
        (ILLEGAL, Code.ILLEGAL_STATE, ""),
        (errors.IdempotencyConflict("key"), Code.IDEMPOTENCY_CONFLICT, "key"),
        (errors.InvalidCursor("x"), Code.INVALID_CURSOR, "not a cursor of this list: 'x'"),
        (errors.PriceListRefused("p"), Code.PRICE_LIST_REFUSED, "p"),
        (errors.StatementRefused("s"), Code.STATEMENT_REFUSED, "s"),
        (errors.QuotaExceeded("red", 1), Code.QUOTA_EXCEEDED, None),
        (errors.TooManyArrays("red", 1), Code.QUOTA_EXCEEDED, None),
        (errors.Unstorable("nul"), Code.UNSTORABLE, "nul"),
        (errors.StoreUnavailable("10.0.0.1 refused"), Code.DATABASE_UNAVAILABLE, ""),
        (MasterUnreachable("away"), Code.MASTER_UNREACHABLE, "away"),
        (errors.TimeLimitTooLong("long"), Code.TIME_LIMIT_TOO_LONG, "long"),
        (ApiProblem(Code.NOT_ADMIN, "no"), Code.NOT_ADMIN, "no"),
    ],
)
def test_each_error_of_the_store_has_its_answer(error: Exception, code: Code, detail: str | None) -> None:
    response = answer_to(error)
    told = body_of(response)
    assert (told["code"], told["status"], told["instance"]) == (code, response.status_code, "/asked")
    assert detail is None or told["detail"] == detail
    assert bool(told["hint"]) == (code in (Code.MASTER_UNREACHABLE, Code.TIME_LIMIT_TOO_LONG))


def test_a_long_message_is_cut() -> None:
    assert body_of(answer_to(errors.NotFound("x" * 1001)))["detail"] == "x" * 1000


@pytest.mark.parametrize(("code", "noted"), [(Code.BAD_TOKEN, "bad_token"), (Code.NOT_ADMIN, None)])
def test_refusals_of_unknown_clients_are_noted_for_the_audit_log(code: Code, noted: str | None) -> None:
    asked = request()
    answer_to(ApiProblem(code), asked)
    assert asked.scope["state"].get("refused") == noted


def test_each_fault_of_a_request_is_told_with_its_place() -> None:
    faults = [
        {"type": "missing", "loc": ("body", "a/b~c", 0), "msg": "Field required", "input": None},
        *({"type": "missing", "loc": ("query", n), "msg": "Field required", "input": None} for n in range(100)),
    ]
    told = body_of(answer_to(RequestValidationError(faults)))
    assert told["code"] == "invalid_request"
    assert told["errors"][0]["pointer"] == "/body/a~1b~0c/0"
    assert told["errors"][0]["code"] == "missing"
    assert len(told["errors"]) == 100
    assert "101" in told["detail"]


def test_a_long_place_is_cut() -> None:
    faults = [{"type": "t" * 10, "loc": ("x" * 2000,), "msg": "m" * 2000, "input": None}]
    (one,) = body_of(answer_to(RequestValidationError(faults)))["errors"]
    assert (len(one["pointer"]), len(one["message"])) == (1000, 1000)


@pytest.mark.parametrize(("status", "code"), [(404, "no_such_route"), (418, "http_error"), (400, "http_error")])
def test_refusals_of_the_framework_keep_their_status_and_headers(status: int, code: str) -> None:
    response = answer_to(HTTPException(status, "teapot", {"X-Tea": "green"}))
    told = body_of(response)
    assert (response.status_code, told["status"], told["code"], told["detail"]) == (status, status, code, "teapot")
    assert response.headers["x-tea"] == "green"


def test_a_wrong_method_hears_all_that_the_path_knows() -> None:
    app = FastAPI()
    app.get("/asked")(lambda: None)
    app.delete("/asked")(lambda: None)
    app.put("/other")(lambda: None)
    asked = request("POST", path="/asked")
    asked.scope["app"] = app
    response = run(problems._http(asked, HTTPException(405)))
    assert response.headers["allow"] == "DELETE, GET"
    assert body_of(response)["code"] == "method_not_allowed"


@pytest.mark.parametrize(
    ("code", "told", "detail", "hinted"),
    [
        ("not_found", Code.NOT_FOUND, "why", False),
        ("no_logs", Code.NO_LOGS, "why", False),
        ("no_terminal", Code.NO_TERMINAL, "why", False),
        ("plan_busy", Code.PLAN_BUSY, "why", True),
        ("files_busy", Code.FILES_BUSY, "why", False),
        ("queue_too_long", Code.QUEUE_TOO_LONG, "why", True),
        ("conflict", Code.MASTER_REFUSED, "conflict: why", False),
        ("anything", Code.MASTER_REFUSED, "anything: why", False),
    ],
)
def test_a_refusal_of_the_master_is_passed_on_if_it_is_one_of_its_own(
    code: str, told: Code, detail: str, hinted: bool
) -> None:
    found = from_master(MasterRefused(code, "why")).problem
    assert (found.code, found.detail, bool(found.hint)) == (told, detail, hinted)


def test_refusals_of_submissions_become_answers() -> None:
    fault = Diagnostic(pointer="/a", code="c", message="m")
    response = answer_to(SubmissionRefused("never_fits", "why", "hint", [fault]))
    told = body_of(response)
    assert (response.status_code, told["code"], told["instance"]) == (422, "never_fits", "/asked")
    assert (told["detail"], told["hint"], told["errors"]) == ("why", "hint", [fault.model_dump()])


def test_the_refusal_of_a_description_has_all_that_is_wrong_with_it() -> None:
    faults = [Fault("/a", "missing", "first"), Fault("/b", "unknown", "second", "hint")]
    found = problems.from_description(DescriptionError(faults)).problem
    assert (found.code, found.status) == ("invalid_description", 422)
    assert [(error.pointer, error.code, error.hint) for error in found.errors] == [
        ("/a", "missing", ""),
        ("/b", "unknown", "hint"),
    ]
