"""The thread that changes the instance counts of components by their scaling rules."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.descriptions.bounds import SERVICES_MAX
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Service, ServiceState
from zoe_lib.domain.values.scaling import ScalingHistory, ScalingRule
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import StoreError
from zoe_master.backends.base import BackendError, Usage
from zoe_master.background.probe_answers import NoReading
from zoe_master.background.readings import NoUsageSample, ScalingAmounts, ScalingCores
from zoe_master.loop.master import Master
from zoe_master.waker import TickWaker

log = structlog.get_logger(__name__)

_LOOK_S = 1.0
# A component that does not answer occupies a worker for some seconds, and delays no other components.
_WORKERS = 8
_ENTRIES_MAX = 100_000
_Key = tuple[ExecutionId, str]


class ScalingThread:
    """Runs beside one master until it is closed. It writes the same change as `zoe scale`."""

    def __init__(
        self,
        master: Master,
        store: ExecutionStore,
        epoch: int,
        amounts: ScalingAmounts,
        waker: TickWaker,
        look_s: float = _LOOK_S,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._master = master
        self._store = store
        self._epoch = epoch
        self._amounts = amounts
        self._waker = waker
        self._look_s = look_s
        self._cores = ScalingCores()
        self._settling: dict[_Key, ScalingHistory] = {}
        self._next_s: dict[_Key, float] = {}
        self._asked: dict[_Key, Future[None]] = {}
        self._blind: dict[tuple[ExecutionId, int], bool] = {}
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="zoe-scaling")
        self._thread = threading.Thread(target=self._run, name="zoe-scaling", daemon=True)
        self._thread.start()

    def note(self, usage: Sequence[Usage]) -> None:
        """Take the newest samples of all services."""
        self._cores.note(usage)

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._thread.join()
        self._pool.shutdown(cancel_futures=True)

    def _run(self) -> None:
        while not self._clock.wait(self._closing, self._look_s):
            try:
                self._look(self._clock.monotonic_s())
            except Exception:  # a failed component must not end the others
                log.exception("evaluating scaling rules failed")

    def _look(self, now_s: float) -> None:
        """Start readings for the components that are due."""
        tick = self._master.latest
        if tick is None:
            return
        ruled = {(e.id, c.name): (e, c, rule) for e in tick.snapshot.active for c, rule in _scaled_components(e)}
        self._asked = {key: future for key, future in self._asked.items() if not future.done()}
        self._settling = {key: history for key, history in self._settling.items() if key in ruled}
        self._next_s = {key: at_s for key, at_s in self._next_s.items() if key in ruled}
        attempts = {(execution.id, execution.attempt) for execution, _, _ in ruled.values()}
        self._blind = {key: told for key, told in self._blind.items() if key in attempts}
        self._cores.forget(service.id for execution, _, _ in ruled.values() for service in execution.services)
        for key, (execution, component, rule) in ruled.items():
            if key in self._asked or now_s < self._next_s.get(key, 0.0):
                continue
            self._next_s[key] = now_s + rule.interval_s
            settling = self._settling.setdefault(key, ScalingHistory(now_s))
            self._asked[key] = self._pool.submit(self._scale_component, execution, component, rule, settling)
        for execution in {execution.id: execution for execution, _, _ in ruled.values()}.values():
            self._note_blindness(execution, now_s)

    def _note_blindness(self, execution: Execution, now_s: float) -> None:
        """Journal that rules of an execution have had no measurement for a while, or that all have one again."""
        found = [(c, rule, self._settling.get((execution.id, c.name))) for c, rule in _scaled_components(execution)]
        blind = [
            f"{component.name}: {history.problem or 'its use is not known'}"
            for component, rule, history in found
            if history is not None and history.is_blind(rule, now_s)
        ]
        all_seen = all(history is not None and history.problem == "" for _, _, history in found)
        try:
            known_blind = self._told_blind(execution)
            if known_blind if blind else not (known_blind and all_seen):
                return
            why = f"no measurement, so the number of instances stays: {'; '.join(blind)}" if blind else ""
            event = ev.ScalingBlind(at_s=self._clock.now_s(), cause_id="scaling", why=why)
            self._store.append(execution.id, [event], execution.version, self._epoch)
        except StoreError as error:  # the next look tries again
            log.info("the blindness of scaling is not journalled", execution=execution.id, why=str(error))
        else:
            self._blind[execution.id, execution.attempt] = bool(blind)
            self._waker.wake()

    def _told_blind(self, execution: Execution) -> bool:
        """Return whether the journal says that the execution is blind; read once, since an earlier leader may have
        written it.
        """
        key = (execution.id, execution.attempt)
        if key not in self._blind:
            entries = self._store.journal(0, _ENTRIES_MAX, execution_id=execution.id)
            self._blind[key] = bool(ev.scaling_problem((entry.kind, entry.data) for entry in entries))
        return self._blind[key]

    def _scale_component(
        self, execution: Execution, component: Component, rule: ScalingRule, settling: ScalingHistory
    ) -> None:
        running = [service for service in execution.services if service.component == component.name and _runs(service)]
        try:
            measured = self._measure(execution, running, component, rule)
            self._scale(execution, component, rule, settling, len(running), measured)
        except NoReading as error:
            if not isinstance(error, NoUsageSample):
                settling.note_silence(str(error))
            log.info("nothing to scale by", execution=execution.id, component=component.name, why=str(error))
        except (StoreError, BackendError) as error:
            log.warning("scaling failed", execution=execution.id, component=component.name, why=str(error))
        except Exception:
            log.exception("scaling failed", execution=execution.id, component=component.name)

    def _measure(
        self, execution: Execution, running: Sequence[Service], component: Component, rule: ScalingRule
    ) -> float:
        if rule.cpu is not None:
            return self._cores.share(running, component.reservation.cores_milli)
        if rule.spark is not None:
            return self._amounts.spark_amount(rule, _driver(execution, rule.spark))
        return (
            self._amounts.instance_amount(rule, running)
            if rule.port is not None
            else self._amounts.prometheus_amount(rule)
        )

    def _scale(
        self,
        execution: Execution,
        component: Component,
        rule: ScalingRule,
        settling: ScalingHistory,
        running: int,
        measured: float,
    ) -> None:
        wanted, present = rule.wanted_count(running, measured), component.total_count
        given = settling.next_count(rule, self._clock.monotonic_s(), present, wanted)
        others = sum(component.total_count for component in execution.application.components) - present
        given = min(given, max(SERVICES_MAX - others, present))
        if given == present or self._closing.is_set():
            return
        event = ev.Scaled(
            at_s=self._clock.now_s(),
            cause_id="scaling",
            before={component.name: present},
            total_counts={component.name: given},
            why=_reason_text(rule, measured),
        )
        # A change between the tick and now wins: this reads again at the next interval.
        self._store.append(execution.id, [event], execution.version, self._epoch)
        self._waker.wake()


def _scaled_components(execution: Execution) -> Iterator[tuple[Component, ScalingRule]]:
    if execution.state is ExecutionState.RUNNING:
        for component in execution.application.components:
            if component.scaling is not None:
                yield component, component.scaling


def _driver(execution: Execution, port: str) -> Service | None:
    """Return the first ready service of the component with this port; None if there is none."""
    names = {c.name for c in execution.application.components if any(each.name == port for each in c.ports)}
    return next((s for s in execution.current() if s.component in names and _runs(s)), None)


def _runs(service: Service) -> bool:
    return service.state is ServiceState.READY


def _reason_text(rule: ScalingRule, measured: float) -> str:
    if rule.cpu is not None:
        return f"{measured:.0%} of its cores in use, {rule.cpu:.0%} wanted"
    if rule.spark is not None:
        return f"the Spark driver wants {measured:g} executors, {rule.per_instance:g} for each instance"
    return f"{measured:g} to do, {rule.per_instance:g} for each instance"
