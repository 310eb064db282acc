"""A trace under faults: jobs that the platform ends are retried, as in the policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

from lab.faults.kinds import occurrences
from lab.faults.run import FaultRun
from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.simulated import SimulatedController
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.values.storage import Bandwidth, Guarantee, StorageDemand
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_simulator.jobs import Job, Run, Trace
from zoe_simulator.trace import execution_of

# The average duration of a lasting fault, as a share of the trace's time.
_LASTS_SHARE = 0.002
# Bytes per second of the run's store, and the share of the jobs that require some of it.
_STORE = 10**9
_WISHING = 0.25


def run_with_faults(
    trace: Trace, policy: Policy, seed: int, faults: int, exact_runtimes: bool = False
) -> tuple[list[Run], dict[str, Any]]:
    """Return the last attempts of the jobs that succeeded, with outcomes, faults by name, and a digest of the journal.

    A quarter of the jobs, drawn by the seed, requires the same share of a store's bandwidth as of the processors. Jobs
    submitted while nothing could be decided are seen later, so the order of events at equal times differs from that of
    a replay without faults.
    """
    jobs = {f"j{number:08}": job for number, job in enumerate(trace.jobs)}
    chance = Random(f"{seed} wishes")
    submitted = [
        _wishing(execution_of(job, i, job.run_s if exact_runtimes else job.request_s), job, trace, chance)
        for i, job in jobs.items()
    ]
    from_s, until_s = trace.jobs[0].submit_s, max(job.submit_s + job.run_s for job in trace.jobs)
    drawn = occurrences(seed, faults, from_s, until_s, mean_s=(until_s - from_s) * _LASTS_SHARE)
    controller = SimulatedController(Capacity(_STORE, {"disks": _STORE}))

    def behave(start: ServiceStart) -> ServiceBehaviour:
        return ServiceBehaviour(run_s=jobs[start.execution_id].run_s)

    run = FaultRun(trace.nodes, submitted, behave, policy, drawn, controller)
    ended = run.run()
    done = [
        Run(jobs[e.id], e.marks[Mark.PLACED], e.marks[Mark.ENDED]) for e in ended if e.state is ExecutionState.SUCCEEDED
    ]
    facts = outcomes(ended) | {"masters": run.masters}
    facts |= {f"fault_{fault.value}": count for fault, count in sorted(run.occurred.items())}
    return done, facts | {"digest": run.digest()}


def _wishing(execution: Execution, job: Job, trace: Trace, chance: Random) -> Execution:
    if chance.random() >= _WISHING:
        return execution
    share = min(job.processors / trace.processors, 1.0)
    storage = StorageDemand(bandwidth=Bandwidth(max(int(share * _STORE), 1), None, Guarantee.REQUIRED))
    return replace(execution, application=replace(execution.application, storage=storage))


def outcomes(executions: Iterable[Execution]) -> dict[str, int]:
    """Return the number of jobs by outcome, and the number of attempts beyond the first."""
    listed = list(executions)
    states = Counter(execution.state for execution in listed)
    ends = (ExecutionState.SUCCEEDED, ExecutionState.FAILED, ExecutionState.CANCELLED)
    return {state.value: states[state] for state in ends} | {"tried_again": sum(e.attempt - 1 for e in listed)}
