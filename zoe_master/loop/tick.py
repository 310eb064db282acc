"""The published result of a tick, and queries on it by other threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import field, replace
from secrets import token_hex

from zoe_client.vocabulary import DeadlineCause
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.events import Queued, Submitted
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState
from zoe_lib.domain.lifecycle.lifecycle import apply
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.run_times.samples import RunKey, run_key
from zoe_master.scheduler.ordering.estimate import RunTime
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.scheduler.placement.budget import (
    FORECAST_STEPS,
    PASS_STEPS,
    SEARCH_STEPS,
    GiveUp,
    StepCount,
    never,
)
from zoe_master.scheduler.what_if.dry_run import DryRun, dry_run
from zoe_master.scheduler.what_if.explain import Explanation, explain
from zoe_master.scheduler.what_if.missing_instances import missing_instances
from zoe_master.scheduler.what_if.node_loss import NodeLoss, node_loss
from zoe_master.scheduler.what_if.proposal import PlanProposal, propose, starts_together
from zoe_master.state.expected_ends import EndForecast, end_forecast
from zoe_master.state.forecasts import ForecastRecord, forecast


def _unknown(kind: RunKey) -> float | None:  # noqa: ARG001 - of the kinds about which nothing is known
    return None


@value(frozen=True, slots=True)
class Tick:
    """The observations and decisions of a tick, with its policy and the duration of the plan. Other threads read it.

    `waited_s`: queue time of each execution that started. `oldest_wait_s`: time since the oldest submission that still
    waits. `outcomes`: executions that ended, by terminal state. `missed`: deadlines that passed, by cause.
    `transferred`: bytes moved by ended attempts, by tenant and direction. `asking`: executions that wait for a decision
    on a promise; `offered`: tenant and user of those with offers; `unplaced`: promised ones without room, `promised`:
    all of them, as submitted, so with guaranteed services as elastic ones; `answers_taken`: number of decisions in it.
    `read_to`: the newest journal id read. `raced`: users changed executions meanwhile. `unfinished`: there was more
    work than the limits of a tick. In both cases another tick is due at once. `forecasts`: outcomes of earlier
    forecasts; the loop adds to it. `expected`: the run time in seconds from past runs of any kind; the snapshot has
    only the kinds of present executions.
    """

    snapshot: Snapshot
    plan: Plan
    plan_id: str
    plan_s: float
    raced: bool
    waited_s: tuple[float, ...] = ()
    oldest_wait_s: float = 0.0
    policy: Policy = field(default_factory=Policy)
    forecasts: ForecastRecord = field(default_factory=ForecastRecord)
    unfinished: bool = False
    outcomes: Mapping[ExecutionState, int] = field(default_factory=dict)
    missed: Mapping[DeadlineCause, int] = field(default_factory=dict)
    asking: tuple[Execution, ...] = ()
    offered: tuple[tuple[str, str], ...] = ()
    unplaced: tuple[Execution, ...] = ()
    promised: tuple[Execution, ...] = ()
    answers_taken: int = 0
    read_to: int = 0
    transferred: Mapping[tuple[str, str], int] = field(default_factory=dict)
    expected: Callable[[RunKey], float | None] = _unknown

    @property
    def is_due_again(self) -> bool:
        """Return whether another tick is due at once."""
        return self.raced or self.unfinished

    def moved_to(self, now_s: float) -> Tick:
        """Return the tick moved to a later time, so that forecasts count from then on."""
        return replace(self, snapshot=replace(self.snapshot, now_s=max(now_s, self.snapshot.now_s)))

    def explain(self, execution_id: ExecutionId, budget: StepCount) -> Explanation | None:
        """Return why an execution is not started, per node; None if unknown. Raises OutOfBudget."""
        return explain(
            self.snapshot, self.policy, execution_id, budget.spent_after(PASS_STEPS), budget.spent_after(SEARCH_STEPS)
        )

    def missing_instances(self, execution_id: ExecutionId, budget: StepCount) -> Reason | None:
        """Return why fewer than the preferred instances of a placed execution run; None if enough do, or if it is not
        placed. Raises OutOfBudget.
        """
        execution = next((e for e in self.snapshot.active if e.id == execution_id), None)
        if execution is None:
            return None
        return missing_instances(self.snapshot, self.policy, execution, self.plan, budget.spent_after(PASS_STEPS))

    def forecast(self, execution_id: ExecutionId, give_up: GiveUp = never) -> Forecast | None:
        """Return when a queued execution is expected to start and end; None if it is not queued."""
        return forecast(self.snapshot, self.policy, execution_id, self.forecasts, give_up)

    def propose(
        self, application: Application, tenant: str, user: str, priority: int, budget: StepCount
    ) -> tuple[PlanProposal, Forecast | None, EndForecast]:
        """Return the plan for this execution if it were submitted now, with a forecast of its start unless it starts,
        and one of its end.

        Raises OutOfBudget if the queue is too long for a pass within the budget, or if the client has disconnected.
        """
        now_s = self.snapshot.now_s
        fresh = replace(self.fresh(application, tenant, user), priority=priority)
        queued = apply(fresh, Queued(at_s=now_s))
        snapshot = self._snapshot_with_kind(run_key(queued))
        too_late, give_up = budget.spent_after(PASS_STEPS), budget.spent_after(SEARCH_STEPS)
        proposal = propose(snapshot, self.policy, queued, too_late, give_up)
        if proposal.starts_now:
            return proposal, None, end_forecast(snapshot, queued, self.forecasts, None)
        with_it = replace(snapshot, queued=(*snapshot.queued, queued))
        start = forecast(with_it, self.policy, queued.id, self.forecasts, budget.spent_after(FORECAST_STEPS))
        unknown = Forecast(now_s, None, None)
        return proposal, start, end_forecast(with_it, queued, self.forecasts, start or unknown)

    def starts_together(
        self, application: Application, tenant: str, user: str, priority: int, count: int, budget: StepCount
    ) -> tuple[int, Reason | None]:
        """Return how many of so many copies of an execution would start if they were submitted now, and why the others
        would wait. Raises OutOfBudget.
        """
        fresh = (replace(self.fresh(application, tenant, user), priority=priority) for _ in range(count))
        queued = [apply(execution, Queued(at_s=self.snapshot.now_s)) for execution in fresh]
        snapshot = self._snapshot_with_kind(run_key(queued[0]))
        return starts_together(snapshot, self.policy, queued, budget.spent_after(PASS_STEPS))

    def fresh(self, application: Application, tenant: str, user: str, deadline_s: float | None = None) -> Execution:
        """Return an execution as if it were submitted now."""
        now_s, name = self.snapshot.now_s, f"plan-{token_hex(16)}"
        fresh = Execution(name, application.name, tenant, user, application, now_s, deadline_s=deadline_s)
        return apply(fresh, Submitted(at_s=now_s))

    def _snapshot_with_kind(self, kind: RunKey) -> Snapshot:
        """Return the snapshot with the expected run time of a kind, as if one of it had been submitted."""
        known = self.snapshot.past_runs
        expected_s = None if kind in known else self.expected(kind)
        return self.snapshot if expected_s is None else replace(self.snapshot, past_runs={**known, kind: expected_s})

    def dry_run(self, policy: Policy, give_up: GiveUp = never) -> tuple[DryRun, DryRun]:
        """Return the effect of the policy in force and of another one on the present queue. Raises OutOfBudget."""
        return dry_run(self.snapshot, self.policy, give_up), dry_run(self.snapshot, policy, give_up)

    def node_loss(self, nodes: Set[str], budget: StepCount) -> NodeLoss:
        """Return the effect of losing these nodes now. Raises OutOfBudget."""
        return node_loss(self.snapshot, self.policy, nodes, budget.spent_after(4 * PASS_STEPS + FORECAST_STEPS))

    def run_time(self, execution_id: ExecutionId) -> RunTime | None:
        """Return the run time used for forecasts of a queued or placed execution, and its source."""
        execution = self.execution(execution_id)
        return None if execution is None else self.snapshot.estimates().run_time(execution)

    def execution(self, execution_id: ExecutionId) -> Execution | None:
        """Return a queued or placed execution; None for others."""
        return next((e for e in (*self.snapshot.queued, *self.snapshot.active) if e.id == execution_id), None)
