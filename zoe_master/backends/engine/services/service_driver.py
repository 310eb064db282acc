"""Decide the next action for a service: a signal, a probe, a copy of its output, the removal of its container."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import Cause, ServiceId
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.services import containers
from zoe_master.backends.engine.services.records import Record
from zoe_master.backends.engine.services.service_registry import Services
from zoe_master.backends.engine.settings import EngineSettings

_log = logging.getLogger(__name__)
_BEING_ASKED = "being asked"


class ServiceDriver:
    """Examines records and hands their work to the pool; safe to call repeatedly, from any thread."""

    def __init__(
        self,
        registry: Services,
        watches: EngineWatches,
        pool: ThreadPoolExecutor,
        settings: EngineSettings,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._registry = registry
        self._watches = watches
        self._pool = pool
        self._settings = settings
        self._copying: set[ServiceId] = set()

    def tend(self, record: Record) -> None:
        """Take all actions that are possible now."""
        engine = self._watches.engine(record.node)
        with self._registry.lock:
            if record.mark.forgotten:
                self._copy(record, engine)
            elif engine is not None and record.running:
                self._tend_running(record, engine)

    def _tend_running(self, record: Record, engine: Engine) -> None:
        container, probe, now_s = record.container, record.probe, self._clock.now_s()
        assert container is not None
        if record.mark.stop_cause is not None:
            if not record.stop_sent:
                record.stop_sent = True
                self._submit(containers.terminate, engine, record, self._clock)
            elif record.kill_at_s is not None and self._clock.monotonic_s() >= record.kill_at_s:
                record.kill_at_s = None
                self._submit(containers.kill, engine, record, self._clock)
        elif probe is not None and record.mark.ready_at_s is None and container.started_at_s is not None:
            if now_s > container.started_at_s + probe.timeout_s:
                self._registry.stopping(record.service_id, Cause.NEVER_READY)
                self._tend_running(record, engine)
            elif record.asking is None:
                record.asking = _BEING_ASKED
                self._submit(containers.ask_readiness, engine, record, probe, self._registry)

    def _copy(self, record: Record, engine: Engine | None) -> None:
        if engine is None and containers.has_more(record, self._clock):
            return
        if not record.collected and record.service_id not in self._copying:
            self._copying.add(record.service_id)
            self._submit(self._copy_now, engine, record)

    def _copy_now(self, engine: Engine | None, record: Record) -> None:
        try:
            containers.copy_output(engine, record, self._registry, self._settings.output_bytes_max)
            if engine is not None:
                containers.remove(engine, record)
        finally:
            self._copying.discard(record.service_id)

    def due_in_s(self, record: Record) -> float | None:
        """Return in how many seconds to examine it again because of time alone."""
        if not record.running or record.container is None:
            return None
        if record.kill_at_s is not None:
            return record.kill_at_s - self._clock.monotonic_s()
        started_at_s = record.container.started_at_s
        if record.probe is None or record.mark.ready_at_s is not None or started_at_s is None:
            return None
        return started_at_s + record.probe.timeout_s - self._clock.now_s()

    def _submit(self, job: Callable[..., None], *arguments: object) -> None:
        def run_job() -> None:
            try:
                job(*arguments)
            except Exception:  # an error with one container must not affect others
                _log.exception("%s failed", getattr(job, "__name__", job))

        try:
            self._pool.submit(run_job)
        except RuntimeError:
            return  # closing: the next back-end does it
