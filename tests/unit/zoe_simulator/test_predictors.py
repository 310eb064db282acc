"""Replays learn run times from ended jobs, never from later ends."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.support.checked_replay import checking
from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.jobs import Job, Trace, pool_of, processors_of
from zoe_simulator.predictors import PREDICTORS, Mean2, Neighbours, Predictor
from zoe_simulator.trace import Replay

EASY = Policy(order="fifo", backfill="easy", ageing_s=0.0)


def job(
    number: int, submit_s: float, run_s: float, request_s: float, processors: int = 1, user: str = "u", name: str = ""
) -> Job:
    return Job(number, submit_s, run_s, request_s, user, processors_of(processors), application=name)


def test_mean2_is_the_mean_of_the_last_two_of_the_same_user_and_application() -> None:
    predictor = Mean2()
    found = []
    for ran_s in (100.0, 20.0, 40.0):
        found.append(predictor.expected_run_s(job(0, 0.0, 1.0, 500.0)))
        predictor.learn(job(0, 0.0, ran_s, 500.0))
    assert found == [None, None, 60.0]
    assert predictor.expected_run_s(job(0, 0.0, 1.0, 500.0)) == 30.0
    assert predictor.expected_run_s(job(0, 0.0, 1.0, 500.0, user="v")) is None
    assert predictor.expected_run_s(job(0, 0.0, 1.0, 500.0, name="7")) is None


def test_neighbours_are_the_five_of_the_same_user_that_asked_for_the_most_similar() -> None:
    """Distances from 8 processors for 100 s, in doublings: 0, 0, 1, 1, 2, 3 and 6; the last two do not count."""
    predictor = Neighbours()
    assert predictor.expected_run_s(job(0, 0.0, 1.0, 100.0, 8)) is None
    asked = [(8, 100.0, 10.0), (1, 800.0, 700.0), (8, 100.0, 20.0), (4, 100.0, 30.0), (8, 200.0, 40.0)]
    for processors, request_s, ran_s in (*asked, (4, 50.0, 50.0), (1, 100.0, 90.0)):
        predictor.learn(job(0, 0.0, ran_s, request_s, processors))
    assert predictor.expected_run_s(job(0, 0.0, 1.0, 100.0, 8)) == (10.0 + 20.0 + 30.0 + 40.0 + 50.0) / 5
    assert predictor.expected_run_s(job(0, 0.0, 1.0, 100.0, 8, user="v")) is None


def by_hand() -> Trace:
    """Jobs 1 and 2 teach that the user's jobs run for 10 s. Job 3, of three processors out of four, runs for 500 s.

    Job 4 needs all four and waits. It can expect to start at 30 s; once job 3 has outlasted 10 s, at 20 + 70 = 90 s;
    once it has outlasted 70 s, at 20 + 370 = 390 s. Job 5 (30 s from 40 s on) ends before 90 s and passes. Job 7 (60 s
    from 80 s on) does not; at 100 s, when job 6 comes, it does. Job 6 has its processor at 160 s.
    """
    jobs = (
        job(1, 0.0, 10.0, 1000.0),
        job(2, 0.0, 10.0, 1000.0),
        job(3, 20.0, 500.0, 1000.0, 3),
        job(4, 25.0, 100.0, 100.0, 4, "v"),
        job(5, 40.0, 30.0, 30.0, 1, "v"),
        job(7, 80.0, 60.0, 60.0, 1, "v"),
        job(6, 100.0, 60.0, 60.0, 1, "v"),
    )
    return Trace("by hand", pool_of(4), jobs, pool=True)


@pytest.mark.parametrize("name", [None, *PREDICTORS])
def test_a_prediction_that_is_outlasted_is_corrected_step_by_step(name: str | None) -> None:
    """By requests, job 3 ends at 1,020 s, and all that are small pass at once."""
    replay = Replay(by_hand(), EASY, check=checking, predictor=PREDICTORS[name]() if name else None)
    starts = {run.job.id: run.start_s for run in replay.run()}
    learned = {1: 0.0, 2: 0.0, 3: 20.0, 5: 40.0, 7: 100.0, 6: 160.0, 4: 520.0}
    assert starts == (learned if name else learned | {7: 80.0, 6: 140.0})


def test_a_prediction_never_exceeds_the_request() -> None:
    """Two runs of 100 s predict 100 s; the third asks for 30 s and so passes one that can start 40 s later."""
    jobs = (
        job(1, 0.0, 100.0, 100.0),
        job(2, 0.0, 100.0, 100.0),
        job(3, 200.0, 40.0, 40.0, 3, "v"),
        job(4, 200.0, 10.0, 10.0, 4, "v"),
        job(5, 200.0, 30.0, 30.0),
    )
    replay = Replay(Trace("by hand", pool_of(4), jobs, pool=True), EASY, predictor=Mean2())
    assert {run.job.id: run.start_s for run in replay.run()}[5] == 200.0


class Recorded:
    """Records predictions, by job."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor
        self.expected_s: dict[int, float | None] = {}

    def expected_run_s(self, job: Job) -> float | None:
        self.expected_s[job.id] = self._predictor.expected_run_s(job)
        return self.expected_s[job.id]

    def learn(self, job: Job) -> None:
        self._predictor.learn(job)


class Clairvoyant(Mean2):
    """Knows the future."""

    def expected_run_s(self, job: Job) -> float | None:
        return job.run_s


def busy_trace(seed: int) -> Trace:
    chance, now, made = random.Random(seed), 0.0, []
    for number in range(120):
        now += chance.choice([0, 0, 5, 10, 30])
        run_s = chance.choice([5.0, 10.0, 20.0, 50.0, 100.0])
        width = chance.choice([1, 1, 2, 4, 8, 16])
        made.append(job(number, now, run_s, run_s * chance.choice([1, 2, 5]), width, chance.choice("uvw")))
    return Trace(f"seed{seed}", pool_of(16), tuple(made), pool=True)


def until(trace: Trace, predictor: Predictor, at_s: float) -> tuple[dict[int, float], dict[int, float | None], Trace]:
    """Starts and predictions until a time; and the trace with what ends later running for as long as it may."""
    recorded = Recorded(predictor)
    runs = Replay(trace, EASY, predictor=recorded).run()
    later = {run.job.id for run in runs if run.end_s > at_s}
    starts = {run.job.id: run.start_s for run in runs if run.start_s <= at_s}
    submitted = {job.id for job in trace.jobs if job.submit_s <= at_s}
    changed = tuple(replace(job, run_s=job.request_s) if job.id in later else job for job in trace.jobs)
    predicted = {number: expected_s for number, expected_s in recorded.expected_s.items() if number in submitted}
    return starts, predicted, replace(trace, jobs=changed)


def knows_the_future(make: type[Predictor], seed: int, at_s: float) -> bool:
    """Whether anything until a time differs when only what ends after it runs longer."""
    *before, changed = until(busy_trace(seed), make(), at_s)
    return before != [*until(changed, make(), at_s)[:2]]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", PREDICTORS)
def test_later_ends_do_not_change_earlier_predictions(name: str, seed: int) -> None:
    _, predicted, _ = until(busy_trace(seed), PREDICTORS[name](), 600.0)
    assert any(predicted.values()), "nothing was learned: this tries nothing"
    assert not any(knows_the_future(PREDICTORS[name], seed, at_s) for at_s in (300.0, 600.0, 900.0))


def test_one_that_knows_the_future_is_found_out() -> None:
    assert all(knows_the_future(Clairvoyant, seed, 700.0) for seed in range(4))
