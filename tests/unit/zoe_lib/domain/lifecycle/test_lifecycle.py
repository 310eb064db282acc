"""Transitions follow the tables: allowed events are applied, all others are refused with the story."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.scheduling import component, queued, started
from zoe_client.vocabulary import DeadlineCause, Holder, PromiseRisk
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import (
    TERMINAL_STATES,
    Cause,
    Execution,
    ExecutionState,
    Mark,
    Outcome,
    ServiceState,
    service_id,
)
from zoe_lib.domain.lifecycle import lifecycle
from zoe_lib.domain.lifecycle.lifecycle import (
    EXECUTION_TRANSITIONS,
    SERVICE_TRANSITIONS,
    IllegalTransition,
    apply,
    state_summary,
)
from zoe_lib.domain.values.deadlines import DeadlineMiss
from zoe_lib.domain.values.finish_times import FinishTerms, PromiseNotice, PromiseOffers
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.owners import FormerUser
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.storage import InputRead
from zoe_lib.domain.values.transfers import StoreTransfers

SERVICE = service_id("x", "c", 0, 1)
TERMS = FinishTerms(finish_s=9.0, confidence=0.9, elastic=0, run_s=5.0, begin_by_s=3.0)
REQUESTED = ev.Requested.of_execution(queued("x"))
SAMPLES: dict[type[ev.Event], ev.Event] = {
    ev.Submitted: ev.Submitted(at_s=1.0),
    ev.Queued: ev.Queued(at_s=1.0),
    ev.Held: ev.Held(at_s=1.0, by=Holder.USER),
    ev.Released: ev.Released(at_s=1.0),
    ev.DependencyEnded: ev.DependencyEnded(at_s=1.0, on="other", state=ExecutionState.FAILED),
    ev.Scaled: ev.Scaled(at_s=1.0, before={"c": 1}, total_counts={"c": 2}),
    ev.Modified: ev.Modified(at_s=1.0, before=REQUESTED, after=REQUESTED),
    ev.Promised: ev.Promised(at_s=1.0, terms=TERMS),
    ev.PromiseOffered: ev.PromiseOffered(at_s=1.0, offers=PromiseOffers("no room", 2.0)),
    ev.PromiseAdjusted: ev.PromiseAdjusted(at_s=1.0, elastic=0),
    ev.PromiseAtRisk: ev.PromiseAtRisk(at_s=1.0, notice=PromiseNotice(PromiseRisk.SLOWER, 9.0, 1.0)),
    ev.ReasonChanged: ev.ReasonChanged(at_s=1.0, reason=Reason(ReasonCode.NO_NODES, "none")),
    ev.StartPlanned: ev.StartPlanned(at_s=1.0, placements=(ev.Placement(service_id=SERVICE, node="n"),)),
    ev.StorageGranted: ev.StorageGranted(at_s=1.0),
    ev.StorageRefused: ev.StorageRefused(at_s=1.0, why="unknown tenant"),
    ev.StorageDeclined: ev.StorageDeclined(at_s=1.0, why="unknown tenant"),
    ev.StorageWithdrawn: ev.StorageWithdrawn(at_s=1.0, why="promised to others"),
    ev.TenantCredentialUsed: ev.TenantCredentialUsed(at_s=1.0),
    ev.AttemptOpened: ev.AttemptOpened(at_s=1.0, prologue=True, epilogue=True),
    ev.PrologueEnded: ev.PrologueEnded(at_s=1.0, exit_code=0),
    ev.EpilogueEnded: ev.EpilogueEnded(at_s=1.0, exit_code=0),
    ev.StorageTransferred: ev.StorageTransferred(at_s=1.0, attempt=1, transfers=StoreTransfers(4, 100, 10, 1.5, 2.5)),
    ev.InputsDecided: ev.InputsDecided(at_s=1.0, inputs=(InputRead("readings", "swift2d://meters.zoe/2015"),)),
    ev.ElasticPlaced: ev.ElasticPlaced(at_s=1.0, placements=()),
    ev.ServiceStarting: ev.ServiceStarting(at_s=1.0, service_id=SERVICE),
    ev.ServiceStarted: ev.ServiceStarted(at_s=1.0, service_id=SERVICE),
    ev.ServiceReady: ev.ServiceReady(at_s=1.0, service_id=SERVICE),
    ev.ServiceStopping: ev.ServiceStopping(at_s=1.0, service_id=SERVICE, cause=Cause.STOPPED),
    ev.ServiceEnded: ev.ServiceEnded(at_s=1.0, service_id=SERVICE, cause=Cause.EXITED, exit_code=0),
    ev.ServiceLost: ev.ServiceLost(at_s=1.0, service_id=SERVICE),
    ev.ServiceRetried: ev.ServiceRetried(at_s=1.0, service_id=SERVICE, not_before_s=2.0),
    ev.Running: ev.Running(at_s=1.0),
    ev.DeadlineMissed: ev.DeadlineMissed(
        at_s=1.0, miss=DeadlineMiss(1.0, DeadlineCause.QUEUE, {DeadlineCause.QUEUE: 1.0})
    ),
    ev.ScalingBlind: ev.ScalingBlind(at_s=1.0, why="worker: no answer"),
    ev.IdleWarned: ev.IdleWarned(at_s=1.0, used_at_s=0.5, ends_at_s=2.0),
    ev.Stopping: ev.Stopping(at_s=1.0, outcome=Outcome.FAILED, cause=Cause.EXITED),
    ev.Ended: ev.Ended(at_s=1.0),
    ev.Forecasted: ev.Forecasted(at_s=1.0, forecast=Forecast(1.0, 5.0, 10.0)),
    ev.Requeued: ev.Requeued(at_s=1.0),
    ev.Refused: ev.Refused(at_s=1.0, outcome=Outcome.CANCELLED, cause=Cause.CANCELLED),
    ev.OwnerChanged: ev.OwnerChanged(at_s=1.0, former="ada", user="bob"),
}


def with_service(execution: Execution, state: ServiceState, **more: object) -> Execution:
    services = tuple(replace(s, state=state, **more) for s in execution.services)  # type: ignore[arg-type]
    return replace(execution, services=services)


def run(execution: Execution, *events: ev.Event) -> Execution:
    for event in events:
        execution = apply(execution, event)
    return execution


def test_there_is_a_rule_and_a_sample_for_every_event() -> None:
    assert set(EXECUTION_TRANSITIONS) == set(ev.EVENT_TYPES.values()) == set(SAMPLES)
    assert set(SERVICE_TRANSITIONS) == {t for t in SAMPLES if issubclass(t, ev.ServiceEvent)}
    assert lifecycle._change.registry.keys() >= set(SAMPLES)


@pytest.mark.parametrize("state", list(ExecutionState))
@pytest.mark.parametrize("event_type", list(SAMPLES))
def test_forbidden_transition_is_refused_with_the_story(event_type: type[ev.Event], state: ExecutionState) -> None:
    if state in EXECUTION_TRANSITIONS[event_type]:
        return
    execution = replace(queued("x"), state=state)
    with pytest.raises(IllegalTransition) as refused:
        apply(execution, SAMPLES[event_type])
    assert state_summary(execution) in str(refused.value)
    assert refused.value.execution is execution


@pytest.mark.parametrize("state", list(ServiceState))
@pytest.mark.parametrize("event_type", list(SERVICE_TRANSITIONS))
def test_the_table_of_services_is_the_law_too(event_type: type[ev.Event], state: ServiceState) -> None:
    execution = with_service(started(queued("x"), "n"), state)
    if state in SERVICE_TRANSITIONS[event_type] and event_type is not ev.ServiceRetried:
        assert apply(execution, SAMPLES[event_type]).version == execution.version + 1
    else:
        with pytest.raises(IllegalTransition):
            apply(execution, SAMPLES[event_type])


def test_terminal_states_are_final() -> None:
    legal = {event for event, states in EXECUTION_TRANSITIONS.items() if states & TERMINAL_STATES}
    assert legal == {ev.OwnerChanged, ev.StorageTransferred}, "transfers may follow the end"


@pytest.mark.parametrize("state", list(ExecutionState))
def test_an_owner_changes_in_every_state_and_nothing_else_does(state: ExecutionState) -> None:
    execution = replace(queued("x"), state=state, user="ada")
    given = apply(execution, ev.OwnerChanged(at_s=1.0, former="ada", user="bob"))
    former = (FormerUser("ada", 1.0),)
    assert given == replace(execution, user="bob", former_owners=former, version=execution.version + 1)
    with pytest.raises(IllegalTransition, match="its owner is bob"):
        apply(given, ev.OwnerChanged(at_s=1.0, former="ada", user="eve"))


def test_a_start_without_its_whole_core_is_refused() -> None:
    execution = queued("x", component(essential_count=2))
    one = ev.Placement(service_id=service_id("x", "c", 0, 1), node="n")
    with pytest.raises(IllegalTransition, match="c-1"):
        apply(execution, ev.StartPlanned(at_s=1.0, placements=(one,)))


@pytest.mark.parametrize("service", ["x.c.9.1", "other.c.0.1"])
def test_strangers_cannot_be_placed(service: str) -> None:
    placement = ev.Placement(service_id=service, node="n")
    with pytest.raises(IllegalTransition, match="cannot be placed"):
        apply(queued("x"), ev.StartPlanned(at_s=1.0, placements=(placement,)))


def test_marks_are_set_once_and_in_order() -> None:
    execution = run(
        started(queued("x"), "n"),
        ev.ServiceStarting(at_s=2.0, service_id=SERVICE),
        ev.ServiceStarted(at_s=3.0, service_id=SERVICE),
        ev.ServiceReady(at_s=4.0, service_id=SERVICE),
        ev.Running(at_s=4.0),
        ev.Stopping(at_s=5.0, outcome=Outcome.SUCCEEDED, cause=Cause.EXITED, exit_code=0),
        ev.ServiceEnded(at_s=6.0, service_id=SERVICE, cause=Cause.EXITED, exit_code=0),
        ev.Ended(at_s=7.0),
    )
    assert execution.state is ExecutionState.SUCCEEDED
    assert execution.marks == {
        Mark.QUEUED: 0.0,
        Mark.ADMITTED: 1.0,
        Mark.PLACED: 1.0,
        Mark.STARTED: 3.0,
        Mark.READY: 4.0,
        Mark.ENDED: 7.0,
    }


def test_bandwidth_is_granted_or_withdrawn_and_either_may_come_again() -> None:
    execution = started(queued("x"), "n")
    with pytest.raises(IllegalTransition, match="it has no guarantee"):
        apply(execution, SAMPLES[ev.StorageWithdrawn])
    placed = dict(execution.marks)
    for granted_s, withdrawn_s in ((2.0, 5.0), (7.0, 8.0)):
        execution = apply(execution, ev.StorageGranted(at_s=granted_s))
        assert execution.marks == {**placed, Mark.STORAGE_GRANTED: granted_s}
        assert execution.storage_problem == ""
        execution = apply(execution, ev.StorageWithdrawn(at_s=withdrawn_s, why="promised to others"))
        assert execution.marks == {**placed, Mark.STORAGE_WITHDRAWN: withdrawn_s}
        assert execution.storage_problem == "promised to others"
    assert execution.granted_s == {0: 4.0}


def test_execution_does_not_end_before_its_services() -> None:
    stopping = apply(started(queued("x"), "n"), SAMPLES[ev.Stopping])
    for event in (ev.Ended(at_s=1.0), ev.Requeued(at_s=1.0)):
        with pytest.raises(IllegalTransition, match="not ended: c-0"):
            apply(stopping, event)


def test_a_requeue_adds_new_services_and_keeps_the_old_ones() -> None:
    stopping = apply(started(queued("x"), "n"), SAMPLES[ev.Stopping])
    again = run(stopping, SAMPLES[ev.ServiceEnded], ev.Requeued(at_s=9.0, not_before_s=12.0))
    assert [(s.attempt, s.state.value) for s in again.services] == [(1, "ended"), (2, "created")]
    assert (again.state, again.attempt, again.failed_attempts) == (ExecutionState.QUEUED, 2, 1)
    assert again.outcome is None
    assert again.marks == {Mark.QUEUED: 9.0}


def test_only_the_newest_try_of_an_elastic_service_gets_a_successor() -> None:
    execution = started(queued("x", component(essential_count=1, total_count=2)), "n", "n")
    core, elastic = execution.services
    ended = run(
        execution,
        ev.ServiceEnded(at_s=2.0, service_id=elastic.id, cause=Cause.EXITED, exit_code=1),
        ev.ServiceRetried(at_s=2.0, service_id=elastic.id, not_before_s=7.0),
    )
    assert ended.elastic_services()[0].attempt == 2
    assert ended.elastic_services()[0].not_before_s == 7.0
    for wrong in (elastic.id, core.id):
        with pytest.raises(IllegalTransition):
            apply(ended, ev.ServiceRetried(at_s=3.0, service_id=wrong, not_before_s=7.0))


def test_a_service_that_was_asked_to_stop_keeps_the_cause_of_the_request() -> None:
    execution = run(
        with_service(started(queued("x"), "n"), ServiceState.READY),
        ev.ServiceStopping(at_s=2.0, service_id=SERVICE, cause=Cause.PREEMPTED),
        ev.ServiceEnded(at_s=3.0, service_id=SERVICE, cause=Cause.STOPPED, exit_code=143),
    )
    assert execution.services[0].cause is Cause.PREEMPTED


def test_transfers_of_credentials_count_once_and_add_up() -> None:
    one = apply(
        queued(component("c")),
        ev.StorageTransferred(at_s=5.0, attempt=1, transfers=StoreTransfers(4, 100, 10, 1.5, 2.5)),
    )
    assert one.transfers == StoreTransfers(4, 100, 10, 1.5, 2.5, whole=True, at_s=5.0)
    for generation in (4, 3):
        again = ev.StorageTransferred(at_s=6.0, attempt=1, transfers=StoreTransfers(generation, 9, 9))
        with pytest.raises(IllegalTransition, match="has the transfers until generation"):
            apply(one, again)
    ended = replace(one, state=ExecutionState.FAILED)
    more = ev.StorageTransferred(at_s=7.0, attempt=2, transfers=StoreTransfers(9, 1, 2, 0.5, 0.5, whole=False))
    assert apply(ended, more).transfers == StoreTransfers(9, 101, 12, 2.0, 3.0, whole=False, at_s=7.0)


def test_the_credential_of_the_tenant_is_noted_once_for_each_attempt() -> None:
    one = apply(replace(queued(component("c")), state=ExecutionState.STARTING), ev.TenantCredentialUsed(at_s=3.0))
    assert one.marks[Mark.TENANT_CREDENTIAL] == 3.0
    with pytest.raises(IllegalTransition, match="already"):
        apply(one, ev.TenantCredentialUsed(at_s=4.0))
