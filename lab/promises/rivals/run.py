"""One workload under a rival: events of submissions, ends and nodes; progress and store as in the production run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from lab.promises.applications import ApplicationWork, StudyApplication
from lab.promises.outcomes import StudyEnd, StudyOutcome
from lab.promises.rivals.base import Rival, RivalApplication, RivalView
from lab.promises.store import GuaranteedStore
from lab.promises.workload import CAPACITY, CORES, NODES, NodeFailure
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.run_times.history import RunTimes
from zoe_lib.run_times.samples import kind_of, sample_of
from zoe_lib.run_times.values import RunSetting

_EVENTS_MAX = 200_000
_STEP_S = 1.0


class RivalRun:
    """One workload; taught: executions of an earlier production run, which teach their run times."""

    def __init__(
        self,
        applications: Sequence[StudyApplication],
        rival: Rival,
        failures: Sequence[NodeFailure] = (),
        taught: Iterable[Execution] = (),
        capacity: int = CAPACITY,
    ) -> None:
        self._upcoming = sorted(
            applications, key=lambda application: (application.submit_s, application.number), reverse=True
        )
        self._rival = rival
        self._store = GuaranteedStore(capacity)
        self._up = {node.name: node.usable.cores_milli // 1000 for node in NODES}
        changes = [(failure.at_s, False, failure.node) for failure in failures] + [
            (failure.back_s, True, failure.node) for failure in failures
        ]
        self._changes = sorted(changes, reverse=True)
        self._waiting: list[RivalApplication] = []
        self._running: list[RivalApplication] = []
        self._times = RunTimes()
        for number, execution in enumerate(sorted(taught, key=lambda execution: execution.submitted_at_s)):
            sample = sample_of(execution)
            if sample is not None:
                self._times.learn(f"taught{number}", kind_of(execution), sample)
        self._last_submission_s = max((application.submit_s for application in applications), default=0.0)
        self._now_s = 0.0
        self.outcome = StudyOutcome(CORES)

    def run(self) -> StudyOutcome:
        """Run until the last application has ended."""
        for _ in range(_EVENTS_MAX):
            if not self._upcoming and not self._running and not self._waiting:
                return self.outcome
            self._advance_to(self._next_s())
            self._end_what_is_done()
            self._change_nodes()
            while self._upcoming and self._upcoming[-1].submit_s <= self._now_s:
                self._submit(self._upcoming.pop())
            self._decide()
        raise RuntimeError("the run does not end")

    def _next_s(self) -> float:
        times = [self._now_s + application.work.left_s for application in self._running if application.work is not None]
        times += [self._upcoming[-1].submit_s] if self._upcoming else []
        times += [self._changes[-1][0]] if self._changes else []
        own_s = self._rival.next_s(self._now_s)
        return min([*times, max(own_s, self._now_s + _STEP_S)])

    def _advance_to(self, at_s: float) -> None:
        if at_s == math.inf:
            raise RuntimeError(f"{len(self._waiting)} applications wait and nothing runs")
        seconds = at_s - self._now_s
        works = [application.work for application in self._running if application.work is not None]
        self.outcome.count(works, max(min(at_s, self._last_submission_s) - self._now_s, 0.0))
        for work in works:
            work.advance(seconds)
        self._now_s = at_s

    def _end_what_is_done(self) -> None:
        for application in [
            application
            for application in self._running
            if application.work is not None and application.work.left_s == 0.0
        ]:
            assert application.work is not None
            self._running.remove(application)
            app = application.application
            self.outcome.ends.append(StudyEnd(app, application.work.start_s, self._now_s, promised=app.has_deadline))
            self._times.learn(str(app.number), app.key, application.work.sample())

    def _change_nodes(self) -> None:
        while self._changes and self._changes[-1][0] <= self._now_s:
            _, is_back, name = self._changes.pop()
            if is_back:
                self._up[name] = next(node.usable.cores_milli // 1000 for node in NODES if node.name == name)
                continue
            self._up.pop(name, None)
            for application in list(self._running):
                if (
                    name in application.places[: application.application.core]
                ):  # an essential service is lost, and all work with it
                    self._running.remove(application)
                    self._waiting.append(RivalApplication(application.application))
                application.places = [place for place in application.places if place != name]

    def _submit(self, application: StudyApplication) -> None:
        one = RivalApplication(application)
        self._times.predict_submitted(str(application.number), application.key, RunSetting(float(application.total)))
        if application.has_deadline and not self._rival.admits(one, self._view()):
            self.outcome.refused.append(application)
        else:
            self._waiting.append(one)

    def _view(self) -> RivalView:
        self._waiting.sort(key=lambda application: (application.application.submit_s, application.number))
        return RivalView(
            self._now_s, sum(self._up.values()), tuple(self._waiting), tuple(self._running), self._learned_time
        )

    def _learned_time(self, one: StudyApplication, services: int, chance: float) -> float:
        seconds = self._times.within_s(one.key, RunSetting(float(services)), chance)
        return one.declared_s * one.total / services if seconds is None else max(seconds, 1.0)

    def _decide(self) -> None:
        wanted = self._rival.decide(self._view())
        for application in self._running:
            application.places = application.places[
                : max(wanted.get(application.number, 0), application.application.core)
            ]
        turns = {number: turn for turn, number in enumerate(wanted)}
        taken = Counter(place for application in self._running for place in application.places)
        for entry in sorted([*self._running, *self._waiting], key=lambda entry: turns.get(entry.number, math.inf)):
            more = wanted.get(entry.number, 0) - len(entry.places)
            free = [name for name, cores in self._up.items() for _ in range(cores - taken[name])][: max(more, 0)]
            if entry.work is None:
                if not free or len(free) < entry.application.core:
                    continue
                entry.work = ApplicationWork(entry.application, self._now_s)
                self._waiting.remove(entry)
                self._running.append(entry)
            entry.places += free
            taken.update(free)
        for item in self._running:
            if item.work is not None:
                item.work.running = len(item.places)
        self._store.share({str(entry.number): entry.work for entry in self._running if entry.work is not None}, {})
