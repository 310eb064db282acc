"""Hand over everything of a user who leaves to another user of the tenant, in repeatable parts."""

from __future__ import annotations

from typing import Any

import structlog

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller, ask
from zoe_client.wire import HandOverView
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.roles import SCOPES, Scope
from zoe_lib.domain.applications.sharing import Visibility
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind
from zoe_lib.domain.executions.events import OwnerChanged
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import ConcurrentUpdate, NotFound
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.values import ArrayChange, ArrayQuery, ExecutionQuery

log = structlog.get_logger(__name__)

# A request takes seconds at most: each execution is a separate transaction, like a cancellation.
EXECUTIONS_MAX = 500
_ATTEMPTS_MAX = 5


def check_heir(accounts: AccountStore, tenant: str, user: str, to: str) -> None:
    """Refuse users who cannot take over: users outside the tenant, disabled ones, and those without the right to
    cancel.
    """
    accounts.user(user)
    if user == to:
        raise ApiProblem(Code.INVALID_REQUEST, f"{to} is the user who leaves")
    heir = accounts.user(to)
    role = next((membership.role for membership in accounts.memberships(user=to) if membership.tenant == tenant), None)
    if role is None:
        raise NotFound(f"{to} is not a member of {tenant}")
    if heir.disabled:
        raise ApiProblem(Code.ILLEGAL_STATE, f"user {to} is disabled", f"zoe admin user enable {to}")
    if Scope.SUBMIT not in SCOPES[role]:
        raise ApiProblem(
            Code.ILLEGAL_STATE, f"{to} is a {role} in {tenant}, without the right to run or cancel executions"
        )


def hand_over(caller: Caller, tenant: str, user: str, to: str) -> HandOverView:
    """Disable the user, then hand over a part of the executions, or, if none is left, the files.

    The user is disabled first, so that nothing new needs a hand-over.
    """
    services, request_id = caller.services, caller.request_id
    services.accounts.set_disabled(user, True)
    services.accounts.end_access(user)
    # Arrays first, since executions are made of them for their owner.
    arrays_left = _arrays(services.store, tenant, user, to, request_id, clock=services.clock)
    number, left = _executions(services.store, tenant, user, to, request_id)
    left = left or arrays_left
    services.store.schedules.hand_over_applications(tenant, user, to)
    services.store.schedules.hand_over(tenant, user, to)
    services.accounts.hand_over_volumes(tenant, user, to)
    services.master.hint()
    log.info("handed over", tenant=tenant, user=user, to=to, executions=number, left=left)
    if left:
        return HandOverView(executions=number, executions_left=True, files="waiting", message="executions come first")
    body = {"tenant": tenant, "user": user, "to": to}
    moved: dict[str, Any] = ask(services.master, "move_workspace", body, caller.request, caller.user)
    return HandOverView(
        executions=number,
        executions_left=False,
        files=moved["state"],
        directory=moved["directory"],
        message=moved["message"],
    )


def _arrays(
    store: ExecutionStore, tenant: str, user: str, to: str, request_id: str, clock: Clock = SYSTEM_CLOCK
) -> bool:
    """Give some arrays to the new owner; return whether there may be more."""

    def decide(array: Array, _: bytearray) -> ArrayChange | None:
        if array.user != user:
            return None
        return ArrayChange(changed(array, user=to), ArrayEventKind.OWNER, {"former": user, "user": to})

    query = ArrayQuery(visibility=Visibility(tenant), user=user, limit=EXECUTIONS_MAX)
    page = store.arrays(query)
    for array in page.arrays:
        store.change_array(array.id, decide, clock.now_s(), request_id)
    return page.next_cursor is not None


def _executions(store: ExecutionStore, tenant: str, user: str, to: str, request_id: str) -> tuple[int, bool]:
    """Give some executions to the new owner; return how many, and whether there may be more."""
    found = store.executions(ExecutionQuery(visibility=Visibility(tenant), user=user, limit=EXECUTIONS_MAX)).executions
    given = sum(_give_execution(store, execution, to, request_id) for execution in found)
    return given, given < len(found) or len(found) == EXECUTIONS_MAX


def _give_execution(
    store: ExecutionStore, found: Execution, to: str, request_id: str, clock: Clock = SYSTEM_CLOCK
) -> bool:
    """Hand over one execution; return False if it changes too often."""
    execution = found
    for _ in range(_ATTEMPTS_MAX):
        event = OwnerChanged(at_s=clock.now_s(), cause_id=request_id, former=found.user, user=to)
        try:
            store.append(execution.id, [event], execution.version, None)
        except ConcurrentUpdate:
            execution = store.execution(execution.id)
            if execution.user != found.user:
                return False
        else:
            return True
    return False
