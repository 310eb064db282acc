"""Sample what running services use: engines are queried at intervals, each by one worker at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.base import Usage
from zoe_master.backends.engine.daemon.engine_events import EngineEvents
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.services.service_registry import Services
from zoe_master.backends.engine.settings import EngineSettings


class UsageSampling:
    """The last sample of every known service."""

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
        self._interval_s = settings.sample_interval_s
        self._usage: dict[ServiceId, Usage] = {}
        self._running: dict[str, Future[None]] = {}  # by node
        self._next_s = 0.0

    def usage(self) -> Sequence[Usage]:
        """Return the last measurements of running services."""
        usage = self._usage
        running = (record.service_id for record in self._registry.records() if record.running)
        return [usage[service] for service in running if service in usage]

    def begin(self, now_s: float) -> None:
        """Query engines if it is time; skip those with a pending query."""
        if now_s < self._next_s:
            return
        self._next_s = now_s + self._interval_s
        for watch in self._watches.watches():
            before = self._running.get(watch.node)
            if before is None or before.done():
                with contextlib.suppress(RuntimeError):  # closing
                    self._running[watch.node] = self._pool.submit(self._sample, watch)

    def _sample(self, watch: EngineEvents) -> None:
        records = [record for record in self._registry.records() if record.node == watch.node and record.running]
        running = {record.container.container_id: record.service_id for record in records if record.container}
        sample = watch.sample(running)
        now_s = self._clock.now_s()
        sampled = {
            record.service_id: Usage(
                record.service_id, record.execution_id, record.node, *sample[record.service_id], now_s
            )
            for record in records
            if record.service_id in sample
        }
        service_ids = {record.service_id for record in self._registry.records()}
        self._usage = {
            service: usage for service, usage in {**self._usage, **sampled}.items() if service in service_ids
        }
