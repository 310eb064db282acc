"""Executions promised as a group: all of them end by a time, in their order, or none is promised. Pure.

Each must end before the begin of its dependents, so the last are given room first. The promise is kept if each member
keeps its time, so each of n members gets the chance 1 - (1 - c) / n (Bonferroni's inequality): the group has at least
the chance c, even if their run times are correlated. As run times are known up to the chance `CONFIDENCE_MOST` only,
groups of many executions rest on that.

The search is small: five paces for all of them, from the cheapest choices to the quickest.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from graphlib import TopologicalSorter

from zoe_client.vocabulary import OfferKind
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.values.finish_times import CONFIDENCE_MOST, FinishTerms, Offer, PromiseOffers
from zoe_lib.domain.values.frozen import changed, value
from zoe_master.scheduler.booking.bookings import Booking, offer_name
from zoe_master.scheduler.promising.choices import PromiseCost, least_rate_first, total_s
from zoe_master.scheduler.promising.choosing import (
    LESS_SURE,
    OFFERS_MAX,
    PromiseAnswer,
    PromiseSearch,
    beyond_budget,
)
from zoe_master.scheduler.promising.future import FutureNodes
from zoe_master.scheduler.promising.movable import ANSWER_S, MOVING, PromiseRoom

PACES = (math.inf, 4.0, 2.0, 1.25, 1.0)
"""Factors of the quickest choice's time that each execution may take."""
_ALL_THERE_S = 10.0
_Found = Mapping[ExecutionId, tuple[FinishTerms, Booking]]


@value(frozen=True, slots=True)
class GroupLimits:
    """The begin and end that earlier promises of the group allow an execution; seconds since the epoch."""

    begin_s: float = -math.inf
    end_s: float = math.inf


def groups_to_promise(
    asking: Iterable[Execution], promised: Iterable[Execution], now_s: float
) -> list[list[Execution]]:
    """Return the groups that ask for a promise, dependencies first, once all members exist and wait only for each other
    or for a time; after a while without members that have ended meanwhile.

    promised: executions with a promise, some of them perhaps dependencies or dependents of these.
    """
    groups: dict[str, list[Execution]] = {}
    for execution in asking:
        if execution.conditions.whole:
            groups.setdefault(execution.conditions.whole, []).append(execution)
    if not groups:
        return []
    inside: dict[str, set[ExecutionId]] = {
        whole: {execution.id for execution in group} for whole, group in groups.items()
    }
    for entry in promised:
        if entry.conditions.whole in inside:
            inside[entry.conditions.whole].add(entry.id)
    ready = (
        group
        for whole, group in groups.items()
        if (len(group) >= group[0].conditions.members or now_s - group[0].submitted_at_s > _ALL_THERE_S)
        and not any(_is_blocked_from_outside(entry, inside[whole]) for entry in group)
    )
    return [in_order(group) for group in ready]


def _is_blocked_from_outside(execution: Execution, inside: Container[ExecutionId]) -> bool:
    """Return whether a hold, or a dependency outside its group such as an earlier run of its schedule, keeps it
    waiting.
    """
    conditions = execution.conditions
    if conditions.held is not None:
        return True
    return not conditions.dependencies_met and any(need.on not in inside for need in conditions.undecided_dependencies)


def limits_of_neighbours(members: Sequence[Execution], promised: Iterable[Execution]) -> Mapping[str, GroupLimits]:
    """Return the limits of members in a partly promised group: only some answers were journaled, since the others
    changed meanwhile.
    """
    whole = {
        execution.id: execution for execution in promised if execution.conditions.whole == members[0].conditions.whole
    }
    found: dict[str, GroupLimits] = {}
    for member in members if whole else ():
        before = [_terms(whole[need.on]).finish_s for need in member.conditions.after if need.on in whole]
        after = [
            _terms(other).begin_by_s
            for other in whole.values()
            if any(need.on == member.id for need in other.conditions.after)
        ]
        found[member.id] = GroupLimits(max(before, default=-math.inf), min(after, default=math.inf))
    return found


def in_order(group: Sequence[Execution]) -> list[Execution]:
    """Return executions, dependencies first."""
    by_id = {entry.id: entry for entry in group}
    before = {entry.id: [need.on for need in entry.conditions.after if need.on in by_id] for entry in group}
    return [by_id[name] for name in TopologicalSorter(before).static_order()]


def _terms(execution: Execution) -> FinishTerms:
    assert execution.promise is not None
    return execution.promise.terms


def answer_group(
    searches: Sequence[PromiseSearch],
    limits: Mapping[ExecutionId, GroupLimits],
    later: FutureNodes,
    offers_end_s: float | None,
) -> Mapping[ExecutionId, PromiseAnswer]:
    """Return an answer for each: terms for all of them, or up to three offers, of which the same numbers belong
    together. Raises OutOfBudget.

    searches: at least one, dependencies first. limits: those of members with promised neighbours. offers_end_s: the end
    of offers; None: make none.
    """
    return _GroupSearch(searches, limits, later, offers_end_s).answer()


class _GroupSearch:
    def __init__(
        self,
        searches: Sequence[PromiseSearch],
        limits: Mapping[ExecutionId, GroupLimits],
        later: FutureNodes,
        offers_end_s: float | None,
    ) -> None:
        self._searches, self._limits, self._later, self._offers_end_s = searches, limits, later, offers_end_s
        self._budget = searches[0].budget
        names = {search.execution.id for search in searches}
        self._before = {
            search.execution.id: [need.on for need in search.execution.conditions.after if need.on in names]
            for search in searches
        }

    def answer(self) -> Mapping[ExecutionId, PromiseAnswer]:
        confidence = self._searches[0].wish.confidence
        refusals = (
            (search.execution.name, search.refusal(self._member_confidence(confidence))) for search in self._searches
        )
        for name, why in refusals:
            if why:
                return self._no_terms(f"{name}: {why[0].lower()}{why[1:]}")
        found = self._in_time(confidence, self._later.now_s)
        soonest = None if found is not None else self._soonest(confidence)
        if soonest is not None and self._meets_times(soonest):  # not among those tried for the time
            found = soonest
        if found is not None:
            return {name: PromiseAnswer(terms=terms, bookings=(room,)) for name, (terms, room) in found.items()}
        if self._offers_end_s is None:
            return self._no_terms(self._refusal_sentence())
        return self._make_offers(soonest, self._offers_end_s)

    def _no_terms(self, why: str) -> Mapping[ExecutionId, PromiseAnswer]:
        offers = PromiseOffers(why, self._later.now_s)
        return {search.execution.id: PromiseAnswer(offers=offers) for search in self._searches}

    def _member_confidence(self, confidence: float) -> float:
        return min(1 - (1 - confidence) / len(self._searches), CONFIDENCE_MOST)

    def _choices(self, confidence: float, pace: float) -> list[PromiseCost]:
        """Return the cheapest choice of each that takes no longer than this pace allows."""
        found = []
        for search in self._searches:
            allowed = search.allowed_choices(self._member_confidence(confidence))
            quickest_s = min(entry.run.seconds for entry in allowed)
            found.append(next(entry for entry in least_rate_first(allowed) if entry.run.seconds <= pace * quickest_s))
        return found

    def _in_time(self, confidence: float, not_before_s: float, *, at_any_price: bool = False) -> _Found | None:
        """Return terms with which all end in time, at the first possible pace."""
        for pace in PACES:
            choices = self._choices(confidence, pace)
            if at_any_price or self._affordable(choices):
                with self._later.trial():
                    found = self._latest(choices, confidence, not_before_s)
                if found is not None:
                    return found
        return None

    def _latest(self, choices: Sequence[PromiseCost], confidence: float, not_before_s: float) -> _Found | None:
        found: dict[ExecutionId, tuple[FinishTerms, Booking]] = {}
        end_by_s = {search.execution.id: search.execution.deadline_s or 0.0 for search in self._searches}
        for search, choice in reversed(list(zip(self._searches, choices, strict=True))):
            name = search.execution.id
            limits = self._limits.get(name, GroupLimits())
            begin_s = max(not_before_s, limits.begin_s)
            one = search.latest(choice, confidence, min(end_by_s[name], limits.end_s), begin_s)
            if one is None or one[1].begins_s < begin_s:
                return None
            found[name] = one
            self._later.with_bookings([one[1]])
            for before in self._before[name]:
                end_by_s[before] = min(end_by_s[before], one[1].begins_s)
        return found

    def _soonest(self, confidence: float, not_before_s: float = 0.0, *, at_any_price: bool = False) -> _Found | None:
        """Return the terms with the earliest end of all paces."""
        some = (self._earliest(pace, confidence, not_before_s, at_any_price=at_any_price) for pace in reversed(PACES))
        return min((found for found in some if found is not None), key=_end_s, default=None)

    def _meets_times(self, found: _Found) -> bool:
        """Return whether all end by their deadline, and by the begin of promised dependents."""
        return all(
            found[search.execution.id][1].ends_s
            <= min(search.execution.deadline_s or 0.0, self._limits.get(search.execution.id, GroupLimits()).end_s)
            for search in self._searches
        )

    def _earliest(
        self, pace: float, confidence: float, not_before_s: float, *, at_any_price: bool = False
    ) -> _Found | None:
        """Return terms with which all end as early as possible, if they begin no earlier than this."""
        found: dict[ExecutionId, tuple[FinishTerms, Booking]] = {}
        choices = self._choices(confidence, pace)
        if not at_any_price and not self._affordable(choices):
            return None
        with self._later.trial():
            for search, choice in zip(self._searches, choices, strict=True):
                name = search.execution.id
                begin_s = self._limits.get(name, GroupLimits()).begin_s
                ends_s = [found[before][0].finish_s for before in self._before[name]]
                one = search.earliest(choice, confidence, max(not_before_s, begin_s, *ends_s, 0.0))
                if one is None:
                    return None
                found[name] = one
                self._later.with_bookings([one[1]])
        return found

    def _affordable(self, choices: Sequence[PromiseCost]) -> bool:
        if self._budget is None:
            return True
        prices = [choice.price for choice in choices]
        return all(price is not None for price in prices) and _sum(prices) <= self._budget

    def _candidates(self, soonest: _Found | None, offers_end_s: float) -> Iterator[tuple[OfferKind, _Found | None]]:
        """Yield the offers; all leave a user some seconds to answer, if there is room for that."""
        confidence, dear = self._searches[0].wish.confidence, self._beyond_budget()
        answered_s = min(self._later.now_s + ANSWER_S, offers_end_s)
        if dear:
            soonest = self._soonest(confidence, at_any_price=True)
        if soonest is not None and self._room(OfferKind.EARLIEST, soonest, offers_end_s).ends_s < answered_s:
            soonest = self._soonest(confidence, answered_s, at_any_price=dear) or soonest
        yield OfferKind.EARLIEST, soonest
        if self._budget is not None:
            yield OfferKind.DEARER, self._in_time(confidence, answered_s, at_any_price=True)
        if soonest is not None and self._room(OfferKind.EARLIEST, soonest, offers_end_s).ends_s != offers_end_s:
            yield OfferKind.EARLIEST, self._soonest(confidence, offers_end_s, at_any_price=dear)
        less = (self._in_time(entry, answered_s) for entry in LESS_SURE if entry < confidence)
        yield OfferKind.LESS_SURE, _first_found(less)
        cheapest = self._earliest(math.inf, confidence, 0.0, at_any_price=dear)
        if cheapest is not None and self._room(OfferKind.CHEAPEST, cheapest, offers_end_s).ends_s < answered_s:
            cheapest = self._earliest(math.inf, confidence, answered_s, at_any_price=dear)
        yield OfferKind.CHEAPEST, cheapest

    def _room(self, kind: OfferKind, found: _Found, offers_end_s: float) -> PromiseRoom:
        """Return the room of an offer, in the order of its terms."""
        rooms = [
            (search.under_terms(found[search.execution.id][0]), found[search.execution.id][1])
            for search in self._searches
        ]
        return PromiseRoom(rooms, self._later, offers_end_s, kind in MOVING)

    def _beyond_budget(self) -> bool:
        """Return whether even the cheapest choices cost more than the budget."""
        return not self._affordable(self._least())

    def _least(self) -> list[PromiseCost]:
        """Return the cheapest choice of each."""
        return [search.allowed_choices(self._member_confidence(search.wish.confidence))[0] for search in self._searches]

    def _refusal_sentence(self, offered: Iterable[OfferKind] = ()) -> str:
        """Return the obstacle to a promise for all: the budget, the time, or room."""
        if self._beyond_budget():
            return beyond_budget(self._budget, [entry.price for entry in self._least()])
        if OfferKind.DEARER in offered:
            return "Guarantees with which all of it would end in time cost more than its budget"
        return self._too_short() or "There is no room in time for all of its executions"

    def _too_short(self) -> str:
        """Return that it takes too long even with the quickest choices and all room at once; empty if not."""
        confidence, now_s = self._searches[0].wish.confidence, self._later.now_s
        ends_s: dict[ExecutionId, float] = {}
        late: dict[float, str] = {}
        for search in self._searches:
            one, limits = search.execution, self._limits.get(search.execution.id, GroupLimits())
            begins_s = max(search.begins_s, limits.begin_s, *(ends_s[name] for name in self._before[one.id]))
            quickest_s = min(each.run.seconds for each in search.allowed_choices(self._member_confidence(confidence)))
            ends_s[one.id] = begins_s + total_s(quickest_s)
            if ends_s[one.id] > min(one.deadline_s or 0.0, limits.end_s):
                late[ends_s[one.id] - now_s] = one.name
        if not late:
            return ""
        takes_s = max(late)
        return (
            f"Until {late[takes_s]} has ended, it takes {takes_s:.0f} s with {confidence:.0%} confidence, and with the "
            "seconds that each execution may take to begin, which exceeds the time left"
        )

    def _make_offers(self, soonest: _Found | None, offers_end_s: float) -> Mapping[ExecutionId, PromiseAnswer]:
        made: list[tuple[OfferKind, _Found]] = []
        for kind, found in self._candidates(soonest, offers_end_s):
            cheaper = kind is not OfferKind.CHEAPEST or all(_price(found) < _price(entry) for _, entry in made)
            if found is not None and cheaper and not any(_same(found, entry) for _, entry in made):
                made.append((kind, found))
        why, made = self._refusal_sentence(kind for kind, _ in made), made[:OFFERS_MAX]
        if not made:
            return self._no_terms(why)
        rooms = [self._room(kind, found, offers_end_s) for kind, found in made]
        ends_s = max(room.ends_s for room in rooms)
        answers = {}
        for place, search in enumerate(self._searches):
            name, whole = search.execution.id, search.execution.conditions.whole
            offers = tuple(
                Offer(kind, found[name][0], room.moves_from_s, room.ends_s)
                for (kind, found), room in zip(made, rooms, strict=True)
            )
            bookings = tuple(
                changed(room.bookings[place], execution_id=offer_name(name, number), whole=whole)
                for number, room in enumerate(rooms, start=1)
            )
            answers[name] = PromiseAnswer(offers=PromiseOffers(why, ends_s, offers), bookings=bookings)
        return answers


def _first_found(found: Iterator[_Found | None]) -> _Found | None:
    return next((entry for entry in found if entry is not None), None)


def _end_s(found: _Found) -> float:
    return max(terms.finish_s for terms, _ in found.values())


def _same(one: _Found, other: _Found) -> bool:
    return all(one[name][0] == other[name][0] for name in one)


def _price(found: _Found | None) -> Decimal:
    return sum((Decimal(terms.price or 0) for terms, _ in (found or {}).values()), Decimal(0))


def _sum(prices: Sequence[object]) -> Decimal:
    return sum((getattr(price, "amount", Decimal(0)) for price in prices), Decimal(0))
