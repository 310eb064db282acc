"""The one thread that talks to the managers: it creates, polls, removes and sweeps."""

from __future__ import annotations

import logging
import math
import queue
import threading

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.base import ObservedState, ServiceStart
from zoe_master.backends.engine.errors import UNREACHABLE, ErrorText
from zoe_master.backends.engine.spec.naming.attempts import Attempt
from zoe_master.backends.swarm.manager.gateways import Gateways
from zoe_master.backends.swarm.manager.infrastructure import AttemptInfrastructure
from zoe_master.backends.swarm.manager.launch import ServiceLauncher
from zoe_master.backends.swarm.manager.poller import Reconciler
from zoe_master.backends.swarm.manager.quorum import ManagerQuorum
from zoe_master.backends.swarm.services.task_driver import TaskDriver
from zoe_master.backends.swarm.services.task_registry import TaskRegistry
from zoe_master.backends.swarm.settings import SwarmSettings

_log = logging.getLogger(__name__)
_CHANGING = (ObservedState.STARTING, ObservedState.STOPPING)
_REST = 4.0
"""The pause after a poll, in multiples of its duration: a manager that is slow to list its tasks has other work,
too.
"""
_HASTE_S = 30.0
"""How long removals are retried often: those that hang longer, such as on an absent node, are retried at rest."""


class ManagerLoop:
    """Takes ServiceStarts from a queue, in batches; polls at intervals."""

    def __init__(
        self,
        registry: TaskRegistry,
        quorum: ManagerQuorum,
        launcher: ServiceLauncher,
        reconciler: Reconciler,
        tending: TaskDriver,
        gateways: Gateways,
        shared: AttemptInfrastructure,
        settings: SwarmSettings,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._registry = registry
        self._quorum = quorum
        self._launcher = launcher
        self._reconciler = reconciler
        self._tending = tending
        self._gateways = gateways
        self._shared = shared
        self._settings = settings
        self._handed: queue.SimpleQueue[ServiceStart | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._next_look_s = 0.0
        self._retried: list[ServiceStart] = []
        self._attempts: set[Attempt] | None = None
        self._hasty_until_s = 0.0
        self._next_sweep_s = 0.0
        self._thread = threading.Thread(target=self._run, name="zoe-swarm-manager", daemon=True)

    def begin(self) -> None:
        """Start the thread."""
        self._thread.start()

    def hand_over(self, start: ServiceStart) -> None:
        """Queue a service for its start."""
        if problem := self._quorum.problem:  # the thread may hang in a request
            self._hold_up([start], problem)
        self._handed.put(start)

    def nudge(self) -> None:
        """Wake the loop: there may be work."""
        self._handed.put(None)

    def close(self) -> None:
        """Start the queued services, and end the thread."""
        self._closing.set()
        self.nudge()
        self._thread.join()

    def _run(self) -> None:
        while True:
            closing = self._closing.is_set()
            try:
                self._pass()
            except UNREACHABLE as error:
                _log.warning("no manager of the swarm answers: %s", error)
                self._next_look_s = self._clock.monotonic_s() + self._settings.engine_retry_s
            except Exception:
                _log.exception("a pass over the swarm failed")
                self._next_look_s = self._clock.monotonic_s() + self._settings.engine_retry_s
            if closing:
                return

    def _pass(self) -> None:
        starts = self._retried + self._gather(self._pause_s())
        self._retried = []
        problem = self._quorum.problem
        if not problem:
            self._create(starts)
        else:  # each change would hang
            self._retried = starts
            self._hold_up(starts, problem)
        now_s = self._clock.monotonic_s()
        looked = now_s >= self._next_look_s
        if looked:
            if not problem:  # neither reads of frozen managers nor those from memory are of use
                self._reconciler.look()
            done_s = self._clock.monotonic_s()
            self._next_look_s = done_s + max(self._interval_s(), _REST * (done_s - now_s))
        for record in self._registry.records():
            self._tending.tend(record)
        if not problem:
            self._remove(looked)

    def _hold_up(self, starts: list[ServiceStart], problem: str) -> None:
        why = ErrorText(f"Swarm cannot take it: {problem}")
        self._registry.hold_up([start.service_id for start in starts], why)

    def _create(self, starts: list[ServiceStart]) -> None:
        nodes = self._reconciler.nodes
        if starts:
            self._retried = self._launcher.launch(starts, nodes)
        self._gateways.keep(self._registry.records(), {name: node.node_id for name, node in nodes.items()})

    def _gather(self, pause_s: float) -> list[ServiceStart]:
        """Return the queued starts; after the first, wait for more until a pause."""
        found: list[ServiceStart] = []
        while True:
            try:
                handed = self._handed.get(timeout=self._settings.gather_s if found else pause_s)
            except queue.Empty:
                return found
            if handed is not None:
                found.append(handed)
            elif not found:
                pause_s = 0.0  # a nudge: continue with the present starts

    def _remove(self, looked: bool) -> None:
        for group in self._reconciler.groups().values():
            if self._tending.removable(group):
                self._launcher.remove(group)
        for record in self._registry.records():
            if record.mark.forgotten and record.collected and (record.group is None or record.group.removed):
                self._registry.drop(record.service_id)
        attempts = self._registry.attempts()
        ended = self._attempts is None or self._shared.sharing(self._attempts - attempts)
        if ended:
            self._hasty_until_s = self._clock.monotonic_s() + _HASTE_S
        if ended or (self._shared.left and (looked or self._sweep_due_s() <= self._clock.monotonic_s())):
            self._shared.sweep(attempts)
            self._next_sweep_s = self._clock.monotonic_s() + self._settings.busy_look_interval_s
        self._attempts = attempts

    def _pause_s(self) -> float:
        if self._closing.is_set():
            return 0.0
        now_s = self._clock.monotonic_s()
        dues = (due for record in self._registry.records() if (due := self._tending.due_in_s(record)) is not None)
        return max(min([self._next_look_s - now_s, self._sweep_due_s() - now_s, *dues]), 0.0)

    def _sweep_due_s(self) -> float:
        """Return when to retry the removal of objects in use: soon, since that costs less than listing all tasks."""
        hasty = self._shared.left > 0 and self._clock.monotonic_s() < self._hasty_until_s
        return self._next_sweep_s if hasty and not self._quorum.problem else math.inf

    def _interval_s(self) -> float:
        changing = any(
            record.observation.state in _CHANGING or (record.mark.forgotten and record.group is not None)
            for record in self._registry.records()
        )
        hasty = self._shared.left > 0 and self._clock.monotonic_s() < self._hasty_until_s
        busy = changing or hasty or self._gateways.settling
        return self._settings.busy_look_interval_s if busy else self._settings.look_interval_s
