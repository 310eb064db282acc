"""The policy of a fresh installation is better than FCFS with EASY on real and modelled logs, by both usual measures.

A policy that looks best on a workload of our own may be the worst choice on logs: `size` without backfill has a mean
bounded slowdown of thousands there, since what ageing brings to the head blocks the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from statistics import fmean

import pytest

from tests.support.long import of_traces
from tests.support.needs import test_data
from tests.support.same_as_before import recorded, starts
from zoe_client.wire import PolicyView
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.store.memory.store import MemoryStore
from zoe_simulator.formats import read_trace
from zoe_simulator.jobs import Run, Trace
from zoe_simulator.measures.figures import bounded_slowdown
from zoe_simulator.trace import Replay

KTH = "KTH-SP2-1996-2.1.sc15filtered.swf.gz"
SDSC = "SDSC-SP2-1998-4.2.sc15filtered.swf.gz"
LUBLIN = "lublin_256.swf.gz"
METACENTRUM = "metacentrum-wagap-2013.swf.gz"
FCFS_WITH_EASY = Policy(order="fifo", backfill="easy")
# Log, and how many of its first jobs are replayed; None: all. Whole logs take minutes, those of 10,000 jobs seconds.
REPLAYED = [(KTH, 4_000), (LUBLIN, 3_000)]
CASES = [
    *REPLAYED,
    pytest.param(KTH, None, marks=of_traces),
    pytest.param(LUBLIN, None, marks=of_traces),
    pytest.param(SDSC, None, marks=of_traces),
    pytest.param(METACENTRUM, None, marks=of_traces),
]


@cache
def trace_of(name: str, jobs: int | None) -> Trace:
    trace = read_trace(test_data() / "traces" / name)
    return trace if jobs is None else replace(trace, jobs=trace.jobs[:jobs])


@cache
def replayed(name: str, jobs: int | None, policy_name: str) -> Sequence[Run]:
    trace = trace_of(name, jobs)
    runs = Replay(trace, {"default": MemoryStore().policy(), "fcfs": FCFS_WITH_EASY}[policy_name]).run()
    assert len(runs) == len(trace.jobs)
    return runs


@pytest.fixture(scope="module", autouse=True)
def replays() -> None:
    """Replays that several tests share, so that each test costs only its additions."""
    starts_of_logs()


def measures(runs: Sequence[Run]) -> tuple[float, float]:
    """Mean wait in seconds, and mean bounded slowdown."""
    return fmean(run.wait_s for run in runs), fmean(map(bounded_slowdown, runs))


@pytest.mark.parametrize(("name", "jobs"), CASES)
def test_the_policy_of_a_fresh_installation_beats_fcfs_with_easy(name: str, jobs: int | None) -> None:
    wait_s, slowdown = measures(replayed(name, jobs, "default"))
    fcfs_wait_s, fcfs_slowdown = measures(replayed(name, jobs, "fcfs"))
    assert wait_s <= fcfs_wait_s, f"mean wait {wait_s:,.0f} s; FCFS with EASY {fcfs_wait_s:,.0f} s"
    assert slowdown <= fcfs_slowdown, f"mean bounded slowdown {slowdown:.1f}; FCFS with EASY {fcfs_slowdown:.1f}"


def test_default_policy_of_the_api_is_the_fresh_policy() -> None:
    fresh, shown = Policy(), PolicyView()
    assert MemoryStore().policy() == fresh
    same = ("order", "backfill", "preemption", "ageing_s", "tenants", "fair_share_age_weight", "interactive_share")
    assert [getattr(shown, name) for name in same] == [getattr(fresh, name) for name in same]


def starts_of_logs() -> dict[str, str]:
    """Digests of when the jobs of the logs start that `make test` replays."""
    return {
        f"{name}, {policy}": starts(replayed(name, jobs, policy))
        for name, jobs in REPLAYED
        for policy in ("default", "fcfs")
    }


def test_jobs_start_when_they_did_when_it_was_recorded() -> None:
    assert starts_of_logs() == recorded("starts")
