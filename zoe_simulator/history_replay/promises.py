"""Decisions on promises in a replay: those of the record while nothing has changed, afterwards new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from zoe_lib.clock import Clock
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.pricing.price_list import PriceList
from zoe_master.loop.master import Master
from zoe_master.loop.promises.decisions import PromiseDecision, PromiseDecisions
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.booking.bookings import Booking, booked_for, offer_name
from zoe_master.scheduler.promising.choosing import PromiseAnswer
from zoe_master.state.promise_prices import StoredPrices
from zoe_simulator.history_replay.kinds import PROMISES
from zoe_simulator.history_replay.recording import Moment, to_event

_LEARNED_MAX = 20_000


def recorded_decisions(
    moment: Moment, before: Mapping[str, Booking], execution: Callable[[ExecutionId], Execution | None]
) -> Iterator[PromiseDecision]:
    """Yield the decisions that a recorded tick took. `before`: the bookings of the tick before it."""
    fresh = {name: one for name, one in moment.inputs.bookings.items() if before.get(name) != one}
    answers = list(_answers(moment, fresh, execution))
    for name, booking in fresh.items():
        wanted = execution(booked_for(name))
        if wanted is not None and not any(booking in _bookings_of(answer) for answer in answers):
            yield PromiseDecision(wanted, booking=booking)
    yield from answers


def _answers(
    moment: Moment, fresh: Mapping[str, Booking], execution: Callable[[ExecutionId], Execution | None]
) -> Iterator[PromiseDecision]:
    for entry in moment.wrote:
        if entry.kind not in PROMISES or (wanted := execution(entry.execution_id or "")) is None:
            continue
        match to_event(entry):
            case ev.Promised(terms=terms):
                answer = PromiseAnswer(terms=terms, bookings=_with_names(fresh, [wanted.id]))
                yield PromiseDecision(wanted, answer=answer)
            case ev.PromiseOffered(offers=offers):
                names = [offer_name(wanted.id, number) for number in range(1, len(offers.offers) + 1)]
                yield PromiseDecision(wanted, answer=PromiseAnswer(offers=offers, bookings=_with_names(fresh, names)))
            case ev.PromiseAtRisk(notice=notice):
                yield PromiseDecision(wanted, notice=notice)
            case ev.PromiseAdjusted(elastic=elastic, read_bytes_per_s=rate):
                yield PromiseDecision(wanted, elastic=elastic, read_bytes_per_s=rate)


def _with_names(bookings: Mapping[str, Booking], names: Sequence[str]) -> tuple[Booking, ...]:
    return tuple(bookings[name] for name in names if name in bookings)


def _bookings_of(decision: PromiseDecision) -> tuple[Booking, ...]:
    return () if decision.answer is None else decision.answer.bookings


class NewDecisions:
    """Decides after each tick, as the thread of a master does. Nothing is known of the progress of programs."""

    def __init__(self, master: Master, prices: Sequence[PriceList], clock: Clock) -> None:
        self._master = master
        self._decisions = PromiseDecisions(master.run_times, StoredPrices(lambda: prices, clock))

    def decide_on(self, tick: Tick) -> bool:
        """Hand the decisions to the master; return whether there are any."""
        self._master.run_times.work_off(_LEARNED_MAX)
        made = self._decisions.decide_on(tick)
        self._master.note_promises(made)
        return bool(made)
