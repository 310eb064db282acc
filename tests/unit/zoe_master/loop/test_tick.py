"""Questions to the published result of a tick."""

from __future__ import annotations

from tests.support.scheduling import component, node, queued
from zoe_master.loop.tick import Tick
from zoe_master.scheduler.ordering.estimate import EstimateSource, run_key
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.state.cpu_budget import CpuBudget


def test_a_plan_knows_past_runs_of_a_kind_of_which_none_is_there() -> None:
    wanted = queued("x", component(cores=1.0, memory_gib=1))
    snapshot = Snapshot(10.0, (node("n", cores=4),))
    kind = run_key(wanted)
    for past, source in (({kind: 30.0}, EstimateSource.PAST_RUNS), ({}, EstimateSource.UNKNOWN)):
        tick = Tick(snapshot, Plan(), "plan-1", 0.0, raced=False, expected=past.get)
        proposal, _, end = tick.propose(wanted.application, wanted.tenant, wanted.user, 0, CpuBudget())
        assert proposal.starts_now
        assert (end.source, end.run_s) == (source, past.get(kind))
