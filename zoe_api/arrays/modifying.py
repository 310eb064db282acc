"""Change a whole array: its row, then its waiting executions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from zoe_api.executions.arrays import change_array, change_each, owns_array, seen_array
from zoe_api.executions.controlling import changed_description, differences
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.services.dependencies import Caller
from zoe_client.wire import ArrayModifyRequest
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions import arrays as domain
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind
from zoe_lib.domain.executions.events import Event, Modified, Requested
from zoe_lib.domain.executions.execution import WAITING_STATES, Execution
from zoe_lib.domain.values.frozen import changed
from zoe_lib.store.quotas import with_time_limit
from zoe_lib.store.values import ArrayChange
from zoe_lib.submission.checking import checked_priority
from zoe_lib.submission.deadlines import given_deadline

_ANEW = "cancel it, and submit it again"


@dataclass(frozen=True)
class _ArrayChange:
    """The requested values. `fields`: those of the array and of executions with the same names. application: the new
    description, None for the present one. given: names of the fields in the request.
    """

    fields: dict[str, Any]
    given: frozenset[str]
    application: Application | None = None
    begin_at_s: float | None = None
    time_limit_s: float | None = None

    def of_array(self, array: Array) -> Array:
        """Return the array after the change."""
        conditions = array.conditions
        if "begin_at_s" in self.given:
            conditions = changed(conditions, begin_at_s=self.begin_at_s)
        # The new deadline may be missed again.
        late: dict[str, Any] = {"late_count": None} if "deadline_s" in self.fields else {}
        application = self._with_time_limit(self.application or array.application)
        return changed(array, **self.fields, **late, conditions=conditions, application=application)

    def of_index(self, before: Requested, array: Array, execution_id: str) -> Requested:
        """Return the execution of an index after the change; `array`: the array after the change."""
        application, member = before.application, domain.member_of(execution_id)
        if self.application is not None and member is not None:
            application = domain.application_of(array, member.index)
        given = {name: value for name, value in self.fields.items() if name != "at_once"}
        if "begin_at_s" in self.given:
            given["begin_at_s"] = self.begin_at_s
        return replace(before, **given, application=self._with_time_limit(application))

    def _with_time_limit(self, application: Application) -> Application:
        return replace(application, time_limit_s=self.time_limit_s) if "time_limit_s" in self.given else application

    @property
    def of_indices(self) -> bool:
        """Return whether the request changes waiting executions."""
        return bool(self.given - {"at_once_max"})


def modify(caller: Caller, array_id: str, body: ArrayModifyRequest) -> Array:
    """Return the array after the change: maximum active indices; priority, deadline, begin, time limit and description
    of all indices that wait. 422 as for a submission; 409 if it has ended, or was changed concurrently while the new
    description was checked.
    """
    seen = seen_array(array_id, caller)
    wanted = _requested_change(body, seen, caller)

    def decide(array: Array, _: bytearray) -> ArrayChange | None:
        if not array.open_count:
            raise ApiProblem(Code.ILLEGAL_STATE, f"it has ended: it is {array.state}")
        if domain.requests_joint_promise(array) and wanted.given - {"priority"}:
            raise ApiProblem(
                Code.ILLEGAL_STATE, "an array that asks for a promise cannot be changed, except its priority", _ANEW
            )
        if wanted.application is not None and array.application != seen.application:
            raise ApiProblem(
                Code.CONFLICT, "its description was changed meanwhile", "read it again, and repeat the change"
            )
        after = wanted.of_array(array)
        if after == array:
            return None
        what = list(differences(_present_request(array), _present_request(after)))
        if after.at_once != array.at_once:
            what.append(f"at once {_number(array.at_once)} to {_number(after.at_once)}")
        data = {"user": caller.user, "what": "; ".join(what), **wanted.fields}
        return ArrayChange(after, ArrayEventKind.MODIFIED, data)

    array = change_array(caller, array_id, decide)
    if wanted.of_indices:
        change_each(
            caller,
            array_id,
            lambda execution: _modified_event(execution, wanted, array, caller, clock=caller.services.clock),
        )
    return caller.store.array(array_id)


def _present_request(array: Array) -> Requested:
    return Requested(
        priority=array.priority,
        deadline_s=array.deadline_s,
        begin_at_s=array.conditions.begin_at_s,
        application=array.application,
    )


def _number(at_once: int | None) -> str:
    return "any number" if at_once is None else str(at_once)


def _requested_change(body: ArrayModifyRequest, array: Array, caller: Caller) -> _ArrayChange:
    given, application = body.model_fields_set, None
    fields: dict[str, Any] = {}
    if "at_once_max" in given:
        fields["at_once"] = body.at_once_max
    if body.priority is not None:
        fields["priority"] = checked_priority(body.priority, caller.services, caller.principal, array.tenant)
    if body.deadline is not None or "deadline_s" in given:
        deadline = given_deadline(body.deadline, body.deadline_s, caller.services.clock.now_s())
        fields["deadline_s"] = None if deadline is None else deadline.at_s
    if body.application is not None:
        if array.entries is not None:
            why = "it runs for the entries of a list, which were checked against its description"
            raise ApiProblem(Code.ILLEGAL_STATE, why, "change the step in the file, and run the workflow anew")
        application = changed_description(
            body.application,
            array.application,
            array.tenant,
            array.priority,
            caller,
            owned=owns_array(caller.principal, array),
        )
    time_limit_s = body.time_limit_s
    if "time_limit_s" in given:
        asked = replace(application or array.application, time_limit_s=time_limit_s)
        time_limit_s = with_time_limit(asked, array.tenant, caller.store.policy().limits)[0].time_limit_s
    return _ArrayChange(fields, frozenset(given), application, body.begin_at_s, time_limit_s)


def _modified_event(
    execution: Execution,
    wanted: _ArrayChange,
    array: Array,
    caller: Caller,
    clock: Clock = SYSTEM_CLOCK,
) -> Event | None:
    before = Requested.of_execution(execution)
    after = wanted.of_index(before, array, execution.id)
    if execution.state not in WAITING_STATES or after == before:
        return None
    return Modified(
        at_s=clock.now_s(),
        cause_id=caller.request_id,
        before=before,
        after=after,
        user=caller.user,
        what="; ".join(differences(before, after)),
    )
