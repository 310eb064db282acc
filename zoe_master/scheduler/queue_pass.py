"""The walk through the queue: who starts, for whom room is made, who may pass, and why the others wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

from zoe_lib.domain.events import Placement
from zoe_lib.domain.execution import Execution, ExecutionId
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.reasons import Reason, ReasonCode
from zoe_master.scheduler.admission import admit, refusal, surely_refused
from zoe_master.scheduler.backfill import Release, Reservation
from zoe_master.scheduler.placement import Placer
from zoe_master.scheduler.profile import Profile
from zoe_master.scheduler.queue import Queue
from zoe_master.scheduler.ranking import kept_apart
from zoe_master.scheduler.reasons import Reasons
from zoe_master.scheduler.reclaim import Reclaim
from zoe_master.scheduler.request import Request
from zoe_master.scheduler.snapshot import Snapshot

_BACKOFF = Reason(ReasonCode.RETRY_BACKOFF, "It is tried again after a pause.", hint="`zoe show` gives the earlier end")
_MAKING_ROOM = Reason(
    ReasonCode.MAKING_ROOM,
    "Its core has its place and starts as soon as the services that are leaving there have ended.",
)
_NOT_SCANNED = Reason(
    ReasonCode.SCAN_LIMIT, "The queue is longer than one pass looks at.", hint="it is looked at when others have gone"
)

# Why a core found no room.
Refuse = Callable[[Execution, Request, Placer], Reason]


class QueuePass:
    """One walk. `starts` and `reasons` together hold every execution of the queue once it is over.

    `started` has those that start with their places, in the sequence in which they were admitted.
    """

    def __init__(
        self,
        placer: Placer,
        reclaim: Reclaim,
        queue: Queue,
        snapshot: Snapshot,
        policy: Policy,
        refuse: Refuse = refusal,
    ) -> None:
        self.starts: dict[ExecutionId, tuple[Placement, ...]] = {}
        self.reasons = Reasons()
        self._placer = placer
        self._reclaim = reclaim
        self._queue = queue
        self._snapshot = snapshot
        self._policy = policy
        self._refuse = refuse
        self.started: list[tuple[Execution, tuple[Placement, ...]]] = []
        self._placed = 0

    def walk(self, ordered: Sequence[Execution]) -> None:
        """Admit in order until one finds no room; then let those pass whom the policy allows."""
        end = self._policy.queue_scan_max
        for execution in ordered[end:]:
            self.reasons.own[execution.id] = _NOT_SCANNED
        for position, execution in enumerate(islice(ordered, end)):
            if not self._admit(execution):
                self._pass_by(execution, ordered[position + 1 : end])
                break

    def _admit(self, execution: Execution) -> bool:
        """Start it or give the reason; False when it closes the door behind it."""
        reason = self._kept_back(execution)
        if reason is None:
            answer = admit(execution, self._placer)
            if isinstance(answer, tuple):
                self._start(execution, answer)
                return True
            reason = _MAKING_ROOM if self._reclaim.make_room(execution) else None
            reason = reason or self._refuse(execution, answer, self._placer)
            if reason.code is not ReasonCode.NEVER_FITS:
                self._queue.guarantees.take(execution)
        self.reasons.own[execution.id] = reason
        return reason.code not in (ReasonCode.NO_RESOURCES, ReasonCode.NO_NODES)

    def _pass_by(self, blocked: Execution, rest: Sequence[Execution]) -> None:
        kept_back = {e.id: reason for e in self._may_be_kept_back(rest) if (reason := self._kept_back(e)) is not None}
        self.reasons.own |= kept_back
        behind = [e for e in rest if e.id not in kept_back] if kept_back else rest
        self.reasons.give_rest(behind, _behind(self._policy.order))
        match self._policy.backfill:
            case "easy":
                self._backfill(blocked, rest)
            case "easy-sjbf":
                self._backfill(blocked, rest, key=self._queue.estimates.run_s)
            case "conservative" if rest:
                self._backfill_conservatively(blocked, rest)

    def _backfill(
        self, blocked: Execution, rest: Sequence[Execution], key: Callable[[Execution], float] | None = None
    ) -> None:
        # Most of a long queue needs more cores than are free, and less will be free for those later in turn.
        free = self._placer.ledger.free_cores_in_all
        candidates = [e for e in rest if e.application.core_resources().cores_milli <= free]
        if not candidates:
            return
        if key is not None:
            candidates.sort(key=key)
        estimates, now_s = self._queue.estimates, self._snapshot.now_s
        reservation = Reservation(blocked, self._placer, self._releases(), estimates, now_s)
        for execution in candidates:
            if surely_refused(execution, self._placer) or self._kept_back(execution) is not None:
                continue
            if reservation.may_let_pass(execution):
                self._try_to_pass(execution, reservation)

    def _try_to_pass(self, execution: Execution, reservation: Reservation) -> None:
        answer = admit(execution, self._placer)
        if not isinstance(answer, tuple):
            return
        if reservation.lets_pass(execution, answer):
            self.reasons.drop(execution.id)
            self._start(execution, answer)
        else:
            for node, amount in self._placer.ledger.wanted(execution, answer):
                self._placer.ledger.give_back(node, amount)

    def _backfill_conservatively(self, blocked: Execution, rest: Sequence[Execution]) -> None:
        run_s = self._queue.estimates.run_s
        profile = Profile(self._placer, self._releases(), self._snapshot.now_s)
        profile.reserve(blocked, run_s(blocked))
        reserved = 1
        for execution in rest:
            if reserved >= self._policy.backfill_depth_max:
                return
            if self._kept_back(execution) is not None:
                continue
            placements = profile.reserve(execution, run_s(execution))
            if placements is None:
                reserved += 1
                continue
            for node, amount in self._placer.ledger.wanted(execution, placements):
                self._placer.ledger.take(node, amount)
            self.reasons.drop(execution.id)
            self._start(execution, placements)

    def _releases(self) -> Iterator[Release]:
        """What runs, and what this walk has started, with the times at which it is expected to end.

        Elastic services that give way to cores are in nobody's way: they could be gone at once.
        """
        now_s, ledger, estimates = self._snapshot.now_s, self._placer.ledger, self._queue.estimates
        gives_way = self._policy.preemption == "elastic"
        for execution in self._snapshot.active:
            ends_s = estimates.end_s(execution, now_s)
            if gives_way and execution.application.malleable:
                yield ends_s, ledger.held(execution, core=True)
                yield now_s, ledger.held(execution, core=False)
            else:
                yield ends_s, ledger.held(execution)
        for execution, placements in self.started:
            yield now_s + estimates.run_s(execution), ledger.wanted(execution, placements)

    def _may_be_kept_back(self, rest: Sequence[Execution]) -> Iterable[Execution]:
        """Those for whom asking could find a reason; a long queue of plain executions is not asked one by one."""
        if self._policy.tenant_limits or self._placed >= self._policy.placements_per_tick_max:
            return rest
        apart = kept_apart(self._snapshot.queued)
        if self._snapshot.held:
            apart = apart | self._snapshot.held.keys()
        return [execution for execution in rest if execution.id in apart] if apart else ()

    def _kept_back(self, execution: Execution) -> Reason | None:
        """Why it may not start now, whatever is free."""
        if execution.id in self._snapshot.held:
            return self._snapshot.held[execution.id]
        if execution.not_before_s > self._snapshot.now_s:
            return _BACKOFF
        if self._placed >= self._policy.placements_per_tick_max:
            return _NOT_SCANNED
        return self._queue.holdings.refusal(execution) or self._queue.guarantees.refusal(execution)

    def _start(self, execution: Execution, placements: tuple[Placement, ...]) -> None:
        self.starts[execution.id] = placements
        self.started.append((execution, placements))
        self._placed += len(placements)
        self._queue.holdings.take(execution.tenant, execution.application.core_resources())
        self._queue.guarantees.take(execution)


@cache
def _behind(order: str) -> Reason:
    """One object for all of a long queue, so that nobody compares it word by word."""
    return Reason(
        ReasonCode.BEHIND_IN_QUEUE,
        f"Others come first by the policy ({order}); the first of them waits for room.",
        hint="`zoe explain` tells how many are ahead",
    )
