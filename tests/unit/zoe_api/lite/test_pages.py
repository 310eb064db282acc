"""Pages without scripts: who sees and changes what, and what errors say."""

from __future__ import annotations

import time
from typing import Any

import pytest
from starlette.responses import Response

from tests.support.applications import execution
from tests.support.plain_api import PEER, TENANT, USER, after, operator, person, request, services
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.lite import pages
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.deadline_misses import miss_of
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.messaging.client import MasterUnreachable
from zoe_lib.store.errors import NotFound, StoreUnavailable
from zoe_lib.store.people import Session
from zoe_lib.submission.ids import hash_of

COOKIE = "a" * 43
QUEUED = after(execution(1, name="first"), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0))
ENDED = execution(2, name="second", state=ExecutionState.FAILED)
OTHER = execution(3, name="third", user=PEER)


def there(role: str = "user") -> Any:
    made = services(QUEUED, ENDED, OTHER)
    made.accounts.add_member(USER, role=role)
    made.accounts.add_session(Session(hash_of(COOKIE), USER, TENANT, 0.0, time.time() + 60, hash_of("proof")))
    return made


def answer(made: Any, page: Any, query: str = "", proof: str = "proof", cookie: str = COOKIE, **params: str) -> Any:
    asked = request("POST", "/lite/", {"cookie": f"zoe-session={cookie}"}, query=query)
    asked.scope["path_params"] = params
    return pages._answer(made, page, asked, {"csrf": proof})


def text(response: Response) -> str:
    return bytes(response.body).decode()


def test_a_page_lists_what_has_not_ended_and_is_not_kept() -> None:
    page = answer(there(), pages._executions)
    assert page.status_code == 200
    assert "first" in text(page)
    assert "second" not in text(page)
    assert "third" not in text(page)
    assert page.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "second" in text(answer(there(), pages._executions, "ended=1"))


def test_only_operators_see_all_and_their_look_is_recorded() -> None:
    assert "third" not in text(answer(there(), pages._executions, "all=1"))
    made = there("operator")
    assert "third" in text(answer(made, pages._executions, "all=1"))
    assert [one.action for one in made.accounts.entries] == ["look"]


def test_without_the_proof_a_page_only_reads() -> None:
    assert 'value="proof"' in text(answer(there(), pages._executions))
    read_only = text(answer(there(), pages._executions, proof=""))
    assert 'value="proof"' not in read_only
    assert f"{QUEUED.id}/cancel" not in read_only
    made = there()
    assert answer(made, pages._cancel, proof="", execution_id=QUEUED.id).status_code == 403
    assert made.store.execution(QUEUED.id).state is ExecutionState.QUEUED
    assert [one.action for one in made.accounts.entries] == ["lite_cancel"]


def test_an_execution_is_cancelled_and_the_page_shown_again() -> None:
    made = there()
    page = answer(made, pages._cancel, execution_id=QUEUED.id)
    assert page.status_code == 200
    assert made.store.execution(QUEUED.id).state is ExecutionState.CANCELLED
    assert answer(there("viewer"), pages._cancel, execution_id=QUEUED.id).status_code == 403
    assert answer(there(), pages._cancel, execution_id="nothing").status_code == 404


@pytest.mark.parametrize(("offer", "status"), [("1", 409), ("1234", 409), ("x", 409)])
def test_what_is_not_offered_is_not_accepted(offer: str, status: int) -> None:
    assert answer(there(), pages._accept, execution_id=QUEUED.id, offer=offer).status_code == status


def test_to_sign_out_ends_the_session() -> None:
    made = there()
    page = answer(made, pages._sign_out)
    assert (page.status_code, page.headers["location"], made.accounts.browsers) == (303, "/lite/", {})


def test_who_is_not_signed_in_gets_the_page_to_sign_in() -> None:
    fresh = pages._answer(there(), pages._executions, request("GET", "/lite/"), {})
    assert (fresh.status_code, 'action="/lite/sign-in"' in text(fresh)) == (200, True)
    ended = answer(there(), pages._executions, cookie="b" * 43)
    assert ended.status_code == 401
    assert "The session has ended" in text(ended)


@pytest.mark.parametrize(
    ("error", "status", "signing"),
    [
        (ApiProblem(Code.TOO_MANY_SIGN_INS), 429, True),
        (ApiProblem(Code.SIGN_IN_BUSY), 429, True),
        (ApiProblem(Code.NO_MEMBERSHIP), 403, True),
        (ApiProblem(Code.BAD_SIGN_IN), 401, True),
        (ApiProblem(Code.CONFLICT, "why"), 409, False),
        (StoreUnavailable("10.0.0.1"), 503, False),
        (MasterUnreachable("away"), 503, False),
        (NotFound("x"), 404, False),
    ],
)
def test_errors_are_pages(error: Exception, status: int, signing: bool) -> None:
    page = pages._told(there(), error)
    assert page.status_code == status
    assert ("sign-in" in text(page)) is signing
    assert "10.0.0.1" not in text(page)


@pytest.mark.parametrize(
    ("principal", "state", "level", "can"),
    [
        (person(), "queued", ShareLevel.CONTROL, True),
        (person(), "running", ShareLevel.CONTROL, True),
        (person(), "stopping", ShareLevel.CONTROL, False),
        (person(), "failed", ShareLevel.CONTROL, False),
        (person(), "queued", ShareLevel.OPEN, False),
        (person(role="viewer"), "queued", ShareLevel.CONTROL, False),
        (operator(), "queued", ShareLevel.CONTROL, True),
    ],
)
def test_what_can_be_changed_has_a_button(principal: Any, state: str, level: ShareLevel, can: bool) -> None:
    one = execution(1, state=ExecutionState(state))
    assert pages._can_change(principal, one, {one.id: level}) is can


def test_a_deadline_is_told_with_how_it_stands() -> None:
    assert pages._deadline(execution(1)) == ""
    assert pages._deadline(execution(1, deadline_s=1e9)).startswith("2001-09-09 01:46:40 UTC")
    late = after(execution(1, deadline_s=5.0), ev.Submitted(at_s=1.0), ev.Queued(at_s=1.0))
    missed = after(late, ev.DeadlineMissed(at_s=6.0, miss=miss_of(late, 5.0)))
    assert pages._deadline(missed).startswith("1970-01-01 00:00:05 UTC, missed (")
