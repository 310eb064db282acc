"""Whoever asks for a run time gets the same one: order, backfill, forecasts, plans and pages; and promises learn from
the same runs.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.checks import of_checks
from tests.support.scheduling import component, node, queued, started
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.deadline_misses import expected_run_s
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.run_times.history import RunTimes
from zoe_lib.run_times.nearest import RunTimesByProgram
from zoe_lib.run_times.samples import kind_of, run_key, sample_of, setting_of
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.ordering.queue import Pass
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.budget import StepCount
from zoe_master.state.expected_ends import end_forecast
from zoe_master.state.forecasts import ForecastRecord, forecast

PROGRAMS = ("run.py", "run.py 10", "run.py 20", "run.py 1000", "other")
ROOT = Path(__file__).resolve().parents[2]
CASES, PER_CASE = of_checks(0.04, 1000), 10


class History:
    """Random runs of five programs by two users, learned by both estimators."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.nearest, self.model = RunTimesByProgram(), RunTimes()
        usual = {program: chance.choice([1.0, 30.0, 600.0]) for program in PROGRAMS}
        if chance.random() < 0.5:  # numbers do not matter
            usual |= dict.fromkeys(PROGRAMS[:4], usual["run.py"])
        for number in range(chance.randrange(30)):
            run, program = self.execution(f"e{number}")
            self._learn(run, usual[program] * chance.uniform(0.7, 1.4))

    def execution(self, name: str) -> tuple[Execution, str]:
        """Return a waiting execution of one of the programs."""
        program, cores = self.chance.choice(PROGRAMS), self.chance.choice([1, 1, 1, 4])
        more = self.chance.choice([{}, {}, {"expected_run_s": 70.0}, {"time_limit_s": 50.0}])
        execution = queued(name, component("main", cores=cores, command=tuple(program.split())), **more)
        return replace(execution, user=self.chance.choice(["ada", "bob"])), program

    def _learn(self, execution: Execution, run_s: float) -> None:
        placed = started(execution, "n1")
        marks = {**placed.marks, Mark.PLACED: 100.0, Mark.READY: 100.0, Mark.ENDED: 100.0 + run_s}
        ended = replace(placed, state=ExecutionState.SUCCEEDED, marks=marks)
        sample = sample_of(ended)
        assert sample is not None
        self.nearest.learn(run_key(ended), run_s)
        self.model.learn(ended.id, kind_of(ended), sample)


@pytest.mark.parametrize("seed", range(max(CASES // PER_CASE, 1)))
def test_all_that_ask_for_a_run_time_get_the_same(seed: int) -> None:
    for number in range(seed * PER_CASE, (seed + 1) * PER_CASE):
        history = History(random.Random(number))
        wanted, _ = history.execution("wanted")
        learned_s = history.nearest.expected_s(run_key(wanted))
        past_runs = {} if learned_s is None else {run_key(wanted): learned_s}
        snapshot, policy = Snapshot(0.0, (node("n1"),), (wanted,), past_runs=past_runs), Policy()
        record = ForecastRecord()
        present = Pass.from_snapshot(snapshot, policy)
        found = snapshot.estimates().run_time(wanted)
        seconds = None if found.seconds == float("inf") else found.seconds
        told = forecast(snapshot, policy, wanted.id, record)
        assert told is not None, f"seed {number}"
        tick = Tick(snapshot, Plan(), "", 0.0, raced=False, expected=history.nearest.expected_s)
        planned = Tick(replace(snapshot, queued=()), Plan(), "", 0.0, raced=False, expected=history.nearest.expected_s)
        _, _, end = planned.propose(wanted.application, wanted.tenant, wanted.user, 0, StepCount())
        asked = {
            "forecast": told.run_s,
            "plan": end.run_s,
            "end": end_forecast(snapshot, wanted, record, None).run_s,
            "eta": tick.run_time(wanted.id) and seconds,
        }
        assert asked == dict.fromkeys(asked, seconds), f"seed {number}"
        at_least_s = 3600.0 if seconds is None else max(seconds, 1.0)
        assert present.estimates.guess_s(wanted) == present.moment.run_s(wanted) == at_least_s, f"seed {number}"
        if found.source in ("declared", "past_runs") and seconds != wanted.application.time_limit_s:
            page = replace(wanted, forecast=told)
            assert expected_run_s(page) == seconds, f"seed {number}"
        leaves_s = present.estimates.latest_end_s(wanted, 0.0)
        limit_s = wanted.application.time_limit_s or wanted.application.expected_run_s or float("inf")
        assert leaves_s == limit_s, f"seed {number}: a window relies on a prediction"


@pytest.mark.parametrize("seed", range(max(CASES // PER_CASE, 1)))
def test_promises_learn_from_the_same_runs(seed: int) -> None:
    for number in range(seed * PER_CASE, (seed + 1) * PER_CASE):
        history = History(random.Random(number))
        wanted, _ = history.execution("wanted")
        expected_s = history.nearest.expected_s(run_key(wanted))
        answer = history.model.answer(kind_of(wanted), setting_of(wanted.application))
        assert (expected_s is None) == (answer is None), f"seed {number}"
        if expected_s is not None and answer is not None and not answer.wide:
            assert expected_s / 2 < answer.expected_s < expected_s * 2, f"seed {number}"


def test_only_one_place_reads_learned_run_times() -> None:
    """The order, backfill, forecasts and plans ask `Estimates`; promises and run times in plans ask the model."""
    learners = {"zoe_lib.run_times.nearest": set[str](), "zoe_lib.run_times.history": set[str]()}
    for package in ("zoe_master", "zoe_api", "zoe_lib", "zoe_simulator"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text("utf-8")
            for module, users in learners.items():
                if re.search(rf"^from {module} import", text, re.MULTILINE):
                    users.add(str(path.relative_to(ROOT)))
    assert learners == {
        "zoe_lib.run_times.nearest": {"zoe_master/state/run_history.py"},
        "zoe_lib.run_times.history": {"zoe_master/state/run_times.py"},
    }
