"""Users, tenants, roles, quotas, all users' tokens and the audit log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated, TypeVar

from fastapi import Query, Response
from starlette.concurrency import run_in_threadpool

from zoe_api.access.access import Admin, AsAdmin
from zoe_api.access.views import token_view
from zoe_api.billing.limits import check_tenant, quota_of
from zoe_api.http.addresses import address_of
from zoe_api.http.attempts.guess_limit import network_of
from zoe_api.http.attempts.password_checks import ADMINS
from zoe_api.http.audit_changes import note_changes
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.people.handing_over import check_heir, hand_over
from zoe_api.people.sign_in import passwords
from zoe_api.people.sign_in.password_strength import check_strength
from zoe_api.services.dependencies import AccountsDep, Caller, StoreDep
from zoe_client.wire import (
    AuditEntryView,
    AuditList,
    EndedAccessView,
    HandOver,
    HandOverView,
    MemberView,
    NewTenant,
    NewUser,
    QuotaView,
    RoleChoice,
    TenantDetail,
    TenantList,
    TokenList,
    UserChange,
    UserList,
    UserView,
)
from zoe_client.wire.base import ID_MAX
from zoe_lib.store.people import Membership, Principal, User
from zoe_lib.store.postgres.accounts import AccountStore

T = TypeVar("T")
router = api_router("/admin", tag="administration")


@router.get("/users", response_model=UserList)
def list_users(_principal: Admin, accounts: AccountsDep) -> UserList:
    """List all users with their roles."""
    roles = accounts.memberships()
    return UserList(users=[_user(user, [m for m in roles if m.user == user.name]) for user in accounts.users()])


@router.post("/users", status_code=201, response_model=UserView)
async def add_user(body: NewUser, caller: AsAdmin) -> UserView:
    """Make a user. Without a password, the user cannot sign in with one."""

    def add() -> UserView:
        if body.password:
            check_strength(body.password, body.name, caller.services, "password")
        user = User(body.name, passwords.hash_password(body.password) if body.password else None)
        caller.services.accounts.add_user(user)
        return _user(user, [])

    return await _run_with_password_checks(caller, body.password, add)


@router.patch("/users/{user}", response_model=UserView)
async def change_user(user: str, body: UserChange, caller: AsAdmin) -> UserView:
    """Set a user's password, or disable the user. A disabled user loses all sessions and tokens for good."""
    if user == caller.user and body.disabled:
        raise ApiProblem(Code.OWN_ACCOUNT, "ask another admin")
    return await _run_with_password_checks(caller, body.password, lambda: _apply_change(user, body, caller))


async def _run_with_password_checks(caller: Caller, password: str | None, work: Callable[[], T]) -> T:
    """Return the result of the task; with a password, run it in separate threads: a hash takes time and memory."""
    if password is None:
        return await run_in_threadpool(work)
    network = network_of(address_of(caller.request))
    return await caller.services.password_checks.run_unbraked(ADMINS, network, work)


def _apply_change(user: str, body: UserChange, caller: Caller) -> UserView:
    accounts = caller.services.accounts
    before = accounts.user(user)
    if body.password is not None:
        check_strength(body.password, user, caller.services, "password")
        accounts.set_password(user, passwords.hash_password(body.password))
        if body.end_tokens:
            accounts.end_access(user)
    if body.disabled is not None:
        accounts.set_disabled(user, body.disabled)
        if body.disabled:
            accounts.end_access(user)  # otherwise a stolen token would work again when the user is enabled
    after = accounts.user(user)
    note_changes(
        caller.request,
        _audited_details(before, ""),
        _audited_details(after, "replaced" if body.password is not None else ""),
    )
    return _user(after, accounts.memberships(user=user))


@router.delete("/users/{user}/access", response_model=EndedAccessView)
def end_access(user: str, caller: AsAdmin, accounts: AccountsDep) -> EndedAccessView:
    """End all tokens and sessions of a user at once. The user may sign in again, and executions continue."""
    ended = accounts.end_access(user)
    note_changes(caller.request, asdict(ended), {"tokens": 0, "sessions": 0})
    return EndedAccessView.model_validate(ended)


@router.get("/tenants", response_model=TenantList)
def list_tenants(_principal: Admin, store: StoreDep) -> TenantList:
    """List all tenants with their members, quotas, and the number of executions that wait or run."""
    active: Counter[str] = Counter()
    for (tenant, _), number in store.active_counts().items():
        active[tenant] += number
    members, limits = store.accounts.memberships(), store.policy().limits
    return TenantList(
        tenants=[
            TenantDetail(
                name=tenant.name,
                **quota_of(limits, tenant.name).model_dump(),
                executions=active[tenant.name],
                members=[MemberView(user=m.user, role=m.role) for m in members if m.tenant == tenant.name],
            )
            for tenant in store.accounts.tenants()
        ]
    )


@router.post("/tenants", status_code=201, response_model=QuotaView)
def add_tenant(body: NewTenant, caller: AsAdmin) -> QuotaView:
    """Make a tenant. The local back-end supports one tenant: with a second, the master does not start."""
    if (
        caller.services.settings.backend == "local"
        and not caller.services.settings.insecure
        and caller.services.accounts.tenants()
    ):
        raise ApiProblem(
            Code.ONE_TENANT,
            hint="use the back-end docker or swarm, or ZOE_INSECURE if all tenants trust each other",
        )
    caller.services.accounts.add_tenant(body.name)
    return QuotaView(executions_max=None)


@router.put("/tenants/{tenant}/members/{user}", response_model=MemberView)
def set_role(tenant: str, user: str, body: RoleChoice, caller: AsAdmin, accounts: AccountsDep) -> MemberView:
    """Make a user a member of a tenant, or change the user's role there."""
    _check_own(caller.principal, user, tenant)
    accounts.user(user)
    check_tenant(accounts, tenant)
    before = _role(accounts, user, tenant)
    accounts.ensure_member(user, tenant, body.role)
    note_changes(caller.request, {"role": before}, {"role": body.role})
    return MemberView(user=user, role=body.role)


@router.delete("/tenants/{tenant}/members/{user}", status_code=204)
def remove_member(tenant: str, user: str, caller: AsAdmin, accounts: AccountsDep) -> Response:
    """End a membership, with its tokens and sessions; executions continue."""
    _check_own(caller.principal, user, tenant)
    before = _role(accounts, user, tenant)
    accounts.remove_member(user, tenant)
    note_changes(caller.request, {"role": before}, {"role": None})
    return Response(status_code=204)


@router.post("/tenants/{tenant}/members/{user}/hand-over", response_model=HandOverView)
def hand_over_to(tenant: str, user: str, body: HandOver, caller: AsAdmin) -> HandOverView:
    """Disable a user, end all sessions and tokens, and give executions, their shares and files to another user.

    One request does a part; repeat it as the response says, also after a failure. Files move once no running service
    uses them. Secrets, limits, roles and past usage stay.
    """
    if user == caller.user:
        raise ApiProblem(Code.OWN_ACCOUNT, "ask another admin")
    check_tenant(caller.services.accounts, tenant)
    check_heir(caller.services.accounts, tenant, user, body.to)
    # Recorded before it begins: a part may be done when a later one fails.
    note_changes(caller.request, {"owner": user}, {"owner": body.to})
    done = hand_over(caller, tenant, user, body.to)
    note_changes(
        caller.request,
        {"owner": user, "executions": None, "files": None},
        {"owner": body.to, "executions": done.executions, "files": done.files},
    )
    return done


@router.get("/tokens", response_model=TokenList)
def list_all_tokens(_principal: Admin, accounts: AccountsDep) -> TokenList:
    """List the tokens of all users, without their secrets."""
    return TokenList(tokens=[token_view(token) for token in accounts.tokens()])


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_any_token(token_id: str, _principal: Admin, accounts: AccountsDep) -> Response:
    """Revoke a token at once."""
    accounts.revoke_token(token_id)
    return Response(status_code=204)


@router.get("/audit", response_model=AuditList)
def list_audit(
    caller: AsAdmin,
    user: Annotated[str | None, Query(max_length=200)] = None,
    action: Annotated[str | None, Query(max_length=200, description="Only entries of this action.")] = None,
    before: Annotated[int | None, Query(ge=1, le=ID_MAX, description="Only entries with a lower id.")] = None,
    limit: Annotated[int, Query(ge=1)] = 50,
) -> AuditList:
    """List who requested which change, newest first."""
    limit = min(limit, caller.services.settings.api_page_max)
    entries = caller.services.accounts.audit(before, limit, user, action)
    return AuditList(
        entries=[AuditEntryView.model_validate(entry) for entry in entries],
        next_before=entries[-1].id if len(entries) == limit else None,
    )


def _check_own(principal: Principal, user: str, tenant: str) -> None:
    """Refuse an admin who removes their own role: the last admin could lock out everyone."""
    if (principal.user, principal.tenant) == (user, tenant):
        raise ApiProblem(Code.OWN_ACCOUNT, "ask another admin")


def _role(accounts: AccountStore, user: str, tenant: str) -> str | None:
    return next(
        (membership.role for membership in accounts.memberships(user=user) if membership.tenant == tenant), None
    )


def _audited_details(user: User, password: str) -> dict[str, object]:
    """Return the details of a user that the audit log may contain."""
    return {"disabled": user.disabled, "password": password}


def _user(user: User, roles: Sequence[Membership]) -> UserView:
    return UserView(
        name=user.name,
        disabled=user.disabled,
        password=user.password_hash is not None,
        provider=user.provider,
        roles={m.tenant: m.role for m in roles},
    )
