"""Lists, explanations and expected starts: responses with and without the master."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from fastapi import Response

from tests.support.applications import application, component, execution
from tests.support.plain_api import (
    ELSEWHERE,
    PEER,
    TENANT,
    Master,
    after,
    caller_of,
    operator,
    person,
    refusal,
    request,
    services,
)
from tests.support.scheduling import node, started
from zoe_api.executions import executions
from zoe_api.http.problems.codes import Code
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.values.conditions import Conditions
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.progress import ExecutionProgress, ProgressProbe, ProgressReading
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.messaging.client import MasterUnreachable

FRESH = after(execution(1), ev.Submitted(at_s=1.0))
QUEUED = after(FRESH, ev.Queued(at_s=1.0))
STARTING = started(QUEUED, "n1", "n1", "n1", "n1")
AWAY = MasterUnreachable("away")
ADA = person()


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executions, "_missing_secrets", lambda *_: "no secret")


def there(*stored: Any, **answers: Any) -> Any:
    made = services(*stored, master=Master(**answers), api_page_max=3)
    made.store.transfers_so_far = lambda _: None
    return made


# -- lists -------------------------------------------------------------------------------------------------------------
def listed(principal: Any, made: Any = None, **given: Any) -> list[str]:
    everything = (QUEUED, execution(2, user=PEER), execution(3, tenant=ELSEWHERE), execution(4))
    made = made or there(*everything)
    told = executions.list_executions(caller_of(made, principal, request()), **{"limit": 50, **given})
    return [execution.id.removeprefix("execution-000") for execution in told.executions]


def test_users_list_their_own_and_operators_the_tenant_or_all() -> None:
    assert listed(ADA) == ["4", "1"]
    assert listed(operator()) == ["4", "2", "1"]
    with refusal(Code.ROLE_MISSING):
        listed(ADA, all_tenants=True)
    assert listed(operator(), all_tenants=True) == ["4", "3", "2"]
    assert listed(ADA, limit=1) == ["4"]


def test_the_look_of_an_operator_is_recorded() -> None:
    made = there(QUEUED)
    listed(ADA, made)
    assert made.accounts.entries == []
    listed(operator(), made)
    assert [entry.target for entry in made.accounts.entries] == ["/api/v1/executions"]


def test_a_list_is_restricted() -> None:
    assert listed(ADA, ids=["execution-0001"]) == ["1"]
    assert listed(ADA, state=["queued"]) == ["1"]
    assert listed(ADA, name="SUMS 4") == ["4"]
    assert listed(operator(), user=PEER) == ["2"]
    assert listed(ADA, submitted_from_s=2.0) == ["4"]


# -- progress ----------------------------------------------------------------------------------------------------------
TELLING = application(component("main", progress=ProgressProbe(file="p")))


def progress_of(state: str, attempt: int = 1, telling: bool = True) -> bool:
    one = replace(execution(1, application=TELLING if telling else application()), state=state, attempt=2)
    made = there(one)
    made.store.set_progress([ExecutionProgress(one.id, attempt, 1.0, (ProgressReading(1.0, 0.5),))])
    return one.id in executions._progress(made, [one])


@pytest.mark.parametrize(
    ("state", "attempt", "telling", "told"),
    [
        ("running", 2, True, True),
        ("stopping", 2, True, True),
        ("starting", 2, True, False),
        ("succeeded", 2, True, False),
        ("running", 1, True, False),
        ("running", 2, False, False),
    ],
)
def test_progress_is_of_the_present_attempt_of_what_runs(state: str, attempt: int, telling: bool, told: bool) -> None:
    assert progress_of(ExecutionState(state), attempt, telling) is told


# -- show --------------------------------------------------------------------------------------------------------------
def test_one_that_is_shared_is_shown_without_values() -> None:
    made = there(QUEUED)
    made.accounts.shared[QUEUED.id, TENANT, PEER] = ShareLevel.OPEN
    own = executions.show_execution(QUEUED.id, caller_of(made, ADA, request()), Response())
    shared = executions.show_execution(QUEUED.id, caller_of(made, person(PEER), request()), Response())
    assert own.description["components"][0]["environment"] == {"KEY": "value"}
    assert shared.description["components"][0]["environment"] == {"KEY": ""}
    assert (own.access, shared.access) == ("control", "open")


# -- explain -----------------------------------------------------------------------------------------------------------
REASON = {"code": "no_resources", "sentence": "no room", "counts": {}, "hint": ""}


def explained(one: Any, answer: Any = AWAY, principal: Any = ADA, *more: Any) -> Any:
    made = there(one, *more, explain=answer)
    made.store._state.platform = [node("n1", ready=False, message="10.0.0.1 is away")]
    return executions.explain_execution(one.id, caller_of(made, principal, request()))


def test_without_the_master_what_is_stored_is_told() -> None:
    told = explained(QUEUED)
    assert (told.reason, told.detailed, told.missing_secrets) == (None, False, "no secret")
    stored = replace(QUEUED, reason=Reason(ReasonCode.NO_RESOURCES, "no room"))
    assert explained(stored).reason.sentence == "no room"


def test_conditions_are_explained_without_the_master() -> None:
    told = explained(replace(FRESH, conditions=Conditions(begin_at_s=1e12)), {})
    assert (told.reason.code, told.detailed) == ("begin_time", True)


def test_the_master_names_those_ahead_but_users_see_their_own_only() -> None:
    more = [execution(n, user="ada" if n % 2 else PEER) for n in range(2, 30)]
    answer = {
        "reason": REASON,
        "ahead": 5,
        "ahead_ids": [execution.id for execution in more],
        "nodes": {"n1": {"worker": "full"}},
    }
    told = explained(QUEUED, lambda _: dict(answer), ADA, *more)
    assert told.ahead_ids == [f"execution-{n:04}" for n in range(3, 23, 2)]
    assert told.nodes == {"n1": {"worker": "full"}}
    whole = explained(QUEUED, lambda _: dict(answer), operator(), *more)
    assert len(whole.ahead_ids) == 10
    assert whole.nodes == {"n1": {"worker": "full: 10.0.0.1 is away"}}


def test_starting_execution_waits_for_nodes_or_a_credential() -> None:
    service = STARTING.services[0]
    one = after(STARTING, ev.ServiceStarting(at_s=2.0, service_id=service.id))
    told = explained(one)
    assert (told.reason, told.detailed) == (None, True)
    assert told.nodes == {"n1": {service.component: "the node is not ready"}}
    credential = {**REASON, "code": "credential", "sentence": "the store is asked"}
    assert explained(one, {"reason": credential}).reason.sentence == "the store is asked"
    assert explained(one, {"reason": REASON}).reason is None
    assert explained(one, {"reason": None}).reason is None
    running = replace(one, state=ExecutionState.RUNNING)
    assert explained(running, {"reason": credential}).reason is None


# -- eta ---------------------------------------------------------------------------------------------------------------
def eta(one: Any, answer: Any = AWAY) -> Any:
    return executions.execution_eta(one.id, caller_of(there(one, eta=answer), ADA, request()))


def test_only_what_waits_is_expected_to_start() -> None:
    told = eta(STARTING, {"forecast": None})
    assert (told.state, told.forecast) == ("starting", None)


def test_the_stored_forecast_is_told_while_the_master_is_away() -> None:
    assert eta(QUEUED).forecast is None
    now_s = time.time()
    told = eta(replace(QUEUED, forecast=Forecast(now_s - 60, 5.0, None)))
    assert told.forecast.wait_s == 5.0
    assert told.forecast_age_s == pytest.approx(60, abs=10)
    early = eta(replace(QUEUED, forecast=Forecast(now_s + 60, 5.0, None)))
    assert early.forecast_age_s == 0
