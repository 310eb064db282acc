"""The order `learned-ratio`, as the master learns run times during a replay."""

from __future__ import annotations

from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.jobs import Job, Trace, pool_of, processors_of
from zoe_simulator.trace import Replay

POLICY = Policy(order="learned-ratio", backfill="easy")


def job(number: int, at_s: float, run_s: float, request_s: float, user: str) -> Job:
    return Job(number, at_s, run_s, request_s, user, processors_of(1), 4)


def replay(jobs: list[Job], *, learn_limits: bool) -> dict[int, float]:
    """Return the wait of each job on four processors, in seconds."""
    ordered = tuple(sorted(jobs, key=lambda one: one.submit_s))
    runs = Replay(Trace("test", pool_of(4), ordered, pool=True), POLICY, learn_limits=learn_limits).run()
    return {run.job.id: run.wait_s for run in runs}


def test_learned_run_times_and_not_requests_order_the_queue() -> None:
    jobs = [job(n, 100.0 * n, 30.0, 36_000.0, "short") for n in range(3)]
    jobs += [job(10, 1000.0, 500.0, 3600.0, "other"), job(11, 1001.0, 1000.0, 1800.0, "long")]
    jobs += [job(12, 1002.0, 30.0, 36_000.0, "short")]
    learned, requested = replay(jobs, learn_limits=True), replay(jobs, learn_limits=False)
    assert learned[12] < learned[11], "the user's last runs took half a minute"
    assert requested[12] > requested[11]


def test_a_flood_of_short_jobs_delays_a_long_one_by_at_most_24_times_its_run_time() -> None:
    """The flood takes all of the time with four jobs in the queue; under lasting overload its own jobs age, too."""
    flood = [job(n, 60.0 * max(n - 4, 0), 60.0, 60.0, "flood") for n in range(300)]
    waited_s = replay([*flood, job(1000, 600.0, 300.0, 300.0, "other")], learn_limits=True)[1000]
    assert 3600.0 < waited_s <= 24 * 300.0 + 60.0
