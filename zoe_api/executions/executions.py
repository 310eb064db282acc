"""Executions: list, show, explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import structlog
from fastapi import Query, Response

from zoe_api.access.access import AsReader, check
from zoe_api.access.representation import view_of_execution
from zoe_api.access.service_conditions import Told, service_conditions
from zoe_api.access.views import all_entries, node_texts, waited_for, with_details
from zoe_api.access.visibility import is_owner, levels_of, may_see_secrets, note_look, seen_execution
from zoe_api.access.wire_forms import (
    deadline_view,
    execution_summary,
    hint_about,
    input_reads,
    instances_views,
    progress_view,
    reason_view,
    reported_places,
    stored_places,
    transfers_view,
    waits_for,
)
from zoe_api.executions.submissions.own_work import own_use_view
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Caller, Services
from zoe_client.vocabulary import DeadlineStatus
from zoe_client.wire import (
    DependencyView,
    Eta,
    ExecutionList,
    ExecutionSummary,
    ExecutionView,
    Explanation,
    ForecastView,
    ParentJobView,
    ReasonView,
    StoreQueryView,
    UsageList,
    UsageView,
)
from zoe_client.wire.base import SECONDS_MAX
from zoe_client.words.state_choices import StateChoice, states_of
from zoe_lib.domain.applications.application import ApplicationKind
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.applications.secrets import how_to_set, no_secrets, wanted_secrets
from zoe_lib.domain.applications.sharing import ALL
from zoe_lib.domain.executions.events import scaling_problem
from zoe_lib.domain.executions.execution import (
    ACTIVE_STATES,
    WAITING_STATES,
    Execution,
    ExecutionId,
    ExecutionState,
)
from zoe_lib.domain.executions.instances import instance_counts
from zoe_lib.domain.executions.promises import refusal_reason
from zoe_lib.domain.values.locality import InputPlaces
from zoe_lib.domain.values.progress import ExecutionProgress
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.messaging.client import MasterRefused, MasterUnreachable
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.codec import decode
from zoe_lib.store.values import ExecutionQuery
from zoe_lib.submission.checking import secret_access

log = structlog.get_logger(__name__)
router = api_router("/executions", tag="executions")
_AHEAD_IDS_MAX = 10
_ASKED_AGAIN_MAX, _ASKED_AGAIN_AFTER_S = 2, 0.2
_CHILDREN_MAX = 100
_HAS_PLACES = frozenset({ExecutionState.STARTING, ExecutionState.RUNNING})
_GOES_ON = frozenset({ExecutionState.RUNNING, ExecutionState.STOPPING})


@router.get("", response_model=ExecutionList)
def list_executions(
    caller: AsReader,
    ids: Annotated[list[str] | None, Query(alias="id", max_length=100, description="Only these executions.")] = None,
    state: Annotated[
        list[StateChoice] | None,
        Query(description="States, and words for several: `waiting`, `held`, `active`, `ended`."),
    ] = None,
    user: str | None = None,
    name: Annotated[str | None, Query(max_length=128, description="Part of the name.")] = None,
    submitted_from_s: Annotated[
        float | None, Query(ge=0, le=SECONDS_MAX, description="Only executions submitted at this time or later.")
    ] = None,
    deadline: Annotated[
        DeadlineStatus | None, Query(description="Only executions whose deadlines are in one of these states.")
    ] = None,
    kind: Annotated[ApplicationKind | None, Query(description="Only executions of this kind.")] = None,
    application: Annotated[
        str | None, Query(max_length=128, description="Only executions whose description has this name.")
    ] = None,
    all_tenants: Annotated[bool, Query(description="For operators.")] = False,
    arrays: Annotated[bool, Query(description="Include executions of arrays, which have a separate list.")] = True,
    array: Annotated[str | None, Query(description="Only executions of this array.")] = None,
    limit: Annotated[int, Query(ge=1)] = 50,
    cursor: str | None = None,
) -> ExecutionList:
    """List your executions and those shared with you, newest first; for operators, those of the tenant or all."""
    if all_tenants:
        check(caller.principal, Scope.OPERATE)
    if caller.principal.operator:
        note_look(caller, caller.request.url.path)
    query = ExecutionQuery(
        ids=None if ids is None else frozenset(ids),
        visibility=ALL if all_tenants else caller.principal.visibility,
        user=user,
        states=states_of(state) if state else None,
        held=StateChoice.HELD in (state or ()),
        name_contains=name,
        submitted_from_s=submitted_from_s,
        deadline=deadline,
        now_s=caller.services.clock.now_s(),
        alone=not arrays,
        kind=kind,
        application=application,
        array_id=array,
        family=None if caller.principal.job is None else caller.services.accounts.job_family(caller.principal.job.unit),
        limit=min(limit, caller.services.settings.api_page_max),
        cursor=cursor,
    )
    page = caller.store.executions(query)
    return ExecutionList(
        executions=_summaries(caller.services, page.executions),
        next_cursor=page.next_cursor,
        searched_to_s=page.searched_to_s,
    )


def _summaries(services: Services, executions: Sequence[Execution]) -> list[ExecutionSummary]:
    """Return executions as rows of a list, with their progress."""
    told = _progress(services, executions)
    summaries = [execution_summary(execution) for execution in executions]
    for summary in summaries:
        if summary.id in told:
            summary.progress = progress_view(told[summary.id])
    return summaries


@router.get("/{execution_id}", response_model=ExecutionView)
def show_execution(execution_id: str, caller: AsReader, response: Response) -> ExecutionView:
    """Return an execution with its services and its description. If it is only shared with you, the values of
    environment variables are left out.
    """
    execution = seen_execution(caller, execution_id)
    view = view_of_execution(execution, response, may_see_secrets(caller.principal, execution))
    if (progress := _progress(caller.services, [execution]).get(execution.id)) is not None:
        view.progress = progress_view(progress, caller.services.clock.now_s())
    view.transfers = transfers_view(execution, caller.store.transfers_so_far(execution_id))
    view.queries = [StoreQueryView.model_validate(query) for query in caller.store.queries_of(execution_id)]
    view.scaling_problem = _scaling_problem(execution, caller.store)
    view.access = levels_of(caller, [execution])[execution.id]
    if may_see_secrets(caller.principal, execution):
        _add_jobs(view, caller.services)
    return with_details(
        view, all_entries(caller.store, execution_id) if caller.principal.operator else (), caller.principal
    )


@router.get("/{execution_id}/explain", response_model=Explanation)
def explain_execution(execution_id: str, caller: AsReader) -> Explanation:
    """Explain why an execution is not running, and how its inputs are read; from stored data if the master does not
    answer.
    """
    problem = ""
    for _ in range(_ASKED_AGAIN_MAX):
        try:
            return _explain(execution_id, caller)
        except MasterRefused as error:
            problem = str(error)
            if error.code == "queue_too_long":
                break
        caller.services.clock.sleep(_ASKED_AGAIN_AFTER_S)  # its state was changing: the master looks at each change
    return _explain(execution_id, caller, stored=True).model_copy(update={"problem": problem})


def _explain(execution_id: str, caller: Caller, *, stored: bool = False) -> Explanation:
    """Return the explanation; a waiting one by the master, unless `stored`. Raises MasterRefused if the master does
    not have it as waiting.
    """
    execution, store = seen_execution(caller, execution_id), caller.store
    facts: dict[str, Any] = {
        "state": execution.state,
        "cause": execution.cause if execution.terminal else None,
        "message": execution.message if execution.terminal else "",
        "inputs": input_reads(execution),
        "storage_problem": execution.storage_problem,
        "scaling_problem": _scaling_problem(execution, store),
        "instances": instances_views(execution),
        "deadline": deadline_view(execution, clock=caller.services.clock),
    }
    if execution.state in WAITING_STATES:
        facts["missing_secrets"] = _missing_secrets(caller.services, execution)
        if may_see_secrets(caller.principal, execution):
            awaited = execution.conditions.undecided_dependencies
            facts["after"] = [DependencyView.model_validate(dependency) for dependency in awaited]
    else:
        facts["places"] = stored_places(execution)
        facts["nodes"] = waited_for(execution, store.platform(), caller.principal)
        told, problem = _told_of_services(execution, caller)
        facts["services"] = service_conditions(execution, told, store.platform(), caller.principal.operator)
        keeps = _reason(refusal_reason(execution), execution) or _starting(execution, caller)
        facts["fewer"] = _missing_instances(execution, caller)
        return Explanation(**facts, reason=keeps, detailed=not problem, problem=problem)
    if execution.state is ExecutionState.SUBMITTED and (reason := waits_for(execution, clock=caller.services.clock)):
        return Explanation(**facts, reason=_reason(reason, execution), detailed=True)
    try:
        if stored:
            raise MasterUnreachable
        answer = caller.services.master.ask("explain", {"execution_id": execution_id}, caller.request_id, caller.user)
    except MasterUnreachable:
        return Explanation(
            **facts, reason=_reason(waits_for(execution, clock=caller.services.clock), execution), detailed=False
        )
    facts["places"] = reported_places(decode(InputPlaces, place) for place in answer.pop("places", ()))
    ahead = answer.get("ahead_ids", [])
    visible = store.active_among(ahead, caller.principal.visibility)
    answer["ahead_ids"] = [entry for entry in ahead if entry in visible][:_AHEAD_IDS_MAX]
    if answer["reason"] is not None:
        said = ReasonView.model_validate(answer["reason"])
        answer["reason"] = said.model_copy(update={"hint": hint_about(said.hint, execution_id)})
    answer["nodes"] = node_texts(answer["nodes"], store.platform(), caller.principal)
    if is_owner(caller.principal, execution):
        facts["own_use"] = own_use_view(caller, execution.application, answer["reason"] and answer["reason"].code)
        facts["start_p50_s"] = None if execution.forecast is None else execution.forecast.start_p50_s
    return Explanation(**facts, **answer, detailed=True)


@router.get("/{execution_id}/eta", response_model=Eta)
def execution_eta(execution_id: str, caller: AsReader) -> Eta:
    """Return when a waiting execution is expected to start and end, or a running one to end; the stored forecast of a
    waiting one if the master does not answer.
    """
    execution = seen_execution(caller, execution_id)
    if execution.state not in WAITING_STATES | _HAS_PLACES:
        return Eta(state=execution.state, forecast=None)
    try:
        answer = caller.services.master.ask("eta", {"execution_id": execution_id}, caller.request_id, caller.user)
    except (MasterUnreachable, MasterRefused):
        stored = None if execution.state in _HAS_PLACES else execution.forecast
        forecast = None if stored is None else ForecastView.model_validate(stored)
        answer = {"forecast": forecast}
    waits = waits_for(execution, clock=caller.services.clock) if execution.state in WAITING_STATES else None
    eta = Eta(state=execution.state, reason=_reason(waits, execution), **answer)
    if eta.forecast is not None:
        eta.forecast_age_s = max(caller.services.clock.now_s() - eta.forecast.at_s, 0.0)
    return eta


@router.get("/{execution_id}/usage", response_model=UsageList)
def execution_usage(execution_id: str, caller: AsReader) -> UsageList:
    """Return usage samples of an execution's services, oldest first."""
    seen_execution(caller, execution_id)
    samples = [UsageView.model_validate(s) for s in caller.store.usage(execution_id)]
    return UsageList(usage=samples, interval_s=caller.services.settings.usage_interval_s)


def _add_jobs(view: ExecutionView, services: Services) -> None:
    """Add the parent job of the execution, and the executions it submitted."""
    if (parent := services.accounts.job_parents([view.id]).get(view.id)) is not None:
        view.submitted_by = ParentJobView(execution_id=parent.execution_id, attempt=parent.attempt)
    view.submitted = list(services.accounts.job_children(view.id, _CHILDREN_MAX))


def _scaling_problem(execution: Execution, store: ExecutionStore) -> str:
    """Return why its scaling rules have no measurement; only executions with such rules cost a look."""
    ruled = any(component.scaling is not None for component in execution.application.components)
    if execution.state is not ExecutionState.RUNNING or not ruled:
        return ""
    return scaling_problem((entry.kind, entry.data) for entry in all_entries(store, execution.id))


def _progress(services: Services, executions: Sequence[Execution]) -> Mapping[ExecutionId, ExecutionProgress]:
    """Return the progress of running executions that report it, in their present attempt."""
    attempts = {e.id: e.attempt for e in executions if e.state in _GOES_ON and e.application.progress_component}
    found = services.store.progress_of(list(attempts)) if attempts else {}
    return {text: progress for text, progress in found.items() if progress.attempt == attempts[text]}


def _starting(execution: Execution, caller: Caller) -> ReasonView | None:
    """Return what delays the services of a placed execution, which only the master knows; None if nothing does."""
    if execution.state is not ExecutionState.STARTING:
        return None
    try:
        question = {"execution_id": execution.id}
        answer = caller.services.master.ask("explain", question, caller.request_id, caller.user)
    except (MasterUnreachable, MasterRefused):
        return None
    if answer["reason"] is None:  # in the master's last snapshot it was still queued, and was to start
        return None
    found = ReasonView.model_validate(answer["reason"])
    of_starting = (ReasonCode.CREDENTIAL, ReasonCode.PROLOGUE)
    return found if found.code in of_starting else None  # others: back in the queue


def _told_of_services(execution: Execution, caller: Caller) -> tuple[Told, str]:
    """Return what the back-end says of the execution's services, and why the master does not answer."""
    if execution.state not in ACTIVE_STATES:
        return {}, ""
    question = {"execution_id": execution.id}
    try:
        return caller.services.master.ask("services", question, caller.request_id, caller.user)["services"], ""
    except MasterRefused:
        return {}, ""
    except MasterUnreachable as error:
        return {}, str(error)


def _missing_instances(execution: Execution, caller: Caller) -> ReasonView | None:
    """Return why fewer than the preferred instances run, which only the master knows; None if enough do."""
    if execution.state not in _HAS_PLACES or not any(count.is_short for count in instance_counts(execution)):
        return None
    try:
        question = {"execution_id": execution.id}
        answer = caller.services.master.ask("missing_instances", question, caller.request_id, caller.user)
    except (MasterUnreachable, MasterRefused):
        return None
    return None if answer["reason"] is None else ReasonView.model_validate(answer["reason"])


def _missing_secrets(services: Services, execution: Execution) -> str:
    access = secret_access(execution.application, services.accounts, execution.user, execution.tenant)
    missing = sorted(wanted_secrets(execution.application) - (access.names or frozenset()))
    return f"{no_secrets(missing, execution.user, execution.tenant)}; {how_to_set(missing)}" if missing else ""


def _reason(reason: Reason | None, execution: Execution) -> ReasonView | None:
    return None if reason is None else reason_view(reason, execution.id)
