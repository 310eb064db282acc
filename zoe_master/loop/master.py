"""One tick: observe, snapshot, decide, act."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from queue import SimpleQueue
from secrets import token_hex

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.arrays import Array
from zoe_lib.domain.executions.events import Forecasted
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Mark, awaits_prologue
from zoe_lib.domain.executions.promises import StoreCapacity
from zoe_lib.domain.lifecycle.consequences import due_at_s
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import NotLeader
from zoe_master.backends.base import Backend
from zoe_master.loop.arrays import ArrayObserver
from zoe_master.loop.attempt_programs import AttemptPrograms, ProgramRunner
from zoe_master.loop.conditions import ConditionObserver
from zoe_master.loop.executor import PlanExecutor
from zoe_master.loop.idle_executions import ExecutionCulling, LastUses
from zoe_master.loop.image_gate import ImageGate
from zoe_master.loop.observer import ServiceObserver
from zoe_master.loop.port_secrets import PortSecrets
from zoe_master.loop.promises.answers import PromiseAnswers
from zoe_master.loop.promises.decisions import PromiseDecision
from zoe_master.loop.reason_writer import ReasonWriter
from zoe_master.loop.retry_limit import RetryLimit
from zoe_master.loop.secret_values import ExecutionSecrets
from zoe_master.loop.system_users import SystemUsers
from zoe_master.loop.tick import Tick
from zoe_master.loop.tick_recorder import Inputs, TickInputs, TickRecorder, without_own
from zoe_master.scheduler.booking.bookings import Booking
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan, Snapshot
from zoe_master.state.crash_points import Hit, never_crash
from zoe_master.state.state_cache import CHANGES_PER_SET, StateCache
from zoe_master.state.tick_context import TickContext
from zoe_master.storage.grants import GuaranteeGrants
from zoe_master.storage.locating import InputLocator
from zoe_master.storage.path_uses import Look, PathUses
from zoe_master.storage.reconciler import StorageReconciler
from zoe_master.storage.spark_config import SparkConfig
from zoe_master.storage.view_reconciler import InputViews

log = structlog.get_logger(__name__)


class Master:
    """Drives all executions while this master is the leader. Not thread-safe: one loop ticks; other threads read
    `latest`.
    """

    def __init__(
        self,
        store: ExecutionStore,
        backend: Backend,
        leader_epoch: int,
        clock: Clock = SYSTEM_CLOCK,
        hit: Hit = never_crash,
        storage: StorageReconciler | None = None,
        tick_recorder: TickRecorder | None = None,
        spark_config: SparkConfig | None = None,
        port_secrets: PortSecrets | None = None,
        system_users: SystemUsers | None = None,
        secret_values: ExecutionSecrets | None = None,
        last_uses: LastUses | None = None,
        paths: Look | None = None,
        changes_per_set: int = CHANGES_PER_SET,
        programs: ProgramRunner | None = None,
        bookings: Iterable[Booking] | None = None,
    ) -> None:
        spark_config = spark_config or SparkConfig()
        self._store = store
        self._backend = backend
        self._epoch = leader_epoch
        self._clock = clock
        self._cache = StateCache(store, leader_epoch, changes_per_set)
        self._observer = ServiceObserver(self._cache, backend, hit)
        self._arrays = ArrayObserver(self._cache)
        self._conditions = ConditionObserver(self._cache)
        self._retry_limit = RetryLimit(self._cache)
        self._image_gate = ImageGate(self._cache, backend)
        self.port_secrets = port_secrets or PortSecrets()
        users, secrets = system_users or SystemUsers(), secret_values or ExecutionSecrets()
        self._programs = AttemptPrograms(self._cache, programs)
        self._executor = PlanExecutor(
            self._cache, backend, spark_config, self.port_secrets, users, secrets, hit, self._programs
        )
        self._reasons = ReasonWriter(self._cache)
        self._culling = ExecutionCulling(self._cache, last_uses or store.last_uses)
        self._grants = GuaranteeGrants(
            self._cache,
            storage,
            hit,
            InputViews(spark_config.view_schemes, spark_config.services),
            spark_config.own,
        )
        self._own_credentials = spark_config.own
        self._locator = InputLocator(self._cache, storage)
        self._paths = paths or PathUses(storage).look
        self._tick_recorder = tick_recorder
        self._platform: Sequence[Node] = ()
        self._can: tuple[BackendCapabilities, StoreCapacity | None] | None = None
        self._told: SimpleQueue[tuple[ExecutionId, Forecast]] = SimpleQueue()
        self.run_times = self._cache.run_times
        # A replay may begin with the bookings of a record; other masters reserve room for what their predecessors
        # promised.
        self._answers = PromiseAnswers(self._cache, bookings)
        self.latest: Tick | None = None

    def due_lists(self) -> list[Array]:
        """Return the arrays whose lists are needed now; any thread may call this."""
        return list(self._cache.arrays.due_lists.copy().values())

    def present(self) -> Tick | None:
        """Return the last tick moved to the present time, for questions about the future; None before the first."""
        tick = self.latest
        return None if tick is None else tick.moved_to(self._clock.now_s())

    def tick(self) -> Tick:
        """Bring the journal, the back-end and the policy one step closer to each other; NotLeader if deposed."""
        if not self._store.still_leading(self._epoch):
            raise NotLeader("another master leads, or the database connection that held the lock is lost")
        now_s = self._clock.now_s()
        plan_id = f"plan-{token_hex(6)}"
        tick = TickContext(now_s, plan_id, self._clock)
        # 1. Observe: changes by users and other processes, and reports of the back-end.
        read_to = self._cache.catch_up()
        observations = self._observer.absorb(tick)
        self._arrays.look(tick)
        self._conditions.look(tick)
        self._culling.sync(tick)
        storage = self._grants.observe()
        # 2. Snapshot.
        nodes = tuple(self._backend.nodes())
        self._publish(nodes, now_s)
        locality = self._locator.look(nodes, now_s)
        held = {**self._locator.waiting_executions(now_s), **self._image_gate.check(tick)}
        paths = self._paths(nodes, self._cache.policy)
        supply = storage.supply if storage is not None else None
        look = partial(self._cache.snapshot, now_s, nodes, held, supply, locality, paths)
        self._answers.settle(tick, look)
        snapshot = look()
        # 3. Decide.
        began_s = time.perf_counter()
        plan = schedule(snapshot, self._cache.policy)
        plan_s = time.perf_counter() - began_s
        self._cache.scan_from = plan.scan_from
        # 4. Act.
        self._executor.carry_out(plan, tick, locality)
        self._reasons.write(plan, tick)
        self._retry_limit.end(plan, tick)
        self._grants.sync(plan, tick, storage)
        self._publish_capabilities(now_s)
        self._executor.drive(observations, tick)
        self._programs.finish(tick)
        self._keep_forecasts(tick)
        self._log(snapshot, plan_id, read_to)
        self.latest = self._result(snapshot, plan, tick, plan_s, read_to)
        if plan.placements:
            counts = {"starts": len(plan.starts), "elastic": len(plan.elastic), "waiting": len(plan.reasons)}
            log.info("plan", plan=plan_id, placements=plan.placements, **counts)
        return self.latest

    def _result(self, snapshot: Snapshot, plan: Plan, tick: TickContext, plan_s: float, read_to: int) -> Tick:
        """Return the tick to publish. plan_s: seconds spent in the scheduler; read_to: position in the journal."""
        now_s = tick.now_s
        started = (self._cache.get(execution_id) for execution_id in plan.starts)
        waited_s = tuple(max(now_s - e.marks.get(Mark.QUEUED, now_s), 0.0) for e in started if e is not None)
        oldest_at_s = self._cache.backlog.oldest_at_s
        oldest_s = 0.0 if oldest_at_s is None else max(now_s - oldest_at_s, 0.0)
        return Tick(
            snapshot,
            plan,
            tick.plan_id,
            plan_s,
            self._cache.take_raced(),
            waited_s,
            oldest_s,
            policy=self._cache.policy,
            forecasts=self._cache.record,
            expected=self._cache.expected_s,
            unfinished=any(
                (
                    self._cache.behind,
                    self._observer.unfinished,
                    self._conditions.unfinished,
                    self._arrays.has_unfinished,
                    self._reasons.has_unfinished,
                )
            ),
            outcomes=self._cache.take_outcomes(),
            missed=self._cache.take_missed(),
            asking=self._cache.promises.undecided_executions(),
            offered=self._cache.promises.owners_of_offers(),
            unplaced=self._cache.promises.unplaced_executions(),
            promised=self._cache.promises.promised_executions(),
            answers_taken=self._answers.taken,
            read_to=read_to,
            transferred=self._cache.take_transferred(),
        )

    def note_forecast(self, execution_id: ExecutionId, forecast: Forecast) -> None:
        """Record a forecast given to a user; the next tick journals it. Callable from any thread."""
        self._told.put((execution_id, forecast))

    def note_promises(self, decisions: Iterable[PromiseDecision]) -> None:
        """Record decisions on promises; the next tick journals the valid ones. Callable from any thread."""
        self._answers.add_decisions(decisions)

    def next_due_s(self, now_s: float) -> float | None:
        """Return when the next tick is due by time alone, in seconds since the epoch; None without one.

        Past times do not count: an execution that was due and still waits, for room or a limit, must not hide the next
        due time.
        """
        maybe = (*self._cache.active(), *self._cache.backlog.paused_executions)
        policy = self._cache.policy
        own = (
            self._culling.due_s(),
            self._locator.due_s(),
            self._cache.conditional.next_time_s(now_s),
            self._cache.arrays.due_s(now_s),
            self._cache.promises.next_begin_s(now_s),
        )
        times = (*(due_at_s(e, policy) for e in maybe), *own)
        return min((at_s for at_s in times if at_s is not None and at_s > now_s), default=None)

    def execution(self, execution_id: ExecutionId) -> Execution | None:
        """Return the execution as journalled; None if it is not active. Callable from any thread."""
        return self._cache.get(execution_id)

    def waits_for_credential(self, execution_id: ExecutionId) -> Reason | None:
        """Return the reason of a starting execution that waits for its credential; None if it does not. Callable from
        any thread.
        """
        return self._own_credentials.waiting_reason(
            execution_id, self._clock.now_s(), self._cache.policy.storage_patience_s
        )

    def waits_for_prologue(self, execution_id: ExecutionId) -> Reason | None:
        """Return the reason of a starting execution whose prologue runs; None without one. Callable from any thread."""
        execution = self._cache.get(execution_id)
        if execution is None or execution.state is not ExecutionState.STARTING or not awaits_prologue(execution):
            return None
        since_s = self._clock.now_s() - execution.marks[Mark.OPENED]
        sentence = f"It has its nodes, and waits for the prologue of the admin, which began {since_s:.0f} s ago."
        return Reason(ReasonCode.PROLOGUE, sentence)

    @property
    def cache(self) -> StateCache:
        """Return this master's state of executions."""
        return self._cache

    @property
    def policy(self) -> Policy:
        """Return the policy of the next tick."""
        return self._cache.policy

    def _keep_forecasts(self, tick: TickContext) -> None:
        while not self._told.empty():
            execution_id, forecast = self._told.get_nowait()
            execution = self._cache.get(execution_id)
            if execution is not None and execution.state is ExecutionState.QUEUED and execution.forecast is None:
                self._cache.append(execution, [Forecasted(at_s=tick.now_s, cause_id=tick.plan_id, forecast=forecast)])

    def _log(self, snapshot: Snapshot, plan_id: str, read_to: int) -> None:
        wrote = self._cache.take_wrote()
        if self._tick_recorder is None:
            return
        nodes = without_own(snapshot.nodes, snapshot.active)
        inputs = Inputs(
            nodes,
            self._image_gate.absent,
            snapshot.storage,
            snapshot.locality,
            self._locator.awaited,
            snapshot.paths,
            {booking.execution_id: booking for booking in snapshot.bookings if booking.places},
            snapshot.scan_from,
        )
        waiting = bool(snapshot.queued) or any(s.node is None for e in snapshot.active for s in e.services if s.alive)
        self._tick_recorder.keep(TickInputs(plan_id, snapshot.now_s, read_to, inputs, wrote, waiting))

    def _publish(self, nodes: Sequence[Node], now_s: float) -> None:
        """Store the observed platform, writing only changes."""
        if nodes != self._platform:
            self._store.set_platform(nodes, now_s, self._epoch)
            self._platform = nodes

    def _publish_capabilities(self, now_s: float) -> None:
        """Store the capabilities; while the storage controller is away, keep its last report."""
        can = (self._backend.capabilities(), self._grants.capacity)
        if can != self._can:
            self._store.set_capabilities(*can, now_s, self._epoch)
            self._can = can
