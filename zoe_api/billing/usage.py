"""Present use, use by day, and use of the limits of a tenant and a user."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import Query, Response

from zoe_api.access.access import AsReader, Operator, Reader
from zoe_api.access.visibility import note_look
from zoe_api.billing.meters import meters
from zoe_api.billing.spans import FromS, ToS, stretch_of
from zoe_api.executions.submissions.budgets import prices_of
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import ClockDep, MasterDep, StoreDep, ask
from zoe_client.wire import (
    DailyUse,
    DayUseView,
    ExecutionUseList,
    ExecutionUseView,
    QuotaMeters,
    UsageList,
    UsageView,
    UseOverTimeView,
    UsePointView,
)
from zoe_lib.domain.applications.sharing import ALL
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.domain.executions.use import DAY_S
from zoe_lib.store.values import ExecutionQuery

router = api_router(tag="use")
_CSV = "text/csv"
_AS_CSV = {_CSV: {"schema": {"type": "string"}}}


@router.get("/usage", response_model=UsageList)
def current_usage(caller: AsReader, store: StoreDep, master: MasterDep) -> UsageList:
    """Return what running services use now: your own and those shared with you, or all for operators."""
    answer = ask(master, "usage", {}, caller.request)
    views = [UsageView(**sample) for sample in answer["usage"]]
    running = {view.execution_id for view in views}
    visible = store.active_among(running, ALL if caller.principal.operator else caller.principal.visibility)
    return UsageList(usage=[view for view in views if view.execution_id in visible])


@router.get("/usage/executions", response_model=ExecutionUseList)
def usage_of_executions(
    caller: AsReader,
    ids: Annotated[list[str], Query(alias="id", min_length=1, max_length=100, description="Which executions.")],
) -> ExecutionUseList:
    """Return use and reservations of executions: your own, those shared with you, or any for operators."""
    seen = ALL if caller.principal.operator else caller.principal.visibility
    query = ExecutionQuery(ids=frozenset(ids), visibility=seen, limit=len(ids))
    visible = [execution.id for execution in caller.store.executions(query).executions]
    if caller.principal.operator:
        note_look(caller, caller.request.url.path)
    now_s = caller.services.clock.now_s()
    prices = prices_of(caller.services, visible, now_s)
    views = [ExecutionUseView.model_validate(use) for use in caller.store.use_of(visible, now_s)]
    return ExecutionUseList(use=[view.model_copy(update=prices.get(view.execution_id, {})) for view in views])


@router.get("/usage/daily", response_model=DailyUse, responses={200: {"content": _AS_CSV}})
def daily_usage(
    clock: ClockDep,
    caller: AsReader,
    store: StoreDep,
    from_s: FromS,
    to_s: ToS = None,
    form: Annotated[
        Literal["json", "csv"] | None,
        Query(alias="format", description="Format of the response (default: from `Accept`)."),
    ] = None,
) -> DailyUse | Response:
    """Return the reservations of each day (UTC) so far: by users of your tenant, or of all tenants for operators."""
    now_s = clock.now_s()
    to_day = int((now_s if to_s is None else to_s) // DAY_S)
    use_of = store.daily_use(int(from_s // DAY_S), to_day, now_s, None if caller.principal.operator else caller.tenant)
    rows = sorted(use_of.items(), key=lambda row: (row[0].day, row[0].tenant, row[0].user))
    answer = DailyUse(
        days=[
            DayUseView(
                day=datetime.fromtimestamp(key.day * DAY_S, UTC).date().isoformat(),
                tenant=key.tenant,
                user=key.user,
                core_hours=use.core_s / 3600,
                memory_gib_hours=use.memory_byte_s / 3600 / 2**30,
                store_gib=use.store_bytes / 2**30,
            )
            for key, use in rows
        ]
    )
    if form == "csv" or (form is None and _CSV in caller.request.headers.get("accept", "")):
        return _as_csv(answer)
    return answer


@router.get("/quota", response_model=QuotaMeters)
def get_quota(principal: Reader, store: StoreDep) -> QuotaMeters:
    """Return how much of their limits your tenant, and you in it, use now."""
    limits, uses = store.policy().limits, store.use_by_subject()
    tenant, user = (
        meters(limits, uses, item)
        for item in (LimitSubject(principal.tenant), LimitSubject(principal.tenant, principal.user))
    )
    return QuotaMeters(
        tenant=principal.tenant,
        time_limit_s_max=limits.for_subject(principal.tenant).time_limit_s,
        **tenant,
        **{f"{name}_of_user": meter for name, meter in user.items()},
    )


def _as_csv(answer: DailyUse) -> Response:
    text = io.StringIO()
    table = csv.DictWriter(text, fieldnames=list(DayUseView.model_fields))
    table.writeheader()
    table.writerows(day.model_dump() for day in answer.days)
    headers = {"Content-Disposition": 'attachment; filename="zoe-usage.csv"'}
    return Response(text.getvalue(), headers=headers, media_type=f"{_CSV}; charset=utf-8")


@router.get("/usage/over-time", response_model=UseOverTimeView)
def usage_over_time(
    clock: ClockDep,
    _principal: Operator,
    store: StoreDep,
    from_s: FromS,
    to_s: ToS = None,
    by: Annotated[Literal["node", "application"], Query(description="What one row counts.")] = "node",
) -> UseOverTimeView:
    """Return the use of all services, for as long as samples are kept; at most a few hundred intervals of at least 30
    s.
    """
    until_s = clock.now_s() if to_s is None else to_s
    stretch_s = stretch_of(from_s, until_s)
    points = store.use_over_time(from_s, until_s, stretch_s, by_node=by == "node")
    return UseOverTimeView(stretch_s=stretch_s, points=[UsePointView.model_validate(point) for point in points])
