"""A trace that meets faults: jobs that the platform ends are tried again, as the policy says."""

from __future__ import annotations

from typing import Any

from zoe_lib.domain.execution import ExecutionState, Mark
from zoe_lib.domain.policy import Policy
from zoe_master.backends.simulated import Behaviour
from zoe_master.simulator.faults.kinds import occurrences
from zoe_master.simulator.faults.run import FaultRun, outcomes
from zoe_master.simulator.jobs import Run, Trace
from zoe_master.simulator.trace import execution_of

# How much of the trace's time a fault that lasts takes on average.
_LASTS_SHARE = 0.002


def run_with_faults(
    trace: Trace, policy: Policy, seed: int, faults: int, exact_runtimes: bool = False
) -> tuple[list[Run], dict[str, Any]]:
    """The last tries of the jobs that succeeded, and what happened: outcomes, faults by name, a digest of the journal.

    Jobs that were submitted at a time when nothing could be decided are seen later, so the order of events at equal
    times is not that of a replay without faults.
    """
    jobs = {f"j{number:08}": job for number, job in enumerate(trace.jobs)}
    submitted = [execution_of(job, i, job.run_s if exact_runtimes else job.request_s) for i, job in jobs.items()]
    from_s, until_s = trace.jobs[0].submit_s, max(job.submit_s + job.run_s for job in trace.jobs)
    drawn = occurrences(seed, faults, from_s, until_s, mean_s=(until_s - from_s) * _LASTS_SHARE)
    run = FaultRun(trace.nodes, submitted, lambda start: Behaviour(run_s=jobs[start.execution_id].run_s), policy, drawn)
    ended = run.run()
    done = [
        Run(jobs[e.id], e.marks[Mark.PLACED], e.marks[Mark.ENDED]) for e in ended if e.state is ExecutionState.SUCCEEDED
    ]
    told = outcomes(ended) | {"masters": run.masters}
    told |= {f"fault_{fault.value}": count for fault, count in sorted(run.occurred.items())}
    return done, told | {"digest": run.digest()}
