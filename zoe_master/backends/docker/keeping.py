"""The thread that keeps the registry and the engine alike: it retries, tends, removes and sweeps."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.docker.launch import ContainerLauncher
from zoe_master.backends.docker.networks import ALONE, AttemptNetworks
from zoe_master.backends.docker.settings import DockerSettings
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.errors import UNREACHABLE, words_of
from zoe_master.backends.engine.services.records import Record
from zoe_master.backends.engine.services.service_driver import ServiceDriver
from zoe_master.backends.engine.services.service_registry import ServiceRegistry
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt

_log = logging.getLogger(__name__)
_SHORTEST_S = 0.05  # what is due may have to wait for the engine
_REST = 4.0
"""The pause after a look, in multiples of its duration: an engine that is slow to list its containers has other work,
too.
"""


class ContainerKeeper:
    """Starts services in a pool, and looks at all containers at intervals, besides the events of the engine."""

    def __init__(
        self,
        engine: Engine,
        registry: ServiceRegistry[Record],
        launcher: ContainerLauncher,
        networks: AttemptNetworks,
        driver: ServiceDriver,
        recurring: Callable[[float], None],
        settings: DockerSettings,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._engine = engine
        self._registry = registry
        self._launcher = launcher
        self._networks = networks
        self._driver = driver
        self._recurring = recurring
        self._settings = settings
        self._clock = clock
        self._starts = ThreadPoolExecutor(settings.workers, thread_name_prefix="zoe-docker-start")
        self._lock = threading.Lock()
        self._launching: set[str] = set()
        self._again: list[ServiceStart] = []
        self._nudged, self._closing = threading.Event(), threading.Event()
        self._looked_s = float("-inf")
        self._next_retry_s = 0.0
        self._next_recurring_s = 0.0
        self._thread = threading.Thread(target=self._run, name="zoe-docker", daemon=True)

    def begin(self) -> None:
        """Start the thread."""
        self._thread.start()

    def hand_over(self, start: ServiceStart) -> None:
        """Start a service soon."""
        with self._lock:
            self._launching.add(start.service_id)
        try:
            self._starts.submit(self._launch, start)
        except RuntimeError:
            return  # closing: the next back-end starts it

    def nudge(self) -> None:
        """Wake the thread: there may be work."""
        self._nudged.set()

    def close(self) -> None:
        """End the thread, once running starts are done; services that were not begun are left to the next back-end."""
        self._closing.set()
        self.nudge()
        self._thread.join()
        self._starts.shutdown(cancel_futures=True)
        try:
            self._sweep()
        except UNREACHABLE as error:
            _log.info("the removal of networks is left to the next back-end: %s", words_of(error))

    def _launch(self, start: ServiceStart) -> None:
        again = False
        try:
            again = self._launcher.launch(start)
        except Exception:  # an error with one service must not affect others
            _log.exception("starting service %s failed", start.service_id)
            again = True
        with self._lock:
            if again:
                self._again.append(start)
            else:
                self._launching.discard(start.service_id)
        self.nudge()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._pass()
            except UNREACHABLE as error:
                _log.warning("the engine does not answer: %s", words_of(error))
                self._looked_s = self._clock.monotonic_s()
            except Exception:
                _log.exception("a pass over the containers failed")
                self._looked_s = self._clock.monotonic_s()
            self._nudged.wait(self._pause_s())
            self._nudged.clear()

    def _pass(self) -> None:
        now_s = self._clock.monotonic_s()
        if now_s >= self._next_recurring_s:
            self._next_recurring_s = now_s + self._settings.look_interval_s
            self._recurring(now_s)
        for record in self._registry.records():
            self._driver.tend(record)
        if self._again and now_s >= self._next_retry_s:
            self._next_retry_s = now_s + self._settings.engine_retry_s
            self._retry()
        if now_s >= self._look_due_s():
            self._look()
            done_s = self._clock.monotonic_s()
            self._looked_s = done_s + _REST * (done_s - now_s)

    def _retry(self) -> None:
        with self._lock:
            again, self._again = self._again, []
        for start in again:
            self.hand_over(start)

    def _look(self) -> None:
        """Compare the records with the engine's list of containers."""
        records = self._registry.records()  # before the list: what begins meanwhile is not missing from it
        with self._lock:
            launching = set(self._launching)
        there = self._listed()
        for record in records:
            known = record.container_id
            if record.mark.forgotten and record.collected and record.service_id not in there:
                self._registry.drop(record.service_id)
            elif record.mark.forgotten and record.collected:
                self._engine_remove(there[record.service_id])
            elif record.final or record.service_id in launching:
                continue
            elif known and known not in there.values():
                self._registry.end_gone(record, "its container was removed from outside")
            elif not known and record.service_id not in there and record.mark.stop_cause is not None:
                self._registry.end_unstarted(record.service_id, record.mark.stop_cause)
        self._sweep()

    def _sweep(self) -> None:
        """Remove the networks of attempts without a service that may run: addresses for networks are few."""
        if self._networks.left:
            self._networks.sweep(self._attempts)

    def _attempts(self) -> set[Attempt]:
        """Return the attempts with a service that may run."""
        found = {record.attempt for record in self._registry.records() if not record.final}
        return found | {ALONE} if found else found

    def _listed(self) -> dict[str, str]:
        """Return the container of each service of ours."""
        own = [f"{labels.INSTALLATION}={self._settings.installation}", labels.SERVICES]
        found: Any = self._engine.api.containers(all=True, filters={"label": own})
        return {entry["Labels"][labels.SERVICES]: entry["Id"] for entry in found}

    def _engine_remove(self, container_id: str) -> None:
        try:
            self._engine.api.remove_container(container_id, v=True)
        except UNREACHABLE as error:
            _log.info("the removal of a container is retried: %s", words_of(error))

    def _look_due_s(self) -> float:
        """Return when to look again: soon while containers are to be removed; all else arrives as events."""
        removing = any(record.mark.forgotten for record in self._registry.records())
        return self._looked_s + (self._settings.busy_look_interval_s if removing else self._settings.look_interval_s)

    def _pause_s(self) -> float:
        now_s = self._clock.monotonic_s()
        dues = [due for record in self._registry.records() if (due := self._driver.due_in_s(record)) is not None]
        dues += [due_s - now_s for due_s in (self._look_due_s(), self._next_recurring_s)]
        if self._again:
            dues.append(self._next_retry_s - now_s)
        return max(min(dues), _SHORTEST_S)
