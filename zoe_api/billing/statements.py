"""Price lists, statements and budgets."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Annotated, Literal

from fastapi import Path, Query, Response

from zoe_api.access.access import Admin, AsAdmin, AsReader, Reader
from zoe_api.billing.limits import check_tenant
from zoe_api.http.audit_changes import note_changes
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.questions.bounded import Bound, question
from zoe_api.services.dependencies import ClockDep, Services, StoreDep
from zoe_client.documents.diagnostics import DescriptionError
from zoe_client.wire import (
    BudgetChange,
    BudgetList,
    BudgetView,
    PriceListList,
    PriceListRequest,
    PriceListView,
    StatementLineView,
    StatementView,
)
from zoe_client.wire.base import ID_MAX
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.executions.metering import microseconds
from zoe_lib.pricing.statement import Line, in_force
from zoe_lib.store.postgres.billing import Statement
from zoe_lib.store.sql.billing.prices import Budget, StoredPriceList
from zoe_lib.submission.refusal import diagnostics_of
from zoe_lib.submission.spending import Spent, read_spent

router = api_router(tag="prices")
_CSV = "text/csv"
_AS_CSV = {_CSV: {"schema": {"type": "string"}}}
MonthName = Annotated[str, Path(pattern=r"^\d{4}-(0[1-9]|1[0-2])$", description="Such as 2026-11.")]
TenantOf = Annotated[
    str | None,
    Query(max_length=128, description="Tenant, for operators; `*`: all (default: your tenant)."),
]


@router.get("/admin/price-lists", response_model=PriceListList)
def list_price_lists(
    clock: ClockDep,
    _principal: Admin,
    store: StoreDep,
    history: Annotated[bool, Query(description="Include lists replaced or removed before they began.")] = False,
) -> PriceListList:
    """List the price lists by the time from which they apply."""
    lists = store.billing.price_lists(history)
    now = in_force([entry.prices for entry in lists if entry.replaced_at_s is None], microseconds(clock.now_s()))
    return PriceListList(price_lists=[_list_view(entry, holds=entry.prices is now) for entry in lists])


@router.post("/admin/price-lists", response_model=PriceListView, status_code=201)
def set_price_list(body: PriceListRequest, caller: AsAdmin) -> PriceListView:
    """Set a price list: it applies from its `from` on. One with the same `from` that has not begun is replaced."""
    try:
        stored = caller.store.billing.set_price_list(
            body.document, caller.services.clock.now_s(), caller.user, body.past
        )
    except DescriptionError as error:
        raise _bad_list(error) from None
    caller.services.spending.forget()
    note_changes(caller.request, {}, {"price_list": stored.id, "past": body.past})
    return _list_view(stored, holds=False)


@router.post("/admin/price-lists:check", status_code=204)
@question(Bound.SHORT)
def check_price_list(clock: ClockDep, body: PriceListRequest, _principal: Admin, store: StoreDep) -> Response:
    """Check a price list without setting it; the response has all its errors."""
    try:
        store.billing.check_price_list(body.document, clock.now_s(), body.past)
    except DescriptionError as error:
        raise _bad_list(error) from None
    return Response(status_code=204)


@router.delete("/admin/price-lists/{list_id}", status_code=204)
def remove_price_list(
    list_id: Annotated[int, Path(ge=1, le=ID_MAX)],
    caller: AsAdmin,
    past: Annotated[bool, Query(description="Also one that has begun, while no month was closed by it.")] = False,
) -> Response:
    """Remove a price list that has not begun, or was set by mistake; it stays in the history."""
    caller.store.billing.remove_price_list(list_id, caller.services.clock.now_s(), past)
    caller.services.spending.forget()
    return Response(status_code=204)


@router.get("/statements/{month}", response_model=StatementView, responses={200: {"content": _AS_CSV}})
def get_statement(
    month: MonthName,
    caller: AsReader,
    tenant: TenantOf = None,
    form: Annotated[
        Literal["json", "csv"] | None, Query(alias="format", description="Format (default: from `Accept`).")
    ] = None,
) -> StatementView | Response:
    """Return the statement of a month, up to now if it is not over: your own part, or all of a tenant for operators."""
    wanted = caller.tenant if tenant is None else tenant
    if wanted != caller.tenant and not caller.principal.operator:
        raise ApiProblem(Code.ROLE_MISSING, "statements of other tenants are for operators")
    found = _statement(caller.services, month, None if wanted == "*" else wanted)
    if not found.lines and wanted not in (caller.tenant, "*"):
        check_tenant(caller.services.accounts, wanted)  # a tenant that was removed still has lines
    view = _view(found.for_user(None if caller.principal.operator else caller.user))
    as_csv = form == "csv" or (form is None and _CSV in caller.request.headers.get("accept", ""))
    if found.closed and not found.issued and (as_csv or Scope.ADMIN not in caller.principal.scopes):
        caller.store.billing.mark_issued(month, caller.services.clock.now_s())
    return _as_csv(view) if as_csv else view


@router.post("/admin/statements/{month}/close", response_model=StatementView)
def close_statement(month: MonthName, caller: AsAdmin) -> StatementView:
    """Close a month for all tenants, a day after its end at the earliest: its statements stay as they are."""
    try:
        return _view(caller.store.billing.close(month, caller.services.clock.now_s(), caller.user))
    except ValueError as error:
        raise ApiProblem(Code.INVALID_REQUEST, str(error)) from None


@router.post("/admin/statements/{month}/reopen", response_model=StatementView)
def reopen_statement(month: MonthName, caller: AsAdmin) -> StatementView:
    """Open the last closed month again, as long as only admins have seen its statements, and none as CSV."""
    caller.store.billing.reopen(month)
    caller.services.spending.forget()
    return _view(_statement(caller.services, month, None))


@router.get("/budgets", response_model=BudgetList)
def get_budgets(principal: Reader, store: StoreDep) -> BudgetList:
    """Return your budget and your tenant's, and how much of them is spent; all of your tenant for operators."""
    found = [budget for budget in store.billing.budgets() if budget.tenant == principal.tenant]
    mine = [budget for budget in found if principal.operator or budget.user in (None, principal.user)]
    return _budget_list(mine, read_spent_by_tenant(store, mine))


@router.get("/admin/budgets", response_model=BudgetList)
def list_budgets(_principal: Admin, store: StoreDep) -> BudgetList:
    """List the budgets of all tenants and users, and how much of them is spent."""
    found = list(store.billing.budgets())
    return _budget_list(found, read_spent_by_tenant(store, found))


@router.put("/admin/budgets", response_model=BudgetChange)
def set_budget(body: BudgetChange, caller: AsAdmin) -> BudgetChange:
    """Set the budget of a tenant or a user for each month. It applies to submissions within seconds."""
    check_tenant(caller.services.accounts, body.tenant)
    if body.user is not None:
        caller.services.accounts.user(body.user)
    before = {f"{budget.tenant}/{budget.user or ''}": f"{budget.amount:f}" for budget in caller.store.billing.budgets()}
    wanted = Budget(body.tenant, body.user, Decimal(body.amount), body.refuses, body.warn_percent)
    caller.store.billing.set_budget(wanted)
    caller.services.spending.forget()
    name = f"{body.tenant}/{body.user or ''}"
    note_changes(caller.request, {name: before.get(name)}, {name: body.amount, "refuses": body.refuses})
    return body


@router.delete("/admin/budgets", status_code=204)
def clear_budget(
    caller: AsAdmin,
    tenant: Annotated[str, Query(max_length=128)],
    user: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Clear a budget."""
    caller.store.billing.clear_budget(tenant, user)
    caller.services.spending.forget()
    return Response(status_code=204)


def read_spent_by_tenant(store: StoreDep, found: list[Budget], clock: Clock = SYSTEM_CLOCK) -> dict[str, Spent | None]:
    """Return the amount spent by each tenant that has a budget."""
    now_s = clock.now_s()
    return {tenant: read_spent(store, tenant, now_s) for tenant in {budget.tenant for budget in found}}


def _statement(services: Services, month: str, tenant: str | None) -> Statement:
    try:
        return services.store.billing.statement(month, services.clock.now_s(), tenant)
    except ValueError as error:
        raise ApiProblem(Code.INVALID_REQUEST, str(error)) from None


def _bad_list(error: DescriptionError) -> ApiProblem:
    return ApiProblem(Code.INVALID_PRICE_LIST, str(error.diagnostics[0]), errors=diagnostics_of(error.diagnostics))


def _list_view(one: StoredPriceList, *, holds: bool) -> PriceListView:
    return PriceListView(
        id=one.id,
        from_s=one.prices.from_us / 1e6,
        holds=holds,
        set_at_s=one.set_at_s,
        set_by=one.set_by,
        replaced_at_s=one.replaced_at_s,
        document=dict(one.document),
    )


def _view(found: Statement) -> StatementView:
    return StatementView(
        month=found.month.name,
        zone=found.zone,
        from_s=found.month.from_us / 1e6,
        until_s=found.until_us / 1e6,
        closed=found.closed,
        currency=found.currency,
        total=f"{sum((line.total for line in found.lines), Decimal(0)):f}",
        unused=f"{sum((line.unused or Decimal(0) for line in found.lines), Decimal(0)):f}",
        gaps=list(found.gaps),
        lines=[_line_view(line) for line in found.lines],
    )


def _line_view(one: Line) -> StatementLineView:
    return StatementLineView(
        tenant=one.tenant,
        user=one.user,
        application=one.application,
        meter=one.meter.value,
        device=one.device,
        from_s=one.from_us / 1e6,
        to_s=one.to_us / 1e6,
        quantity=f"{one.quantity:f}",
        rate=_text(one.rate),
        amount=_text(one.amount),
        discount=f"{one.discount:f}",
        credit=f"{one.credit:f}",
        total=f"{one.total:f}",
        unused=_text(one.unused),
        problem=one.problem,
    )


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


def _budget_list(found: list[Budget], spent: dict[str, Spent | None]) -> BudgetList:
    views = []
    for budget in found:
        there = spent[budget.tenant]
        so_far, hourly = there.amounts_for(budget.user) if there is not None else (Decimal(0), Decimal(0))
        views.append(
            BudgetView(
                tenant=budget.tenant,
                user=budget.user,
                amount=f"{budget.amount:f}",
                refuses=budget.refuses,
                warn_percent=budget.warn_percent,
                currency=there.currency if there is not None else None,
                spent=f"{so_far:f}",
                hourly=f"{hourly:f}",
            )
        )
    months = [entry.month for entry in spent.values() if entry is not None]
    return BudgetList(month=months[0] if months else "", budgets=views)


def _as_csv(view: StatementView) -> Response:
    text = io.StringIO()
    table = csv.DictWriter(text, fieldnames=["month", "currency", *StatementLineView.model_fields])
    table.writeheader()
    for line in view.lines:
        row = {"month": view.month, "currency": view.currency, **line.model_dump()}
        table.writerow({name: _plain(value) for name, value in row.items()})
    headers = {"Content-Disposition": f'attachment; filename="zoe-statement-{view.month}.csv"'}
    return Response(text.getvalue(), headers=headers, media_type=f"{_CSV}; charset=utf-8")


def _plain(value: object) -> object:
    """Return a cell that a spreadsheet does not interpret as a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
