"""Hold, release, requeue, change, accept and scale: states, permissions and limits."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from tests.support.applications import application, component, execution
from tests.support.documents import job
from tests.support.manual_clock import ManualClock
from tests.support.plain_api import (
    PEER,
    REQUEST_ID,
    TENANT,
    after,
    caller_of,
    operator,
    person,
    refusal,
    refused_with,
    request,
    services,
)
from tests.support.scheduling import started
from zoe_api.executions import controlling
from zoe_api.http.problems.codes import Code
from zoe_client.vocabulary import Holder, OfferKind
from zoe_client.wire import ModifyRequest, ScaleRequest
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.descriptions.bounds import SERVICES_MAX
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.applications.sharing import ShareLevel
from zoe_lib.domain.cluster.policy import Policy, with_limits
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Outcome
from zoe_lib.domain.executions.limits import LimitSubject
from zoe_lib.domain.values.conditions import Conditions
from zoe_lib.domain.values.finish_times import FinishTerms, Offer, Promise, PromiseOffers, PromiseWish
from zoe_lib.domain.values.scaling import ScalingRule
from zoe_lib.store.errors import TimeLimitTooLong
from zoe_lib.store.people import Principal

FRESH = after(execution(1), ev.Submitted(at_s=1.0))
QUEUED = after(FRESH, ev.Queued(at_s=1.0))
STARTING = started(QUEUED, "n1", "n1", "n1", "n1")
STOPPING = after(STARTING, ev.Stopping(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.EXITED))
ENDED = after(QUEUED, ev.Refused(at_s=2.0, outcome=Outcome.FAILED, cause=Cause.NEVER_FITS))
ADA, OLGA = person(), operator()


def held_by(holder: Holder | None, one: Execution = FRESH) -> Execution:
    return one if holder is None else after(one, ev.Held(at_s=1.0, by=holder))


# -- hold and release --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("one", [FRESH, QUEUED], ids=["submitted", "queued"])
def test_waiting_execution_can_be_held(one: Execution) -> None:
    event = controlling.hold_event(one, caller_of(None, ADA, request()))
    assert isinstance(event, ev.Held)
    assert (event.by, event.user, event.cause_id) == (Holder.USER, "ada", REQUEST_ID)
    assert controlling.hold(caller_of(services(one), ADA, request()), one.id).conditions.held is Holder.USER


@pytest.mark.parametrize("one", [STARTING, STOPPING, ENDED], ids=["starting", "stopping", "ended"])
def test_started_or_ended_execution_is_not_held(one: Execution) -> None:
    with refusal(Code.ILLEGAL_STATE) as found:
        controlling.hold(caller_of(services(one), ADA, request()), one.id)
    assert found.problem.detail == f"it no longer waits: it is {one.state}"


@pytest.mark.parametrize(
    ("principal", "already", "by"),
    [
        (ADA, None, Holder.USER),
        (ADA, Holder.USER, None),
        (ADA, Holder.OPERATOR, None),
        (OLGA, None, Holder.OPERATOR),
        (OLGA, Holder.USER, Holder.OPERATOR),
        (OLGA, Holder.OPERATOR, None),
        (operator("ada"), None, Holder.USER),
    ],
)
def test_the_hold_of_an_operator_is_stronger(principal: Principal, already: Holder | None, by: Holder | None) -> None:
    event: Any = controlling.hold_event(held_by(already), caller_of(None, principal, request()))
    assert (None if event is None else event.by) == by


@pytest.mark.parametrize(
    ("principal", "holder", "changes"),
    [(ADA, None, False), (ADA, Holder.USER, True), (OLGA, Holder.USER, True), (OLGA, Holder.OPERATOR, True)],
)
def test_a_hold_is_released(principal: Principal, holder: Holder | None, changes: bool) -> None:
    one = held_by(holder)
    event = controlling.release_event(one, caller_of(None, principal, request()))
    assert (event is not None) is changes
    released = controlling.release(caller_of(services(one), principal, request()), one.id)
    assert released.conditions.held is None
    assert (released.version > one.version) is changes


def test_hold_by_an_operator_is_not_released_by_users() -> None:
    with refusal(Code.HELD_BY_OPERATOR):
        controlling.release_event(held_by(Holder.OPERATOR), caller_of(None, ADA, request()))


def test_ended_execution_cannot_be_released() -> None:
    with refusal(Code.ILLEGAL_STATE) as found:
        controlling.release(caller_of(services(ENDED), ADA, request()), ENDED.id)
    assert found.problem.detail == "it has ended: it is failed"
    assert controlling.release_event(STARTING, caller_of(None, ADA, request())) is None


# -- requeue -----------------------------------------------------------------------------------------------------------
def test_running_execution_is_requeued() -> None:
    made = services(STARTING)
    stopping = controlling.requeue(caller_of(made, ADA, request()), STARTING.id)
    assert (stopping.state, stopping.cause, stopping.outcome) == (
        ExecutionState.STOPPING,
        Cause.REQUEUED,
        Outcome.FAILED,
    )
    assert stopping.message == "requeued by ada"
    assert controlling.requeue(caller_of(made, ADA, request()), STARTING.id) == stopping


@pytest.mark.parametrize(
    ("one", "hint"),
    [(FRESH, "it waits for its start"), (QUEUED, "it waits for its start"), (STOPPING, "submit it"), (ENDED, "submit")],
)
def test_execution_that_does_not_run_is_not_requeued(one: Execution, hint: str) -> None:
    with refusal(Code.ILLEGAL_STATE) as found:
        controlling.requeue(caller_of(services(one), ADA, request()), one.id)
    assert found.problem.detail == f"it is not running: it is {one.state}"
    assert found.problem.hint.startswith(hint)


# -- modify ------------------------------------------------------------------------------------------------------------
def modified(one: Execution, principal: Principal = ADA, policy: Policy | None = None, **given: Any) -> Execution:
    made = services(one)
    if policy is not None:
        made.store._state.policy = policy
    if principal.user == PEER:
        made.accounts.shared[one.id, TENANT, PEER] = ShareLevel.CONTROL
    return controlling.modify(caller_of(made, principal, request()), one.id, ModifyRequest(**given))


def test_omitted_fields_stay_unchanged() -> None:
    one = after(execution(1, priority=3, deadline_s=1e12), ev.Submitted(at_s=1.0))
    assert modified(one) == one
    assert modified(one, priority=3) == one
    changed = modified(one, priority=4)
    assert (changed.priority, changed.deadline_s) == (4, 1e12)
    assert modified(one, deadline_s=None).deadline_s is None
    assert modified(one, begin_at_s=3e9).conditions.begin_at_s == 3e9
    later = modified(one, deadline_s=60.0).deadline_s
    assert later is not None
    assert 59 < later - time.time() <= 60


def test_a_deadline_as_people_write_it_counts_as_a_time() -> None:
    assert modified(FRESH, deadline="2040-01-01T00:00Z").deadline_s == 2208988800.0
    with refusal(Code.INVALID_REQUEST):
        modified(FRESH, deadline="2020-01-01T00:00Z")


@pytest.mark.parametrize("one", [STARTING, ENDED], ids=["starting", "ended"])
def test_only_what_waits_is_changed(one: Execution) -> None:
    with refusal(Code.ILLEGAL_STATE):
        modified(one, priority=1)


def test_users_give_no_higher_priority_than_the_policy_lets_them() -> None:
    policy = Policy(priorities_max={TENANT: 5})
    assert modified(FRESH, policy=policy, priority=5).priority == 5
    with refusal(Code.PRIORITY_TOO_HIGH):
        modified(FRESH, policy=policy, priority=6)
    assert modified(FRESH, OLGA, policy, priority=6).priority == 6


def limited(seconds: float) -> Policy:
    made = Policy()
    limits = made.limits.with_changed_amounts(LimitSubject(TENANT), {"time_limit_s": seconds})
    return with_limits(made, limits)


def test_a_time_limit_stays_within_that_of_the_tenant() -> None:
    assert modified(FRESH, time_limit_s=60.0).application.time_limit_s == 60
    assert modified(FRESH, time_limit_s=None) == FRESH
    assert modified(FRESH, policy=limited(60), time_limit_s=60.0).application.time_limit_s == 60
    assert modified(FRESH, policy=limited(60), time_limit_s=None).application.time_limit_s == 60
    with pytest.raises(TimeLimitTooLong):
        modified(FRESH, policy=limited(60), time_limit_s=61.0)


def promised(one: Execution = FRESH, **terms: Any) -> Execution:
    given = FinishTerms(**{"finish_s": 9e11, "confidence": 0.9, "elastic": 1, "run_s": 5, "begin_by_s": 8e11, **terms})
    wish = Application(name="sums", components=one.application.components, promise=PromiseWish())
    fresh = after(execution(1, application=wish, deadline_s=1e12), ev.Submitted(at_s=1.0))
    return after(fresh, ev.Promised(at_s=1.0, terms=given))


def test_of_what_is_promised_only_the_priority_changes() -> None:
    assert modified(promised(), priority=7).priority == 7
    with refusal(Code.ILLEGAL_STATE) as found:
        modified(promised(), priority=7, begin_at_s=5.0)
    assert found.problem.hint == "cancel it, and submit it again"


def test_only_its_owner_changes_the_description() -> None:
    with refusal(Code.SHARE_TOO_LOW):
        modified(FRESH, person(PEER), application=job())
    with refusal(Code.SHARE_TOO_LOW):
        modified(FRESH, OLGA, application=job())
    assert modified(FRESH, person(PEER), priority=1).priority == 1


def test_the_event_says_in_words_what_changed() -> None:
    before = ev.Requested(priority=1, deadline_s=None, begin_at_s=None, application=application())
    main = application().components[0]
    other = application(main, component("worker", 1, 3, startup_order=1, image="zoe/other"), time_limit_s=90.0)

    def words(**changes: Any) -> list[str]:
        return list(controlling.differences(before, replace(before, **changes)))

    assert words() == []
    assert words(priority=2) == ["priority 1 to 2"]
    assert words(deadline_s=5.0) == ["deadline"]
    assert words(begin_at_s=5.0) == ["begin"]
    assert words(application=other) == ["time limit none to 90 s", "component worker"]
    assert words(application=application(description="new")) == ["other parts of its description"]
    assert words(priority=2, deadline_s=5.0, begin_at_s=5.0) == ["priority 1 to 2", "deadline", "begin"]


DAY_S = 86_400.0


# -- accept ------------------------------------------------------------------------------------------------------------
def offered(number: int = 2, ends_in_s: float = DAY_S, **changes: Any) -> Execution:
    terms = [FinishTerms(9e11 + n, 0.9, 1, 5.0, 8e11) for n in range(number)]
    offers = PromiseOffers("no room", time.time() + ends_in_s, tuple(Offer(OfferKind.EARLIEST, term) for term in terms))
    wish = application(promise=PromiseWish())
    one = after(execution(1, application=wish, deadline_s=1e12, **changes), ev.Submitted(at_s=1.0))
    return after(one, ev.PromiseOffered(at_s=1.0, offers=offers))


def accepted(one: Execution, number: int, clock: Clock = SYSTEM_CLOCK) -> Execution:
    made = services(one)
    made.clock = clock
    return controlling.accept(caller_of(made, ADA, request()), one.id, number)


@pytest.mark.parametrize("number", [1, 2])
def test_an_offer_becomes_the_promise(number: int) -> None:
    made = services(offered())
    one = controlling.accept(caller_of(made, ADA, request()), FRESH.id, number)
    assert one.promise is not None
    assert (one.promise.offer, one.promise.terms.finish_s) == (number, 9e11 + number - 1)
    assert controlling.accept(caller_of(made, ADA, request()), FRESH.id, number) == one
    with refusal(Code.ILLEGAL_STATE) as found:
        controlling.accept(caller_of(made, ADA, request()), FRESH.id, 3 - number)
    assert found.problem.detail == f"its offer {number} was accepted already"


@pytest.mark.parametrize(
    ("one", "number", "detail", "hint"),
    [
        (offered(), 0, "there is no offer 0", "it has the offers 1 to 2"),
        (offered(), 3, "there is no offer 3", "it has the offers 1 to 2"),
        (offered(0), 1, "there is no offer 1", ""),
        (offered(ends_in_s=-0.001), 1, "there are no offers to accept", "submit it again to get new offers"),
        (FRESH, 1, "there are no offers to accept", "submit it again to get new offers"),
        (QUEUED, 1, "there are no offers to accept", "submit it again to get new offers"),
        (promised(), 1, "it is promised already as asked for", ""),
    ],
)
def test_missing_offer_is_not_accepted(one: Execution, number: int, detail: str, hint: str) -> None:
    with refusal(Code.ILLEGAL_STATE) as found:
        accepted(one, number)
    assert (found.problem.detail, found.problem.hint) == (detail, hint)


def test_an_offer_is_over_at_its_very_end() -> None:
    one = offered()
    assert one.offers is not None
    ends_s = one.offers.ends_s
    with refusal(Code.ILLEGAL_STATE):
        accepted(one, 1, ManualClock(ends_s))
    assert accepted(one, 1, ManualClock(ends_s - 0.001)).promise is not None


@pytest.mark.parametrize(
    ("whole", "command", "kind"),
    [
        ("a0123456789abcd", "zoe accept", "indices of its array"),
        ("w0123456789abcd", "zoe workflow accept", "steps of its workflow"),
    ],
)
def test_part_of_a_whole_is_accepted_with_the_whole(whole: str, command: str, kind: str) -> None:
    with refusal(Code.ILLEGAL_STATE) as found:
        accepted(offered(conditions=Conditions(whole=whole, members=2)), 1)
    assert kind in found.problem.detail
    assert f"`{command} {whole} NUMBER`" in found.problem.hint


# -- scale -------------------------------------------------------------------------------------------------------------
def scaled(one: Execution, **counts: int) -> Execution:
    return controlling.scale(caller_of(services(one), ADA, request()), one.id, ScaleRequest(total_counts=counts))


@pytest.mark.parametrize("one", [FRESH, QUEUED, STARTING], ids=["submitted", "queued", "starting"])
def test_elastic_instances_come_and_go(one: Execution) -> None:
    changed = scaled(one, worker=5)
    assert changed.application.component("worker").total_count == 5
    assert scaled(one, worker=1).application.component("worker").total_count == 1
    assert scaled(one, worker=3) == one
    assert scaled(one, worker=3, master=1) == one


@pytest.mark.parametrize("one", [STOPPING, ENDED], ids=["stopping", "ended"])
def test_ended_or_stopping_execution_is_not_scaled(one: Execution) -> None:
    with refusal(Code.ILLEGAL_STATE):
        scaled(one, worker=5)


RULED = component("worker", 1, 2, scaling=ScalingRule(1, 4, cpu=0.5))
SCALED = after(execution(1, application=application(component("main"), RULED)), ev.Submitted(at_s=1.0))
OPTIONAL = after(
    execution(1, application=application(component("main"), component("extra", 0, 2))), ev.Submitted(at_s=1.0)
)


@pytest.mark.parametrize(
    ("one", "counts", "codes", "message"),
    [
        (FRESH, {"none": 1}, ["unknown"], "it has no component none; it has master, worker"),
        (SCALED, {"worker": 5}, ["too_high"], "the scaling rule of worker has a maximum of 4 instances"),
        (FRESH, {"master": 2}, ["too_high"], "master ends the application: it has one instance"),
        (FRESH, {"worker": 0}, ["too_low"], "1 instances of worker are essential, and stay"),
        (OPTIONAL, {"extra": 0}, ["too_low"], "extra has at least one instance"),
        (FRESH, {"none": 1, "worker": 0}, ["unknown", "too_low"], "it has no component none; it has master, worker"),
        (FRESH, {"worker": 10000}, ["too_high"], "that would be 10001 services; an application has at most 10000"),
    ],
)
def test_counts_out_of_bounds_are_refused(
    one: Execution, counts: dict[str, int], codes: list[str], message: str
) -> None:
    problem = refused_with(lambda: scaled(one, **counts))
    assert problem.code == Code.INVALID_REQUEST
    assert [error.code for error in problem.errors] == codes
    assert problem.detail == message
    assert problem.errors[0].pointer.startswith("/total_counts")


def test_the_bounds_of_counts_themselves_are_allowed() -> None:
    most = SERVICES_MAX - 1
    assert scaled(FRESH, worker=most).application.component("worker").total_count == most
    assert scaled(OPTIONAL, extra=1).application.component("extra").total_count == 1


def test_instances_guaranteed_by_a_promise_are_kept() -> None:
    one = promised()
    assert scaled(one, worker=2).application.component("worker").total_count == 2
    with refusal(Code.ILLEGAL_STATE) as found:
        scaled(one, worker=1)
    assert found.problem.detail == "2 instances of worker are guaranteed by its promise"
    assert isinstance(one.promise, Promise)
