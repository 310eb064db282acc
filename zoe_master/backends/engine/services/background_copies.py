"""Copy the output of running services before their engines drop it."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.base import BackendError
from zoe_master.backends.engine.daemon import output
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.services.containers import copy_output
from zoe_master.backends.engine.services.records import Record
from zoe_master.backends.engine.services.service_registry import Services
from zoe_master.backends.engine.settings import EngineSettings

_log = logging.getLogger(__name__)
_WORKERS = 2  # a separate pool: a long copy delays neither signals nor final copies
_SELDOM = 32
"""Maximum factor of the interval while a service prints nothing."""


class OutputCopies:
    """Makes the first copy soon after the start, for the beginning; later ones at growing intervals while nothing is
    printed.
    """

    def __init__(self, registry: Services, watches: EngineWatches, settings: EngineSettings) -> None:
        self._registry = registry
        self._watches = watches
        self._interval_s = settings.copy_interval_s
        self._bytes_max = settings.output_bytes_max
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="zoe-engine-copies")
        self._closing = threading.Event()
        self._pauses_s: dict[ServiceId, float] = {}
        self._copying: set[ServiceId] = set()

    def begin(self, now_s: float) -> None:
        """Begin the copies that are due."""
        running = [record for record in self._registry.records() if record.running]
        for gone in self._pauses_s.keys() - {record.service_id for record in running}:
            self._pauses_s.pop(gone, None)
        for record in running:
            pause_s = self._pauses_s.setdefault(record.service_id, self._interval_s)
            if record.copy_due_s is None:
                record.copy_due_s = now_s + pause_s
            engine = self._watches.engine(record.node)
            if now_s >= record.copy_due_s and engine is not None and record.service_id not in self._copying:
                record.copy_due_s = now_s + pause_s
                self._copying.add(record.service_id)
                self._pool.submit(self._copy, engine, record)

    def close(self) -> None:
        """Cancel running copies; the next copy continues from there."""
        self._closing.set()
        self._pool.shutdown(cancel_futures=True)

    def _copy(self, engine: Engine, record: Record) -> None:
        place = self._registry.marks.place(record.service_id)
        before = output.position_of(place).stamp
        try:
            copy_output(engine, record, self._registry, self._bytes_max, self._closing.is_set)
        except BackendError:
            return  # closing
        except Exception:  # an error with one service's output must not affect others
            _log.exception("cannot copy the output of service %s", record.service_id)
        finally:
            self._copying.discard(record.service_id)
        more = output.position_of(place).stamp != before
        pause_s = self._pauses_s.get(record.service_id, self._interval_s)
        longest_s = _SELDOM * self._interval_s
        self._pauses_s[record.service_id] = self._interval_s if more else min(2 * pause_s, longest_s)
