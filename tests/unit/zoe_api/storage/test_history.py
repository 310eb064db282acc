"""The object store's side of executions, from reports of uses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.plain_api import (
    ELSEWHERE,
    PEER,
    TENANT,
    USER,
    StorageAnswers,
    caller_of,
    operator,
    person,
    refusal,
    request,
    services,
)
from zoe_api.http.problems.codes import Code
from zoe_api.storage import history as storage_history
from zoe_client.wire import ExecutionUsesView
from zoe_lib.domain.executions.execution import Mark
from zoe_lib.store.people import Principal

PLACED = execution(1, marks={Mark.PLACED: 500.0, Mark.ENDED: 900.0})


def use(subject: str, done: int = 1, refused: int = 0, read: int = 0, written: int = 0) -> dict[str, Any]:
    return {"subject": subject, "done": done, "refused": refused, "read_bytes": read, "written_bytes": written}


USES = [
    use("request/GET/data/a", 3, 1, 100, 0),
    use("request/PUT/", 2, 0, 0, 50),
    use("cpu/GET/data/a", 1_500_000),
    use("rule/7/cache/get", 4, 2),
    use("rule/3/zip/put", 1),
    use("limit/get", 5),
]
ANSWER = ExecutionUsesView.model_validate(
    {"uses": USES, "points": [{"at_s": 500.0, "read_bytes": 1, "written_bytes": 2}]}
)


def test_uses_are_requests_rules_and_cpu_seconds() -> None:
    told = storage_history._view(PLACED, ANSWER, 30.0)
    first, second = told.requests
    assert (first.method, first.container, first.done, first.refused, first.read_bytes) == ("GET", "data/a", 3, 1, 100)
    assert (first.cpu_s, second.cpu_s, second.container, second.written_bytes) == (1.5, 0.0, "", 50)
    assert [(rule.rule, rule.filter, rule.way, rule.requests) for rule in told.rules] == [
        (None, "BANDWIDTH", "read", 5),
        (3, "zip", "write", 1),
        (7, "cache", "read", 6),
    ]
    assert (told.placed_s, told.ended_s, told.stretch_s, told.points[0].written_bytes) == (500.0, 900.0, 30.0, 2)
    assert (told.execution_id, told.tenant, told.user) == (PLACED.id, TENANT, USER)


@pytest.mark.parametrize(
    ("from_s", "to_s", "asked"),
    [
        (500.0, 900.0, {"from_s": 470.0, "to_s": 900.0, "stretch_s": 30.0}),
        (10.0, 12010.0, {"from_s": 0.0, "to_s": 12010.0, "stretch_s": 100.0}),
        (900.0, 500.0, {"from_s": 870.0, "to_s": 500.0, "stretch_s": 30.0}),
    ],
)
def test_a_span_begins_one_stretch_earlier(from_s: float, to_s: float, asked: dict[str, float]) -> None:
    assert storage_history._span(from_s, to_s) == asked


def test_of_an_execution_its_own_time_is_asked() -> None:
    controller: Any = StorageAnswers(executions={PLACED.id: ANSWER}, stretch_s=30.0)
    told = storage_history.storage_of_execution(PLACED.id, caller_of(services(PLACED), person(), request()), controller)
    assert told.execution_id == PLACED.id
    span = {"from_s": 470.0, "to_s": 900.0, "stretch_s": 30.0}
    assert controller.asked == [("GET", "/v1/owners/zoe/history", {"execution": PLACED.id, **span})]


EMPTY: dict[str, Any] = {"uses": [], "points": []}


def history(principal: Principal, tenant: str | None = None) -> tuple[Any, Any]:
    stored = [
        execution(1, marks={Mark.PLACED: 9.0}),
        execution(2, marks={Mark.PLACED: 8.0}),
        execution(3, user=PEER),
        execution(4),
    ]
    names = [execution.id for execution in stored] + ["gone"]
    controller: Any = StorageAnswers(executions=dict.fromkeys(names, EMPTY), stretch_s=30.0)
    told = storage_history.storage_history(caller_of(services(*stored), principal), controller, 0.0, 60.0, tenant)
    return told, controller.asked[0][2]


def test_users_see_their_own_in_the_order_of_their_beginning() -> None:
    told, asked = history(person())
    assert [execution.execution_id[-1] for execution in told.executions] == ["4", "2", "1"]
    assert (told.tenant, asked["tenant"]) == (TENANT, TENANT)
    assert [execution.execution_id[-1] for execution in history(operator())[0].executions] == ["3", "4", "2", "1"]
    assert history(operator(), ELSEWHERE)[1]["tenant"] == ELSEWHERE
    with refusal(Code.ROLE_MISSING):
        history(person(), ELSEWHERE)
