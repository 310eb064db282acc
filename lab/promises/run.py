"""Run applications that read from a store, some of them with promises, through the production master.

Run times are learned from ended runs: services over time, bytes and rates, as proxies would measure them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lab.promises.applications import SERVICE, TENANT, USER, ApplicationWork, StudyApplication, describe
from lab.promises.knowledge import ExactRunTimes, OneLever
from lab.promises.outcomes import StudyEnd, StudyOutcome
from lab.promises.store import GuaranteedStore
from lab.promises.workload import CAPACITY, CORES, NODES, NodeFailure
from zoe_client.vocabulary import OfferKind
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Event, Promised, Refused
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Outcome, ServiceState
from zoe_lib.domain.values.finish_times import PromiseOffers, PromiseWish
from zoe_lib.domain.values.progress import READINGS_MAX, ExecutionProgress, ProgressReading
from zoe_lib.domain.values.storage import Credential
from zoe_lib.store.memory.store import MemoryStore
from zoe_master.backends.simulated import SimulatedBackend, SimulatedClock
from zoe_master.backends.simulated.backend import FINAL_STATES
from zoe_master.loop.master import Master
from zoe_master.loop.promises.decisions import PromiseDecisions
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.ordering.snapshot import Plan
from zoe_master.state.promise_prices import StoredPrices
from zoe_master.storage.reconciler import InlineReconciler
from zoe_master.storage.spark_config import Place, SparkConfig

_TICKS_AT_ONCE_MAX = 200
_EVENTS_MAX = 200_000
_NEWS_MAX = 20_000
_AGAIN = "w"  # suffix of the names of resubmissions with a wish
_TOLD_IN_A_RUN = 40
_RUNS = (ExecutionState.STARTING, ExecutionState.RUNNING)


class RefusalReaction(StrEnum):
    """Reaction of a user to an execution without the requested promise."""

    LEAVE = "leave"
    LESS_SURE = "less_sure"
    """Take an offer of the same time with less confidence, if there is one."""
    WISH = "wish"
    """Take such an offer, otherwise submit it again with the deadline as a wish."""


@dataclass(frozen=True, slots=True)
class RunRules:
    """Rules of a run. wish: the confidence for applications with a deadline; None: no promises. cores, bandwidth: the
    means that promises may use. exact: run times are known, not learned. learns: otherwise it uses declared run times.
    tells: whether promised applications report their progress.
    """

    policy: Policy
    wish: PromiseWish | None = None
    when_refused: RefusalReaction = RefusalReaction.LEAVE
    cores: bool = True
    bandwidth: bool = True
    exact: bool = False
    learns: bool = True
    tells: bool = False


class StoreRun:
    """One workload under some rules. taught: earlier ended executions. prefix: of the names of executions."""

    def __init__(
        self,
        applications: Sequence[StudyApplication],
        rules: RunRules,
        failures: Sequence[NodeFailure] = (),
        taught: Iterable[Execution] = (),
        prefix: str = "a",
        capacity: int = CAPACITY,
    ) -> None:
        self._upcoming = sorted(
            applications, key=lambda application: (application.submit_s, application.number), reverse=True
        )
        self._rules = rules
        self._prefix = prefix
        self._clock = SimulatedClock()
        self._store = MemoryStore()
        self._store.set_policy(rules.policy, 0, 0.0, USER)
        self._backend = SimulatedBackend(NODES, self._clock)
        self._shared = GuaranteedStore(capacity)
        self._master = self._new_master()
        self._master.run_times.recall(taught)
        self._master.run_times.work_off(_NEWS_MAX)
        self._applications = {self._name(application): application for application in applications}
        self._decisions = self._deciding()
        self._active: dict[str, ApplicationWork] = {}
        self._waiting: set[str] = set()
        self._told: dict[str, list[ProgressReading]] = {}
        self._changes = sorted(
            [(failure.at_s, False, failure.node) for failure in failures]
            + [(failure.back_s, True, failure.node) for failure in failures],
            reverse=True,
        )
        self._last_submission_s = max((application.submit_s for application in applications), default=0.0)
        self.outcome = StudyOutcome(CORES)
        self._rate_s = self._usual_s = 0.0

    def _new_master(self) -> Master:
        epoch = self._store.try_lead(USER)
        assert epoch is not None
        account = {SERVICE: Credential(f"{TENANT}:{USER}", "key")}
        config = SparkConfig({SERVICE: Place("http://store", own_credentials=True)}, credentials=lambda _: account)
        reconciler = InlineReconciler(self._shared.controller)
        return Master(self._store, self._backend, epoch, clock=self._clock, storage=reconciler, spark_config=config)

    def _deciding(self) -> PromiseDecisions:
        learned, rules = self._master.run_times, self._rules
        prices = StoredPrices(list, self._clock)
        if rules.exact:
            return PromiseDecisions(ExactRunTimes(self._applications, self._usual_rate), prices)
        if rules.cores and rules.bandwidth:
            return PromiseDecisions(learned, prices)
        return PromiseDecisions(OneLever(learned, cores=rules.cores, bandwidth=rules.bandwidth), prices)

    def _usual_rate(self) -> float:
        """Return the average bandwidth of each reader so far, with unlimited demand."""
        return self._rate_s / self._usual_s if self._usual_s else float(self._shared.capacity)

    def run(self) -> StudyOutcome:
        """Run until the last application has ended."""
        for _ in range(_EVENTS_MAX):
            if not self._upcoming and not self._active and not self._waiting:
                return self.outcome
            self._advance_to(self._next_s())
            self._end_what_is_done()
            self._change_nodes()
            while self._upcoming and self._upcoming[-1].submit_s <= self._clock.now_s():
                self._submit(self._upcoming.pop(), self._rules.wish)
            self._tick_until_at_rest()
        raise RuntimeError("the run does not end")

    def ended_executions(self) -> list[Execution]:
        """Return the ended executions, with their transfers."""
        return [self._store.execution(name) for name in self._applications]

    def _next_s(self) -> float:
        now_s = self._clock.now_s()
        times = [now_s + work.left_s for work in self._active.values()]
        times += [self._upcoming[-1].submit_s] if self._upcoming else []
        times += [self._changes[-1][0]] if self._changes else []
        # The production loop ticks every few seconds; here, it ticks when a booking begins or a retry is due.
        times += [booking.begins_s for booking in self._master.cache.promises.bookings() if booking.begins_s > now_s]
        times += [at_s for name in self._told if (at_s := self._tells_s(name)) > now_s]
        due_s = self._master.next_due_s(now_s) if self._waiting else None
        times += [] if due_s is None else [due_s]
        return min(times, default=math.inf)

    def _advance_to(self, at_s: float) -> None:
        if at_s == math.inf:
            raise RuntimeError(f"{len(self._waiting)} applications wait and nothing runs")
        seconds = at_s - self._clock.now_s()
        arriving_s = max(min(at_s, self._last_submission_s) - self._clock.now_s(), 0.0)
        self.outcome.count(self._active.values(), arriving_s)
        if self._active and seconds > 0:
            there = [work.there for work in self._active.values() if work.demand > 0]
            self._rate_s += sum(there) * seconds
            self._usual_s += len(there) * seconds
        for work in self._active.values():
            work.advance(seconds)
        self._clock.advance(seconds)
        for name, told in self._told.items():
            if self._clock.now_s() >= self._tells_s(name):
                told[:] = [*told, ProgressReading(self._clock.now_s(), self._active[name].done)][-READINGS_MAX:]

    def _tells_s(self, name: str) -> float:
        """Return when an application reports its progress again: each fortieth of its promised time."""
        promise = self._store.execution(name).promise
        assert promise is not None
        return self._told[name][-1].at_s + promise.terms.run_s / _TOLD_IN_A_RUN

    def _change_nodes(self) -> None:
        while self._changes and self._changes[-1][0] <= self._clock.now_s():
            _, is_back, name = self._changes.pop()
            if is_back:
                self._backend.set_node(next(node for node in NODES if node.name == name))
            else:
                self._backend.lose_node(name)

    def _name(self, one: StudyApplication) -> str:
        return f"{self._prefix}{one.number:06}"

    def _submit(self, one: StudyApplication, wish: PromiseWish | None, again: str = "") -> None:
        name, wish = self._name(one) + again, wish if one.has_deadline else None
        kind = self._name(one) if self._rules.exact else one.kind
        application = describe(one, one.declared_s, wish, kind)
        learned = self._master.run_times.run_time_within(application, TENANT, USER, one.total - one.core, 0.5)
        if self._rules.exact:
            application = describe(one, one.run_s, wish, kind)
        elif learned is not None:
            application = describe(one, max(learned.seconds, 1.0), wish, kind)
        deadline_s = one.deadline_s if one.has_deadline else None
        self._applications[name] = one
        self._waiting.add(name)
        self._store.submit(
            Execution(name, name, TENANT, USER, application, self._clock.now_s(), deadline_s=deadline_s), USER
        )

    def _end_what_is_done(self) -> None:
        self._shared.count(self._active)
        there = {
            observation.service_id for observation in self._backend.observe() if observation.state not in FINAL_STATES
        }
        for name in [name for name, work in self._active.items() if work.left_s == 0.0]:
            work, execution = self._active.pop(name), self._master.cache.get(name)
            assert execution is not None
            self._told.pop(name, None)
            self.outcome.ends.append(_end(work.application, work.start_s, self._clock.now_s(), execution))
            for service in execution.services:
                if service.id in there:
                    self._backend.end(service.id)

    def _tick_until_at_rest(self) -> None:
        if self._rules.learns:  # beside the loop: from the moments before
            self._master.run_times.work_off(_NEWS_MAX)
        for _ in range(_TICKS_AT_ONCE_MAX):
            tick = self._master.tick()
            self.outcome.ticks += 1
            self._follow(tick)
            made = self._decisions.decide_on(tick, progress=self._progress())
            self._master.note_promises(made)
            self.outcome.noticed |= {
                decision.execution.id: decision.notice.at_s for decision in made if decision.notice is not None
            }
            answered = self._answer_offers()
            submitted = any(execution.offers is None for execution in self._master.cache.backlog.submitted_executions)
            if not (made or answered or submitted or tick.is_due_again or _changes_services(tick.plan)):
                self._share()
                return
        raise RuntimeError("the master does not come to rest")

    def _progress(self) -> dict[str, ExecutionProgress]:
        """Return the reported progress of this attempt, by application."""
        return {
            name: ExecutionProgress(name, self._store.execution(name).attempt, told[-1].at_s, tuple(told))
            for name, told in self._told.items()
        }

    def _follow(self, tick: Tick) -> None:
        """Record starts; an application that is no longer active has lost its attempt, and all its work."""
        for name in tick.plan.starts:
            self._waiting.discard(name)
            self._active[name] = ApplicationWork(self._applications[name], self._clock.now_s())
            if self._rules.tells and self._store.execution(name).promise is not None:
                self._told[name] = [ProgressReading(self._clock.now_s(), 0.0)]
        for name in list(self._active):
            execution = self._store.execution(name)
            if execution.terminal:
                work = self._active.pop(name)
                self.outcome.failed.append(_end(work.application, work.start_s, math.inf, execution))
            elif execution.state not in _RUNS:
                self._active.pop(name)
                self._waiting.add(name)
        self._told = {name: told for name, told in self._told.items() if name in self._active}

    def _share(self) -> None:
        for name, work in self._active.items():
            execution = self._master.cache.get(name)
            assert execution is not None
            work.running = sum(
                s.node is not None and s.alive and s.state is not ServiceState.STOPPING for s in execution.services
            )
        self._shared.share(self._active, self._shared.guaranteed_rates())

    def _answer_offers(self) -> bool:
        """Answer all offers at once, and return whether there were any; applications without a promise do not run."""
        answered = False
        for name in list(self._waiting):
            execution = self._store.execution(name)
            if execution.offers is not None and execution.promise is None and not execution.terminal:
                answered, event = True, self._answer(execution.offers)
                self._store.append(name, [event], execution.version, None)
                execution = self._store.execution(name)
            if execution.terminal:
                answered |= self._refuse(name)
        return answered

    def _answer(self, offers: PromiseOffers) -> Event:
        for number, offer in enumerate(offers.offers, start=1):
            if self._rules.when_refused is not RefusalReaction.LEAVE and offer.kind is OfferKind.LESS_SURE:
                return Promised(at_s=self._clock.now_s(), terms=offer.terms, offer=number)
        return Refused(at_s=self._clock.now_s(), outcome=Outcome.FAILED, cause=Cause.NO_PROMISE)

    def _refuse(self, name: str) -> bool:
        """Record the refusal, and return whether it was submitted again."""
        self._waiting.discard(name)
        one = self._applications[name]
        if name.endswith(_AGAIN) or self._rules.when_refused is not RefusalReaction.WISH:
            self.outcome.refused.append(one)
            return False
        self._submit(one, None, _AGAIN)
        return True


def _changes_services(plan: Plan) -> bool:
    """Return whether services start or stop, which the next tick sees."""
    return bool(plan.placements or plan.preempt or plan.reserved)


def _end(one: StudyApplication, start_s: float, end_s: float, execution: Execution) -> StudyEnd:
    return StudyEnd(one, start_s, end_s, promised=execution.promise is not None, name=execution.id)
