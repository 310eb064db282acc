"""Journal decisions on promises that still hold, and keep the room for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from queue import SimpleQueue

from zoe_lib.domain import events as ev
from zoe_lib.domain.consequences import settle
from zoe_lib.domain.execution import Execution, ExecutionId
from zoe_lib.domain.finish_times import PromiseOffers
from zoe_lib.domain.guaranteed import awaits_promise
from zoe_master.loop.promise_decisions import DECISIONS_MAX, PromiseDecision, offer_rooms, promise_rooms
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.promising.choosing import PromiseAnswer
from zoe_master.scheduler.promising.future import NodesLater
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext

_REFUSALS_MAX = 5
_FOUND_MAX = 200
_TAKEN = "Room for it was found several times, and taken by others each time"


class PromiseAnswers:
    """Decisions from other threads, until a tick takes them."""

    def __init__(self, cache: StateCache) -> None:
        self._cache = cache
        self._told: SimpleQueue[PromiseDecision] = SimpleQueue()
        self.taken = 0
        """How many decisions were taken so far; who decides waits until its own are among them."""
        self._looked = False
        self._refused: dict[ExecutionId, int] = {}  # of executions that are decided again

    def tell(self, decisions: Iterable[PromiseDecision]) -> None:
        """Hand over decisions; callable from any thread."""
        for one in decisions:
            self._told.put(one)

    def settle(self, tick: TickContext, snapshot: Callable[[], Snapshot]) -> None:
        """Journal the decisions that still hold, a limited number; the others are made anew."""
        if not self._looked:
            self._look_again(snapshot)
        if self._told.empty():
            return
        later = NodesLater(snapshot(), self._cache.policy)
        for _ in range(3 * DECISIONS_MAX):
            if self._told.empty():
                return
            self._take(self._told.get_nowait(), later, tick)
            self.taken += 1

    def _look_again(self, snapshot: Callable[[], Snapshot]) -> None:
        """Keep room for what a former master promised and offered, before anything else gets it."""
        self._looked = True
        promises = self._cache.promises
        promised, offered = promises.unplaced()[:_FOUND_MAX], promises.unplaced_offers()[:_FOUND_MAX]
        if not promised and not offered:
            return
        later = NodesLater(snapshot(), self._cache.policy)
        for rooms in (promise_rooms(promised, later), offer_rooms(offered, later)):
            for booking in rooms:
                promises.book([booking])
                later.with_bookings([booking])

    def _take(self, decision: PromiseDecision, later: NodesLater, tick: TickContext) -> None:
        execution = self._cache.get(decision.execution.id)
        if execution is None or execution.version != decision.execution.version:
            self._refused.pop(decision.execution.id, None)
            return
        if decision.answer is not None and awaits_promise(execution):
            self._answer(execution, decision.answer, later, tick)
        elif decision.booking is not None:
            self._keep([decision.booking], later)
        elif decision.notice is not None:
            at_risk = ev.PromiseAtRisk(at_s=tick.now_s, cause_id=tick.plan_id, notice=decision.notice)
            self._cache.append(execution, [at_risk])
        elif decision.elastic is not None and execution.promise is not None:
            adjusted = ev.PromiseAdjusted(at_s=tick.now_s, cause_id=tick.plan_id, elastic=decision.elastic)
            self._cache.append(execution, [adjusted])

    def _answer(self, execution: Execution, answer: PromiseAnswer, later: NodesLater, tick: TickContext) -> None:
        event: ev.Event
        if not all(map(later.still_free, answer.bookings)):
            if self._refused.get(execution.id, 0) < _REFUSALS_MAX:
                self._refused[execution.id] = self._refused.get(execution.id, 0) + 1
                return
            answer = PromiseAnswer(offers=PromiseOffers(_TAKEN, tick.now_s))
        self._refused.pop(execution.id, None)
        if answer.terms is not None:
            event = ev.Promised(at_s=tick.now_s, cause_id=tick.plan_id, terms=answer.terms)
        elif answer.offers is not None:
            event = ev.PromiseOffered(at_s=tick.now_s, cause_id=tick.plan_id, offers=answer.offers)
        else:
            return
        after = self._cache.foresee(execution, [event])
        if after is None:
            return
        _, consequences = settle(after, tick.now_s, self._cache.policy, tick.plan_id)
        if self._cache.append(execution, [event, *consequences]) is not None:
            self._keep(answer.bookings, later)

    def _keep(self, bookings: Sequence[Booking], later: NodesLater) -> None:
        if all(map(later.still_free, bookings)):
            self._cache.promises.book(bookings)
            later.with_bookings(bookings)
