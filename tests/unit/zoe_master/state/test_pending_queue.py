import random
from dataclasses import replace

import pytest

from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import OwnerChanged, ReasonChanged
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.run_times.samples import RunKey, run_key
from zoe_master.scheduler.ordering.ranking import QueueRanking
from zoe_master.state.pending_queue import PendingQueue
from zoe_master.state.run_history import KindEstimates

BEHIND, OTHER = Reason(ReasonCode.BEHIND_IN_QUEUE, "behind"), Reason(ReasonCode.NO_RESOURCES, "no room")
SJF = Policy(order="sjf")


def told(execution: Execution, reason: Reason) -> Execution:
    return apply(execution, ReasonChanged(at_s=1.0, reason=reason))


def ids(executions: object) -> list[str]:
    return [e.id for e in executions]  # type: ignore[attr-defined]


def test_oldest_waiting_execution_is_known_after_every_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoe_master.state.pending_queue._GONE_MAX", 3)
    backlog = PendingQueue([], SJF, {})
    assert backlog.oldest_at_s is None
    chance, there, most = random.Random(7), dict[str, Execution](), 0
    for number in range(300):
        if there and chance.random() < 0.5:
            backlog.remove(there.pop(chance.choice(sorted(there))))
        else:
            execution = queued(f"e{number:03}", at_s=chance.choice([1.0, chance.random() * 100]))
            there[execution.id] = execution
            backlog.put(execution)
            backlog.put(execution)  # changed
        assert backlog.oldest_at_s == min((e.submitted_at_s for e in there.values()), default=None)
        most = max(most, len(there))
    assert len(backlog._by_age) <= 2 * most + 4, "who is gone is forgotten"


def test_only_those_are_named_who_were_told_otherwise() -> None:
    one, two, three = queued("one"), told(queued("two"), BEHIND), told(queued("three"), OTHER)
    backlog = PendingQueue([one, two, three], SJF, {})
    assert ids(backlog.with_other_reason(BEHIND)) == ["one", "three"]
    backlog.put(told(one, BEHIND))
    backlog.put(told(two, replace(BEHIND)))  # as read again from a database
    backlog.put(queued("four"))
    assert ids(backlog.with_other_reason(BEHIND)) == ["three", "four"]
    backlog.remove(three)
    assert ids(backlog.with_other_reason(BEHIND)) == ["four"]
    assert ids(backlog.with_other_reason(OTHER)) == ["one", "two", "four"]


def test_images_are_those_of_what_is_queued() -> None:
    spark = replace(component(), image="spark")
    one, two = queued("one", component(), spark), queued("two")
    fresh = Execution("new", "new", "default", "ada", queued("x", replace(spark, image="new")).application, 0.0)
    backlog = PendingQueue([one, two, fresh], SJF, {})
    assert backlog.images == ["spark", "zoe/tiny"]
    assert ids(backlog.submitted_executions) == ["new"]
    backlog.remove(one)
    assert backlog.images == ["zoe/tiny"]
    assert ids(backlog.wanting("zoe/tiny")) == ["two"]
    assert ids(backlog.wanting("spark")) == []


def test_learned_run_time_moves_its_whole_kind() -> None:
    known: dict[RunKey, float] = {}
    slow, quick = queued("slow", expected_run_s=None), queued("quick", expected_run_s=30.0)
    backlog = PendingQueue([slow, quick], SJF, known)
    assert ids(backlog.ranked_queue(SJF)) == ["quick", "slow"]
    known[run_key(slow)] = 5.0
    backlog.rank_again(run_key(slow))
    assert ids(backlog.ranked_queue(SJF)) == ["slow", "quick"]
    assert ids(backlog.ranked_queue(Policy(order="fifo"))) == ["quick", "slow"]


def test_one_that_starts_is_gone_without_a_trace() -> None:
    one = queued("one")
    backlog = PendingQueue([one], SJF, {})
    backlog.put(replace(one, not_before_s=5.0))
    assert ids(backlog.paused_executions) == ["one"]
    backlog.remove(started(one, node("n").name))
    backlog.remove(one)
    for some in (
        backlog,
        backlog.submitted_executions,
        backlog.paused_executions,
        backlog.ranked_queue(SJF),
        backlog.with_other_reason(BEHIND),
    ):
        assert ids(some) == []


def test_kinds_are_known_while_they_are_there() -> None:
    one, other = ("t", "u", "a:1", 0, 0), ("t", "u", "b:", 0, 0)
    runs = {one: 10.0}
    kinds = KindEstimates(runs.get, runs.__contains__)
    for kind in (one, one, other):
        kinds.enter(kind)
    before = kinds.snapshot()
    assert before == {one: 10.0}
    runs[one], runs[other] = 20.0, 5.0
    assert [kinds.run_ended(kind) for kind in runs] == [[one], [other]]
    assert kinds.run_ended(one) == [], "nothing has changed"
    kinds.leave(one)
    assert kinds.snapshot() == {one: 20.0, other: 5.0}
    kinds.leave(one)
    assert kinds.snapshot() == {other: 5.0}
    assert before == {one: 10.0}


def test_an_ended_run_changes_the_kinds_of_its_program_that_it_tells_about() -> None:
    own, similar, elsewhere = (
        ("t", user, program, 0, 0) for user, program in (("u", "a:1"), ("u", "a:5"), ("v", "a:1"))
    )
    runs = {own: 10.0, similar: 10.0, elsewhere: 30.0}
    kinds = KindEstimates(runs.get, {elsewhere}.__contains__)
    for kind in runs:
        kinds.enter(kind)
    runs.update({own: 20.0, elsewhere: 20.0})
    del runs[similar]
    assert kinds.run_ended(own) == [own, similar], "the other user has runs of his own"
    assert kinds.snapshot() == {own: 20.0, elsewhere: 30.0}


def test_submitted_execution_is_not_ranked_before_it_is_queued() -> None:
    one, fresh = queued("one"), replace(queued("new"), state=ExecutionState.SUBMITTED)
    backlog = PendingQueue([one, fresh], SJF, {})
    assert ids(backlog.ranked_queue(SJF)) == ids(backlog.with_other_reason(BEHIND)) == ["one"]
    backlog.put(replace(fresh, priority=1))
    assert ids(backlog.ranked_queue(SJF)) == ids(backlog.with_other_reason(BEHIND)) == ["one"]
    backlog.put(queued("new"))
    assert sorted(ids(backlog.ranked_queue(SJF))) == sorted(ids(backlog.with_other_reason(BEHIND))) == ["new", "one"]
    assert ids(backlog.submitted_executions) == []


def test_many_run_times_that_are_learned_rank_a_long_queue_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rankings: list[int] = []

    class Counted(QueueRanking):
        def put(self, execution: Execution) -> None:
            rankings.append(1)
            super().put(execution)

    monkeypatch.setattr("zoe_master.state.pending_queue.QueueRanking", Counted)
    known: dict[RunKey, float] = {}
    waiting = [queued(f"{number:03}", component(command=(f"run{number}",))) for number in range(100)]
    backlog = PendingQueue(waiting, SJF, known)
    for execution in waiting:
        known[run_key(execution)] = 100.0 - float(execution.id)
        backlog.rank_again(run_key(execution))
    assert ids(backlog.ranked_queue(SJF)) == [e.id for e in reversed(waiting)]
    assert rankings == []
    known[run_key(waiting[0])] = 0.5
    backlog.rank_again(run_key(waiting[0]))
    assert ids(backlog.ranked_queue(SJF))[:2] == ["000", "099"]
    assert rankings == [1]


def test_of_one_that_changes_its_owner_the_former_kind_keeps_nothing() -> None:
    first, waiting = queued("first"), queued("second")
    backlog = PendingQueue([first, waiting], SJF, {})
    given = apply(first, OwnerChanged(at_s=1.0, former=first.user, user="bob"))
    backlog.put(given)
    assert ids(backlog) == ["first", "second"]
    assert {kind: ids(some.values()) for kind, some in backlog._by_kind.items()} == {
        run_key(waiting): ["second"],
        run_key(given): ["first"],
    }
    backlog.remove(given)
    backlog.remove(waiting)
    assert not backlog._by_kind
