"""Journal valid decisions on promises, and reserve room for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from queue import SimpleQueue

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.guaranteed import awaits_promise
from zoe_lib.domain.lifecycle.consequences import settle
from zoe_lib.domain.values.finish_times import PromiseOffers
from zoe_master.loop.promises.decisions import DECISIONS_MAX, PromiseDecision, offer_rooms, promise_rooms
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.promising.choosing import PromiseAnswer
from zoe_master.scheduler.promising.future import FutureNodes
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext

_REFUSALS_MAX = 5
_FOUND_MAX = 200
_TAKEN = "Room for it was found several times, and taken by others each time"


class PromiseAnswers:
    """Decisions from other threads, until a tick takes them."""

    def __init__(self, cache: StateCache, bookings: Iterable[Booking] | None = None) -> None:
        self._cache = cache
        self._told: SimpleQueue[PromiseDecision] = SimpleQueue()
        self.taken = 0
        """Number of decisions taken so far; the deciding thread waits until its own are among them."""
        self._looked = bookings is not None
        self._cache.promises.book(bookings or ())
        self._refused: dict[ExecutionId, int] = {}  # for executions to decide again

    def add_decisions(self, decisions: Iterable[PromiseDecision]) -> None:
        """Hand over decisions; callable from any thread."""
        for decision in decisions:
            self._told.put(decision)

    def settle(self, tick: TickContext, snapshot: Callable[[], Snapshot]) -> None:
        """Journal the valid decisions, a limited number; the others are made again."""
        if not self._looked:
            self._reserve_missing_room(snapshot)
        if self._told.empty():
            return
        later = FutureNodes(snapshot(), self._cache.policy)
        for _ in range(3 * DECISIONS_MAX):
            if self._told.empty():
                return
            self._take(self._told.get_nowait(), later, tick)
            self.taken += 1

    def _reserve_missing_room(self, snapshot: Callable[[], Snapshot]) -> None:
        """Reserve room for promises and offers of a former master, before any other use."""
        self._looked = True
        promises = self._cache.promises
        promised, offered = promises.unplaced_executions()[:_FOUND_MAX], promises.unplaced_offers()[:_FOUND_MAX]
        if not promised and not offered:
            return
        later = FutureNodes(snapshot(), self._cache.policy)
        for rooms in (promise_rooms(promised, later), offer_rooms(offered, later)):
            for booking in rooms:
                promises.book([booking])
                later.with_bookings([booking])

    def _take(self, decision: PromiseDecision, later: FutureNodes, tick: TickContext) -> None:
        execution = self._cache.get(decision.execution.id)
        if execution is None or execution.version != decision.execution.version:
            self._refused.pop(decision.execution.id, None)
            return
        if decision.together:
            self._answer_together((decision, *decision.together), later, tick)
        elif decision.answer is not None and awaits_promise(execution):
            self._answer(execution, decision.answer, later, tick)
        elif decision.booking is not None:
            self._keep([decision.booking], later)
        elif decision.notice is not None:
            at_risk = ev.PromiseAtRisk(at_s=tick.now_s, cause_id=tick.plan_id, notice=decision.notice)
            self._cache.append(execution, [at_risk])
        elif decision.elastic is not None and execution.promise is not None:
            self._adjust(execution, decision.elastic, decision.read_bytes_per_s, later, tick)

    def _adjust(
        self, execution: Execution, elastic: int, rate: int | None, later: FutureNodes, tick: TickContext
    ) -> None:
        """Journal the present guarantees, unless the bandwidth has been taken meanwhile; then it is decided again."""
        if rate is not None:
            if not later.shares.may_hold(execution, rate, later.bookings):
                return
            later.shares.hold(execution, rate)
        adjusted = ev.PromiseAdjusted(at_s=tick.now_s, cause_id=tick.plan_id, elastic=elastic, read_bytes_per_s=rate)
        self._cache.append(execution, [adjusted])

    def _answer(self, execution: Execution, answer: PromiseAnswer, later: FutureNodes, tick: TickContext) -> None:
        if not later.still_free(answer.bookings):
            if self._may_decide_again(execution.id):
                return
            answer = PromiseAnswer(offers=PromiseOffers(_TAKEN, tick.now_s))
        self._refused.pop(execution.id, None)
        events = self._events(execution, answer, tick)
        if events and self._cache.append(execution, events) is not None:
            self._keep(answer.bookings, later)

    def _answer_together(self, decisions: Sequence[PromiseDecision], later: FutureNodes, tick: TickContext) -> None:
        """Journal the answers for a group in one transaction, if each is still valid."""
        answers = {decision.execution.id: decision.answer for decision in decisions if decision.answer is not None}
        members = [self._cache.get(decision.execution.id) for decision in decisions]
        asking = [member for member in members if member is not None and awaits_promise(member)]
        if [decision.version for decision in asking] != [decision.execution.version for decision in decisions]:
            return  # some were changed or have ended: it is decided again
        if not later.still_free([room for answer in answers.values() for room in answer.bookings]):
            if self._may_decide_again(asking[0].id):
                return
            answers = {name: PromiseAnswer(offers=PromiseOffers(_TAKEN, tick.now_s)) for name in answers}
        self._refused.pop(asking[0].id, None)
        events = {execution.id: self._events(execution, answers[execution.id], tick) for execution in asking}
        changes = [
            change
            for execution in asking
            if (change := self._cache.change(execution, events[execution.id])) is not None
        ]
        made = self._cache.append_all(changes)
        self._keep([room for name in made for room in answers[name].bookings], later)

    def _may_decide_again(self, execution_id: ExecutionId) -> bool:
        """Return whether to decide it once more, since the room was taken meanwhile; count it."""
        number = self._refused.get(execution_id, 0)
        self._refused[execution_id] = number + 1
        return number < _REFUSALS_MAX

    def _events(self, execution: Execution, answer: PromiseAnswer, tick: TickContext) -> Sequence[ev.Event]:
        event: ev.Event
        if answer.terms is not None:
            event = ev.promised_event(execution, answer.terms, at_s=tick.now_s, cause_id=tick.plan_id)
        elif answer.offers is not None:
            event = ev.PromiseOffered(at_s=tick.now_s, cause_id=tick.plan_id, offers=answer.offers)
        else:
            return ()
        after = self._cache.execution_after(execution, [event])
        if after is None:
            return ()
        _, consequences = settle(after, tick.now_s, self._cache.policy, tick.plan_id)
        return (event, *consequences)

    def _keep(self, bookings: Sequence[Booking], later: FutureNodes) -> None:
        if later.still_free(bookings):
            self._cache.promises.book(bookings)
            later.with_bookings(bookings)
