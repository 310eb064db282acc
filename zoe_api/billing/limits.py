"""Limits of tenants and users, and quotas, which are older names for some limits of a tenant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Literal

from fastapi import Query, Response

from zoe_api.access.access import Admin, AsAdmin
from zoe_api.billing.meters import meters
from zoe_api.http.audit_changes import note_changes
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Caller, StoreDep
from zoe_client.wire import Diagnostic, LimitChange, LimitList, LimitView, MetersView, QuotaView
from zoe_lib.domain.executions.limits import AMOUNTS, AMOUNTS_OF_USERS, EVERY, Amounts, Limits, LimitSubject
from zoe_lib.store.errors import NotFound
from zoe_lib.store.postgres.accounts import AccountStore

router = api_router("/admin", tag="administration")
Amount = Literal["executions", "time_limit_s", "cores_milli", "memory_bytes", "read_bytes_per_s", "write_bytes_per_s"]
TenantOf = Annotated[
    str, Query(max_length=128, description="`*` is the default for tenants without a limit of their own.")
]
UserOf = Annotated[
    str | None,
    Query(max_length=200, description="`*` is each user of the tenant; without a user, the limit is the tenant's."),
]


@router.get("/limits", response_model=LimitList)
def list_limits(
    _principal: Admin,
    store: StoreDep,
    tenant: Annotated[str | None, Query(max_length=128, description="Only limits of this tenant.")] = None,
    user: Annotated[str | None, Query(max_length=200, description="Also return the meters of this user.")] = None,
) -> LimitList:
    """List all limits, and how much of them tenants and users use now."""
    if tenant not in (None, EVERY):
        _check_names(store.accounts, LimitSubject(tenant, user))
    limits, uses = store.policy().limits, store.use_by_subject()
    subjects = {LimitSubject(tenant.name) for tenant in store.accounts.tenants()} | uses.keys() | {*limits.subjects()}
    if tenant is not None:
        subjects = {item for item in subjects | {LimitSubject(tenant, user)} if item.tenant == tenant}
    metered = sorted(
        (subject for subject in subjects if EVERY not in subject), key=lambda item: (item.tenant, item.user or "")
    )
    return LimitList(
        limits=[_view(limits, subject) for subject in limits.subjects() if tenant in (None, subject.tenant)],
        meters=[
            MetersView(
                tenant=item.tenant,
                user=item.user,
                time_limit_s=limits.for_subject(item.tenant).time_limit_s,
                meters=meters(limits, uses, item),
            )
            for item in metered
        ],
    )


@router.put("/limits", response_model=LimitView)
def set_limit(body: LimitChange, caller: AsAdmin) -> LimitView:
    """Set amounts of a limit: null is unlimited; absent amounts stay unchanged. Earlier submissions are not
    affected.
    """
    subject, amounts = LimitSubject(body.tenant, body.user), body.amounts.model_dump()
    _check_subject(caller.services.accounts, subject, amounts)
    return _view(_change(caller, lambda limits: limits.with_changed_amounts(subject, amounts), subject), subject)


@router.delete("/limits", status_code=204)
def clear_limit(
    caller: AsAdmin,
    tenant: TenantOf = EVERY,
    user: UserOf = None,
    amount: Annotated[list[Amount] | None, Query(description="Amounts to clear (default: all).")] = None,
) -> Response:
    """Clear limits of a subject; the defaults apply again."""
    subject = LimitSubject(tenant, user)
    if not caller.store.policy().limits.own_amounts(subject):
        raise NotFound(f"no limit is set for {name_of(subject)}")
    _change(caller, lambda limits: limits.without_amounts(subject, amount or AMOUNTS), subject)
    return Response(status_code=204)


@router.put("/tenants/{tenant}/quota", response_model=QuotaView)
def set_quota(tenant: str, body: QuotaView, caller: AsAdmin) -> QuotaView:
    """Set the maximum executions of a tenant, and of each of its users, that wait or run at the same time, and the
    longest time limit. null is unlimited. Earlier submissions are not affected.
    """
    check_tenant(caller.services.accounts, tenant)
    before = quota_of(caller.store.policy().limits, tenant)

    def change(limits: Limits) -> Limits:
        named = quota_of(limits, tenant).model_dump()
        changed = {name: most for name, most in body.model_dump().items() if most != named[name]}
        for name, most in changed.items():
            subject, amount = _OF_QUOTA[name]
            limits = limits.with_changed_amounts(LimitSubject(tenant, subject), {amount: most})
        return limits

    caller.store.change_limits(change, caller.services.clock.now_s(), caller.request_id)
    caller.services.master.hint()
    note_changes(caller.request, before.model_dump(), body.model_dump())
    return body


# The limit of each field of a quota.
_OF_QUOTA = {
    "executions_max": (None, "executions"),
    "executions_of_user_max": (EVERY, "executions"),
    "time_limit_s_max": (None, "time_limit_s"),
}


def quota_of(limits: Limits, tenant: str) -> QuotaView:
    """Return the limits of a tenant that make up its quota."""
    return QuotaView(
        **{name: getattr(limits.for_subject(tenant, user), amount) for name, (user, amount) in _OF_QUOTA.items()}
    )


def check_tenant(accounts: AccountStore, tenant: str) -> None:
    """Raise NotFound if the tenant does not exist."""
    if all(entry.name != tenant for entry in accounts.tenants()):
        raise NotFound(f"tenant {tenant!r} does not exist")


def name_of(subject: LimitSubject) -> str:
    """Return the name of a subject for messages."""
    tenant = "all tenants" if subject.tenant == EVERY else subject.tenant
    if subject.user is None:
        return tenant
    return f"each user of {tenant}" if subject.user == EVERY else f"{subject.user} in {tenant}"


def _change(caller: Caller, change: Callable[[Limits], Limits], subject: LimitSubject) -> Limits:
    before = caller.store.policy().limits
    after = caller.store.change_limits(change, caller.services.clock.now_s(), caller.request_id).limits
    caller.services.master.hint()
    note_changes(
        caller.request, *(dict.fromkeys(AMOUNTS) | dict(limits.own_amounts(subject)) for limits in (before, after))
    )
    return after


def _check_subject(accounts: AccountStore, subject: LimitSubject, amounts: Amounts) -> None:
    if subject.tenant == EVERY and subject.user not in (None, EVERY):
        raise ApiProblem(Code.INVALID_REQUEST, "give the tenant in which the user has the limit")
    _check_names(accounts, subject)
    errors = [*_amounts_of_tenants(subject, amounts), *_amounts_of_nothing(amounts)]
    if errors:
        raise ApiProblem(Code.INVALID_REQUEST, errors=errors)


def _check_names(accounts: AccountStore, subject: LimitSubject) -> None:
    if subject.tenant != EVERY:
        check_tenant(accounts, subject.tenant)
    if subject.user not in (None, EVERY):
        accounts.user(str(subject.user))


def _amounts_of_tenants(subject: LimitSubject, amounts: Amounts) -> Iterator[Diagnostic]:
    for name in amounts if subject.user is not None else ():
        if name not in AMOUNTS_OF_USERS:
            text = f"{name} is a limit of tenants; users have limits of {', '.join(AMOUNTS_OF_USERS)}"
            yield Diagnostic(pointer=f"/body/amounts/{name}", code="not_of_users", message=text)


def _amounts_of_nothing(amounts: Amounts) -> Iterator[Diagnostic]:
    for name in ("cores_milli", "memory_bytes"):
        if amounts.get(name) == 0:
            text = "a limit of 0 lets nothing run; clear it, or give null, for no limit, or set executions to 0"
            yield Diagnostic(pointer=f"/body/amounts/{name}", code="too_low", message=text)


def _view(limits: Limits, subject: LimitSubject) -> LimitView:
    return LimitView(tenant=subject.tenant, user=subject.user, amounts=dict(limits.own_amounts(subject)))
