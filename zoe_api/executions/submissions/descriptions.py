"""Descriptions: validate, convert, catalogue, schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Response

from zoe_api.access.access import AsReader, Reader
from zoe_api.access.wire_forms import promise_outlook
from zoe_api.executions.submissions.budgets import budget_notes, price_of, run_times_of
from zoe_api.executions.submissions.checking import as_submitted, convert, validate
from zoe_api.executions.submissions.indices import given_indices
from zoe_api.executions.submissions.own_work import own_use_view
from zoe_api.http.problems.problems import from_description
from zoe_api.http.routing import api_router
from zoe_api.questions.bounded import Bound, question
from zoe_api.services.dependencies import (
    Caller,
    StoreDep,
    answered,
    ask,
    checking,
    is_short,
)
from zoe_client.wire import (
    AmountView,
    ArrayPlanView,
    CatalogueEntryView,
    CatalogueList,
    ConvertRequest,
    ConvertResponse,
    DemandView,
    FillRequest,
    FillResponse,
    PlanRequest,
    PlanView,
    ReasonView,
    ValidateRequest,
    ValidateResponse,
)
from zoe_lib import descriptions
from zoe_lib.descriptions import CatalogueEntry, DescriptionError
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.applications.images import spellings
from zoe_lib.domain.checks.feasibility import findings
from zoe_lib.domain.checks.finding import Finding, Target
from zoe_lib.domain.checks.images import IMAGE_ABSENT, IMAGE_NOT_ALLOWED
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.domain.executions.arrays import PLANNED_TOGETHER_MAX
from zoe_lib.domain.executions.limits import Limits
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.codec import encode
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal
from zoe_lib.store.quotas import check_counts
from zoe_lib.submission.deadlines import check_promise, wanted_deadline
from zoe_lib.submission.outlook import outlook_view

router = api_router(tag="descriptions")


@router.post("/validate", response_model=ValidateResponse)
@question(Bound.PROCESS)
def validate_description(body: ValidateRequest, caller: AsReader) -> Response:
    """Check a description, expanded, against the format, this installation and your tenant's longest time limit.
    Nothing is stored. A `deadline` in the past is refused, as for a submission.
    """
    given = caller.principal, body.application, caller.services.clock.now_s()
    with checking(caller):
        return Response(answered(caller, is_short(caller), validate, *given), media_type="application/json")


@router.post("/plan", response_model=PlanView)
@question(Bound.PROCESS, Bound.STEPS_OF_MASTER)
def plan_application(body: PlanRequest, caller: AsReader) -> PlanView:
    """Return whether an application would start now; if not, when, why not, and which smallest change would start it.
    Nothing is stored.

    Refuses like a submission: 422 `never_fits` if it can never start, `time_limit_too_long` beyond your tenant's
    longest time limit; 429 `quota_exceeded` while the quota of executions is used up. Also 429: `check_busy` while too
    many descriptions are checked, `plan_busy` while the master computes other plans.
    """
    with checking(caller):
        submitted = caller.principal, body.application, body.priority
        application, notes, priority = answered(caller, is_short(caller), as_submitted, *submitted)
        given = wanted_deadline(body.deadline, body.deadline_s, application, caller.services.clock.now_s())
        check_promise(application, given, caller.services.clock.now_s())
        demand = _demand(caller.store, caller.principal, application)
        question = {
            "application": encode(application),
            "tenant": caller.tenant,
            "user": caller.user,
            "priority": priority,
            "deadline_s": None if given is None or application.promise is None else given.at_s,
        }
        notes += budget_notes(caller)
        array = None if body.indices is None else _array_plan(body.indices, caller)
        if array is not None and (together := _together(array, demand)) > 1:
            question["together"] = together
    answer = ask(caller.services.master, "plan", question, caller.request, caller.user)
    forecast_s = (answer.get("forecast") or {}).get("run_s")
    end = answer.pop("end", None)  # an older master has none
    if end is not None and end["source"] == "past_runs":  # also if it starts now, so that its start needs no forecast
        forecast_s = end["run_s"]
    price = price_of(caller, application, forecast_s)
    deadline = None if given is None else outlook_view(given, end, application, caller.services.clock.now_s())
    run_times = run_times_of(caller, application, answer.pop("run_times", ()))
    promise = promise_outlook(answer.pop("promise", None))
    answer["own_use"] = own_use_view(caller, application, (answer.get("reason") or {}).get("code"))
    answer |= {"price": price, "deadline": deadline, "promise": promise, "run_times": run_times}
    if array is not None:
        array = _with_starts(array, answer)
    answer.pop("together", None)
    return PlanView(notes=notes, demand=demand, array=array, **answer)


def _array_plan(indices: str, caller: Caller) -> ArrayPlanView:
    """Return the plan of an array that does not know yet how many indices would start."""
    found, at_once = given_indices(indices, caller.services)
    return ArrayPlanView(count=found.count, at_once=at_once, starts=0, reason=None)


def _together(array: ArrayPlanView, demand: DemandView) -> int:
    """Return how many indices the queue would take now, by the array's and the tenant's limits."""
    limits = [(demand.executions_max, demand.executions), (demand.executions_of_user_max, demand.executions_of_user)]
    rooms = [max(most - there, 0) for most, there in limits if most is not None]
    return min(array.count, array.at_once or array.count, PLANNED_TOGETHER_MAX, *rooms)


def _with_starts(array: ArrayPlanView, answer: Mapping[str, Any]) -> ArrayPlanView:
    """Return the plan of an array by the master's answer about one index, and about several."""
    found = answer.get("together") or {"starts": int(answer["starts_now"]), "reason": answer.get("reason")}
    reason = None if found["reason"] is None else ReasonView.model_validate(found["reason"])
    return array.model_copy(update={"starts": found["starts"], "reason": reason})


@router.post("/convert", response_model=ConvertResponse)
@question(Bound.PROCESS)
def convert_description(body: ConvertRequest, caller: AsReader) -> Response:
    """Convert a description of an older format to version 4, with notes on lost settings."""
    with checking(caller):
        converted = answered(caller, is_short(caller), convert, body.document)
    return Response(converted, media_type="application/json")


@router.get("/catalogue", response_model=CatalogueList)
def get_catalogue(principal: Reader, store: StoreDep) -> CatalogueList:
    """List the descriptions of the catalogue for your role and tenant, with the JSON Schema of their forms."""
    limits, platform = store.policy().limits, store.terms().platform
    return CatalogueList(
        entries=[
            _entry_view(entry, principal, limits, platform)
            for entry in descriptions.catalogue()
            if entry.is_visible_to(principal.role)
        ]
    )


@router.post("/catalogue/{entry_id}/fill", response_model=FillResponse)
@question(Bound.SHORT)
def fill_form(entry_id: str, body: FillRequest, caller: AsReader) -> FillResponse:
    """Return the description of an entry with the values of its form. Nothing is stored."""
    entry = next(
        (e for e in descriptions.catalogue() if e.id == entry_id and e.is_visible_to(caller.principal.role)), None
    )
    if entry is None:
        raise NotFound(f"the catalogue has no entry {entry_id}")
    document = _document_of(entry, caller.tenant, caller.store.policy().limits)
    try:
        with checking(caller):
            return FillResponse(document=descriptions.fill_form(entry, document, body.values, caller.principal.role))
    except DescriptionError as error:
        raise from_description(error) from None


@router.get("/schema", response_model=dict[str, Any])
def get_description_schema(_principal: Reader) -> dict[str, Any]:
    """Return the JSON Schema of descriptions."""
    return descriptions.json_schema()


def _entry_view(entry: CatalogueEntry, principal: Principal, limits: Limits, platform: Platform) -> CatalogueEntryView:
    obstacle = _obstacle(entry, platform)
    return CatalogueEntryView(
        id=entry.id,
        title=entry.title,
        category=entry.category,
        summary=entry.summary,
        document=_document_of(entry, principal.tenant, limits),
        form=descriptions.form_schema(entry, principal.role),
        icon=entry.icon,
        tags=entry.tags,
        script=entry.script,
        unavailable=_plain(obstacle, entry, platform) if obstacle else None,
        remedy=obstacle.hint if obstacle else None,
        installs=_installs(entry, platform),
    )


def _installs(entry: CatalogueEntry, platform: Platform) -> str | None:
    """Return what the first launch installs; the largest image includes those of its framework."""
    application, installs = descriptions.parse(descriptions.catalogue_document(entry)), platform.capabilities.installs
    main = (component.image for component in application.components if component.ends_application)
    images = dict.fromkeys([*main, *(component.image for component in application.components)])
    return next((installs[name] for image in images for name in spellings(image) if name in installs), None)


def _obstacle(entry: CatalogueEntry, platform: Platform) -> Finding | None:
    """Return what keeps an entry from running until an admin changes something; None if no obstacle is known.

    The component that ends the application comes first: installing its image installs those of its framework, too.
    """
    application = descriptions.parse(descriptions.catalogue_document(entry))
    main = [index for index, component in enumerate(application.components) if component.ends_application]
    found = [
        finding
        for finding in findings(application, Target(platform))
        if finding.certain or finding.code == IMAGE_ABSENT
    ]
    of_main = (entry for entry in found if entry.place[:2] in {("components", index) for index in main})
    return next(of_main, found[0] if found else None)


def _plain(obstacle: Finding, entry: CatalogueEntry, platform: Platform) -> str:
    """Return the reason for people who do not know images, if it is about images."""
    if obstacle.code == IMAGE_ABSENT or (obstacle.code == IMAGE_NOT_ALLOWED and platform.capabilities.image_hints):
        return f"{entry.title} is not installed here"
    return obstacle.message


def _document_of(entry: CatalogueEntry, tenant: str, limits: Limits) -> dict[str, Any]:
    """Return the description of an entry. A user did not choose its time limit: one that is too long becomes the
    tenant's longest, and one without a limit shows the policy's default.
    """
    document, longest_s = descriptions.catalogue_document(entry), limits.for_subject(tenant).time_limit_s
    limit_s = document.get("time_limit_s")
    if limit_s is None and limits.default_time_limit_s:
        return {**document, "time_limit_s": limits.default_time_limit_of(tenant)}
    if limit_s is None or longest_s is None or limit_s <= longest_s:
        return document
    return {**document, "time_limit_s": longest_s}


def _demand(store: ExecutionStore, principal: Principal, application: Application) -> DemandView:
    """Return the demand of an application; QuotaExceeded if a limit of executions refuses it."""
    core, everything = application.core_resources(), application.total_resources()
    limits, active = store.policy().limits, store.active_counts()
    executions = sum(number for (tenant, _), number in active.items() if tenant == principal.tenant)
    executions_of_user = active.get((principal.tenant, principal.user), 0)
    check_counts(principal.tenant, principal.user, limits, executions, executions_of_user)
    return DemandView(
        core=_amount(sum(c.essential_count for c in application.components), core),
        elastic=_amount(sum(c.elastic_count for c in application.components), everything - core),
        time_limit_s=application.time_limit_s,
        executions=executions,
        executions_max=limits.for_subject(principal.tenant).executions,
        executions_of_user=executions_of_user,
        executions_of_user_max=limits.for_subject(principal.tenant, principal.user).executions,
    )


def _amount(services: int, reserved: Resources) -> AmountView:
    return AmountView(services=services, cores=reserved.cores_milli / 1000, memory_bytes=reserved.memory_bytes)
