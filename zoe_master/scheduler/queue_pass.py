"""The walk through the queue: which executions start, get reserved room, or may pass, and why the others wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cache
from itertools import islice

from zoe_lib.domain.executions.events import Placement
from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.executions.promises import refusal_reason
from zoe_lib.domain.lifecycle.consequences import is_backing_off
from zoe_lib.domain.values.frozen import once
from zoe_lib.domain.values.reasons import NOT_SHOWN_TO_FIT, Reason, ReasonCode, holds_up_others
from zoe_master.scheduler.backfill.backfill import Release, Reservation
from zoe_master.scheduler.backfill.candidates import BackfillCandidates
from zoe_master.scheduler.backfill.growth import ElasticGrowth
from zoe_master.scheduler.backfill.profile import CapacityProfile
from zoe_master.scheduler.backfill.reclaim import Elastic, ElasticReclaim
from zoe_master.scheduler.ordering.bandwidth import Guarantees
from zoe_master.scheduler.ordering.limit_lines import LimitLines
from zoe_master.scheduler.ordering.limits import TenantReservations
from zoe_master.scheduler.ordering.limits_later import BookedLimits
from zoe_master.scheduler.ordering.queue import Pass
from zoe_master.scheduler.ordering.ranking import possibly_held
from zoe_master.scheduler.ordering.reasons import Reasons
from zoe_master.scheduler.placement.admission import (
    admit,
    core_requests,
    lasting_refusal,
    places_in,
    refusal,
    surely_refused,
)
from zoe_master.scheduler.placement.budget import NODES_OF_A_STEP_OVER_TIME, ScanBudget
from zoe_master.scheduler.placement.capacity_check import CapacityCheck
from zoe_master.scheduler.placement.core_columns import ServiceColumns
from zoe_master.scheduler.placement.lasting_reasons import LASTING, LastingReasons
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.request import Request

_BACKOFF = Reason(
    ReasonCode.RETRY_BACKOFF, "It is retried after a pause.", hint="`zoe show` shows how the last attempt ended"
)
_MAKING_ROOM = Reason(
    ReasonCode.MAKING_ROOM,
    ("Its essential services have their places and start when the services that are leaving them have ended."),
)
_NOT_SCANNED = Reason(
    ReasonCode.SCAN_LIMIT,
    "The queue is longer than one pass considers.",
    hint="it is considered when executions ahead of it have left the queue",
)

_BOOKED = Reason(
    ReasonCode.BOOKED,
    "The room for it is kept for promised executions that begin before it is expected to end.",
    hint="with a shorter run time or time limit it may start earlier",
)
# Nodes that a pass looks at for executions behind the first waiting one, without those for executions that it starts:
# some seconds.
SCAN_LOOKS = 5_000_000
# Maximum executions checked per pass for room without bookings.
_BOOKED_MAX = 200
# For all behind the first: one text without numbers, so that rows of a long queue do not change with each node.
_ALL_NODES_AWAY = Reason(
    ReasonCode.NO_NODES,
    "No node can be used: all are down or drained.",
    hint="see `zoe nodes`; executions start when a node is back",
)

# Why a core does not fit.
Refuse = Callable[[Execution, Request, ServicePlacer], Reason]


class QueuePass:
    """One walk. `starts` and `reasons` together contain every execution of the queue at the end.

    `started`: starting executions with their places, in the sequence of their admission.
    """

    def __init__(
        self,
        placer: ServicePlacer,
        reclaim: ElasticReclaim,
        present: Pass,
        holdings: TenantReservations,
        refuse: Refuse = refusal,
    ) -> None:
        self.starts: dict[ExecutionId, tuple[Placement, ...]] = {}
        self.reasons = Reasons()
        self._placer = placer
        self._reclaim = reclaim
        self._snapshot = snapshot = present.snapshot
        self._policy = policy = present.policy
        self._estimates = present.estimates
        self._span = present.span
        self._holdings = holdings
        self._guarantees = Guarantees(
            snapshot.active, snapshot.storage, policy, present.estimates, snapshot.now_s, snapshot.bookings
        )
        self._refuse = refuse
        self.started: list[tuple[Execution, tuple[Placement, ...]]] = []
        self._kept: list[tuple[Execution, tuple[Placement, ...]]] = []
        self._placed = 0
        self._blocked: Execution | None = None
        self._reservation: Reservation | None = None
        self._profile: CapacityProfile | None = None
        takes_back = policy.preemption == "elastic"
        self._lines = LimitLines(snapshot, holdings, present.estimates, takes_back)
        self._booked = placer.ledger.booked
        self._booked_limits = BookedLimits(snapshot, policy, present.estimates)
        self._asked_of_bookings = 0
        self._budget = ScanBudget(SCAN_LOOKS)
        self.scan_from = 0
        self._lasting = LastingReasons(placer, snapshot.now_s)

    def walk(self, ordered: Sequence[Execution]) -> None:
        """Admit in order until one does not fit; then let executions pass that the policy allows."""
        end = self._policy.queue_scan_max
        for execution in ordered[end:]:
            self.reasons.own[execution.id] = _NOT_SCANNED
        for position, execution in enumerate(islice(ordered, end)):
            self._placer.check_budget()
            if not self._admit(execution):
                self._blocked = execution
                self._pass_by(execution, ordered[position + 1 : end])
                break
        if self._booked is not None:
            self._booked.set_apart(None)

    def _set_own_apart(self, execution: Execution) -> None:
        """Ignore an execution's own booking for its placement."""
        if self._booked is not None:
            self._booked.set_apart(execution.id if execution.promise is not None else None)

    def _admit(self, execution: Execution) -> bool:
        """Start it or set the reason; return False if it ends the walk."""
        reason = self._hold_reason(execution) or self._lasting.known(execution) or self._lasting.quick(execution)
        if reason is None:
            self._set_own_apart(execution)
            answer = admit(execution, self._placer)
            if isinstance(answer, tuple):
                self._give(execution, answer)
                return True
            if self._reclaim.make_room(execution, giving=self._giving(execution)):
                self._keep_room(execution)
                return True
            reason = _BOOKED if self._only_booked(execution) else self._refuse(execution, answer, self._placer)
            if reason.code in LASTING or reason.hint == NOT_SHOWN_TO_FIT:
                self._lasting.keep(execution, reason)
            else:
                self._guarantees.take(execution)
        self.reasons.give(execution.id, reason)
        return not holds_up_others(reason)

    def _only_booked(self, execution: Execution) -> bool:
        """Return whether it would fit without bookings; then it blocks no other."""
        if self._booked is None or self._asked_of_bookings >= _BOOKED_MAX:
            return False
        self._asked_of_bookings += 1
        with self._booked.ignore_all():
            return any(places_in(room, execution) is not None for room in self._reclaim.rooms())

    def _pass_by(self, blocked: Execution, rest: Sequence[Execution]) -> None:
        kept_back = {
            e.id: reason for e in self._executions_to_check(rest) if (reason := self._hold_reason(e)) is not None
        }
        self.reasons.own |= kept_back
        behind = [e for e in rest if e.id not in kept_back] if kept_back else rest
        away = self.reasons.own[blocked.id].code is ReasonCode.NO_NODES and self._snapshot.nodes
        self.reasons.give_rest(behind, _ALL_NODES_AWAY if away else _behind(self._policy.order))
        columns = ServiceColumns(rest)
        for execution in (rest[place] for place in self._lasting.unsettled(columns)):
            reason = None if execution.id in kept_back else self._lasting.behind_others(execution)
            if reason is not None:
                self.reasons.give(execution.id, reason)
        match self._policy.backfill:
            case "easy":
                self._backfill(blocked, rest, columns)
            case "easy-sjbf":
                self._backfill(blocked, rest, columns, shortest_first=True)
            case "conservative" if rest:
                self._backfill_conservatively(blocked, rest)

    def _backfill(
        self, blocked: Execution, rest: Sequence[Execution], columns: ServiceColumns, *, shortest_first: bool = False
    ) -> None:
        # Most of a long queue needs more cores than available, and later ones find even fewer.
        widest = self._reclaim.rooms()[-1]
        check = CapacityCheck(widest)
        places = self._with_room(rest, columns, widest, check)
        if not places:
            return
        run_s = {place: self._estimates.guess_s(rest[place]) for place in places}
        if shortest_first:
            places.sort(key=run_s.__getitem__)
        begin = self._snapshot.scan_from if self._snapshot.scan_from < len(places) else 0
        places = places[begin:] + places[:begin]
        executions, columns = [rest[place] for place in places], columns.at(places)
        reservation = self._reserve(blocked)
        times_s = [run_s[place] for place in places]
        candidates = BackfillCandidates(executions, columns, times_s, check, reservation, self._apart)
        turn, last = 0, len(executions)
        while turn < last:
            following = turn if self._checks_all else candidates.next_turn(turn)
            self._placer.check_budget(min(following + 1, last) - turn)
            if following == last:
                return
            turn, execution = following + 1, executions[following]
            if surely_refused(execution, widest) or self._hold_back(execution):
                continue
            if not candidates.may_have_room(following):
                continue
            if reservation.may_let_pass(execution) and not self._try_to_pass(execution, reservation):
                self._budget.spend(self._looks(execution))
                if self._budget.spent and turn < last:
                    self._stop_scan(executions, begin, turn)
                    return
                candidates.narrow()

    def _with_room(
        self, rest: Sequence[Execution], columns: ServiceColumns, room: ServicePlacer, check: CapacityCheck
    ) -> list[int]:
        """Return the places of executions that may have room; those that surely have none are most of a long queue."""
        may, surely = check.settle(columns)
        there = room.ledger.free_cores_in_all
        may &= columns.cores * columns.count <= there
        certain = surely.tolist()
        return [
            place
            for place in may.nonzero()[0].tolist()
            if certain[place]
            or (rest[place].application.core_resources().cores_milli <= there and check.may_have_room(rest[place]))
        ]

    def _looks(self, execution: Execution) -> int:
        """Return how many nodes a trial of the core looks at."""
        return len(execution.application.core_groups) * len(self._placer.ledger.nodes) * len(self._reclaim.rooms())

    def _stop_scan(self, candidates: Sequence[Execution], begin: int, turn: int) -> None:
        """Keep the place where the next pass goes on, and tell all that may have room: each is examined in turn."""
        self.scan_from = (begin + turn) % len(candidates)
        reason = _examined_in_turns(_two_digits(turn), _two_digits(len(candidates)))
        for execution in candidates:
            if execution.id not in self.starts and execution.id not in self.reasons.own:
                self.reasons.give(execution.id, reason)

    def _reserve(self, blocked: Execution) -> Reservation:
        """Return the reservation of the first waiting execution, made once in a pass."""
        if self._reservation is None:
            widest, estimates = self._reclaim.rooms()[-1], self._estimates
            self._reservation = Reservation(blocked, widest, self._releases(), estimates, self._snapshot.now_s)
        return self._reservation

    def growth(self) -> ElasticGrowth | None:
        """Return where elastic services may run that stay until their execution ends; None: anywhere."""
        promised: CapacityProfile | Reservation | None = None
        if self._blocked is not None and self._policy.backfill != "none":
            conservative = self._policy.backfill == "conservative"
            promised = self._reserve_all(self._blocked) if conservative else self._reserve(self._blocked)
        if promised is None and not self._holdings.limited:
            return None
        return ElasticGrowth(promised, self._lines, self._span)

    def _try_to_pass(self, execution: Execution, reservation: Reservation) -> bool:
        """Start it on free resources, or else reserve a place where elastic services give way; return False for none.

        The latter also if the free places would delay the blocked execution. Places chosen as if elastic services were
        absent do not depend on them, so a core gets the room taken back for it.
        """
        self._set_own_apart(execution)
        giving = self._giving(execution)
        found = None if giving else reservation.find(execution, self._placer)
        if found is not None:
            self._take(execution, found)
            self._give(execution, found)
        elif self._reclaim.make_room(execution, reservation.find, giving):
            self._keep_room(execution)
        else:
            return False
        return True

    def _backfill_conservatively(self, blocked: Execution, rest: Sequence[Execution]) -> None:
        run_s, profile = self._estimates.guess_s, self._reserve_all(blocked)
        reserved, steps = 1, 1 + len(self._placer.ledger.nodes) // NODES_OF_A_STEP_OVER_TIME
        for execution in rest:
            if reserved >= self._policy.backfill_depth_max:
                return
            self._placer.check_budget(steps)
            if self._hold_back(execution):
                continue
            self._set_own_apart(execution)
            if self._budget.spent:
                return
            reservation = profile.reserve(execution, run_s(execution))
            if reservation is None:
                reserved += 1
            elif reservation.free:
                self._take(execution, reservation.placements)
                self._give(execution, reservation.placements)
            else:
                self._reclaim.keep(execution, reservation.placements, self._giving(execution))
                self._keep_room(execution)

    def _reserve_all(self, blocked: Execution) -> CapacityProfile:
        """Return the reservations of all, of which the first is made at once; one profile in a pass."""
        if self._profile is None:
            rooms, now_s = self._reclaim.rooms(), self._snapshot.now_s
            self._profile = CapacityProfile(rooms, self._releases(), now_s, self._budget)
            self._profile.reserve(blocked, self._estimates.guess_s(blocked))
        return self._profile

    def _releases(self) -> Iterator[Release]:
        """Return lasting resources, and places given by this walk, with their expected ends."""
        now_s, ledger, estimates = self._snapshot.now_s, self._placer.ledger, self._estimates
        for execution in self._snapshot.active:
            yield estimates.release_s(execution, now_s), self._reclaim.staying(execution)
        for execution, placements in (*self.started, *self._kept):
            yield now_s + estimates.guess_s(execution), ledger.holdings_at(execution, placements)

    def _executions_to_check(self, rest: Sequence[Execution]) -> Iterable[Execution]:
        """Return executions for which a check could find a reason; a long queue of plain executions is not checked one
        by one.
        """
        if self._checks_all:
            return rest
        apart = self._apart
        return [execution for execution in rest if execution.id in apart] if apart else ()

    @property
    def _checks_all(self) -> bool:
        """Return whether limits, or the bound of placements, may keep any execution from starting."""
        return self._holdings.limited or self._placed >= self._policy.placements_per_tick_max

    @once
    def _apart(self) -> Set[ExecutionId]:
        """Return the executions that something else than limits and the bound of placements may keep from starting."""
        return possibly_held(self._snapshot.queued) | self._snapshot.held.keys()

    def _hold_back(self, execution: Execution) -> bool:
        """Return whether an execution may not start now, counting placements of this pass, too; if so, set the
        reason.
        """
        if not self._checks_all and execution.id not in self._apart:
            return False
        reason = self._hold_reason(execution)
        if reason is not None:
            self.reasons.give(execution.id, reason)
        return reason is not None

    def _hold_reason(self, execution: Execution) -> Reason | None:
        """Return why an execution may not start now, even with free resources."""
        if execution.id in self._snapshot.held:
            return self._snapshot.held[execution.id]
        if is_backing_off(execution, self._snapshot.now_s, self._policy):
            return refusal_reason(execution) or _BACKOFF
        if self._placed >= self._policy.placements_per_tick_max:
            return _NOT_SCANNED
        return self._limit_refusal(execution) or self._guarantees.refusal(execution, self._may_ever_start)

    def _limit_refusal(self, execution: Execution) -> Reason | None:
        """Return the limit that forbids it even after all leaving and stoppable services have gone."""
        if not self._holdings.limited:
            return None
        for holder, excess in self._holdings.excess(execution).items():
            if not self._reclaim.can_free(holder, excess):
                self._lines.wait(execution, holder, self._may_ever_start)
                return self._holdings.refusal(execution, holder)
        behind = self._lines.refuses(execution)
        return self._booked_limits.refusal(execution) if behind is None else self._holdings.behind(behind)

    def _may_ever_start(self, execution: Execution) -> bool:
        """Return whether no lasting reason would keep it from the nodes once a limit allows it."""
        requests = core_requests(execution, self._placer)
        return not requests or lasting_refusal(execution, requests[0], self._placer) is None

    def _giving(self, execution: Execution) -> Sequence[Elastic]:
        """Return the elastic services of its tenant or user to stop before their limits allow it."""
        return self._reclaim.givers(self._holdings.excess(execution))

    def _give(self, execution: Execution, placements: tuple[Placement, ...]) -> None:
        """Start it on these places, already subtracted from the ledger, or reserve them until limits allow it."""
        if self._holdings.excess(execution):
            self._undo(execution, placements)
            self._reclaim.keep(execution, placements, self._giving(execution))
            self._keep_room(execution)
        else:
            self._start(execution, placements)

    def _take(self, execution: Execution, placements: tuple[Placement, ...]) -> None:
        for node, amount in self._placer.ledger.holdings_at(execution, placements):
            self._placer.ledger.take(node, amount)

    def _undo(self, execution: Execution, placements: tuple[Placement, ...]) -> None:
        for node, amount in self._placer.ledger.holdings_at(execution, placements):
            self._placer.ledger.give_back(node, amount)

    def _start(self, execution: Execution, placements: tuple[Placement, ...]) -> None:
        self._reclaim.follow(self._placer.ledger.holdings_at(execution, placements))
        self._count_start(execution, placements)

    def _count_start(self, execution: Execution, placements: tuple[Placement, ...]) -> None:
        self.starts[execution.id] = placements
        self.started.append((execution, placements))
        self._placed += len(placements)
        self.reasons.drop(execution.id)
        self._count(execution)

    def _keep_room(self, execution: Execution) -> None:
        """Reserve its place, and start it once that is free, or at once if it is."""
        if not self._holdings.excess(execution):
            placements = self._reclaim.take_if_free(execution)
            if placements is not None:
                self._count_start(execution, placements)
                return
        self._kept.append((execution, self._reclaim.reserved[execution.id]))
        self.reasons.give(execution.id, _MAKING_ROOM)
        self._count(execution)

    def _count(self, execution: Execution) -> None:
        """Count its present or reserved resources for its tenant, its user and the object store."""
        self._holdings.take(execution, execution.application.core_resources())
        self._guarantees.take(execution)
        if self._booked is not None:
            self._booked.drop(execution.id)
        if self._holdings.limited:
            self._lines.take(execution)
            self._booked_limits.take(execution)


def _two_digits(count: int) -> int:
    """Round up, so that the reason of thousands does not change with every pass."""
    unit = int(10 ** max(len(str(count)) - 2, 0))
    return -(-count // unit) * unit


def _examined_in_turns(examined: int, candidates: int) -> Reason:
    return Reason(
        ReasonCode.SCAN_LIMIT,
        f"Up to {candidates:,} executions may fit beside the first waiting one; a pass examines some {examined:,}, in "
        "turns.",
        hint="it is examined in one of the next passes",
    )


@cache
def _behind(order: str) -> Reason:
    """Return one object for a whole long queue, so that comparisons are quick."""
    return Reason(
        ReasonCode.BEHIND_IN_QUEUE,
        f"Others are ahead by the policy ({order}); the first of them waits for room.",
        hint="`zoe eta` shows when it is expected to start",
    )
