"""The thread that reads the progress of executions."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import structlog

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Service, ServiceState
from zoe_lib.domain.values.progress import TEXT_MAX, ExecutionProgress, ProgressHistory, ProgressReading, not_less
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import StoreError
from zoe_master.backends.base import BackendError
from zoe_master.background.progress_amounts import TASKS, NoProgress, NoReading, ProgressAmounts
from zoe_master.loop.master import Master

log = structlog.get_logger(__name__)

_LOOK_S = 1.0
INTERVAL_S = 5.0
"""Seconds between two readings of one execution."""
_SAME_S = 60.0  # Unchanged progress is stored again after this time, to update the time of the reading.
_BEGINS_S = 30.0
# A hanging program occupies a worker for some seconds; files have separate workers, since a file system can hang.
_WORKERS = 8
_FILE_WORKERS = 2
_AT_ONCE_MAX = 64


class _FollowedAttempt:
    """The readings of one attempt."""

    def __init__(self, execution: Execution, before: ExecutionProgress | None) -> None:
        component = execution.application.progress_component
        same = before is not None and before.attempt == execution.attempt
        self.attempt = execution.attempt
        self.by_file = component is not None and component.progress is not None and component.progress.file is not None
        self.history = ProgressHistory(before.readings if before is not None and same else ())
        self.next_s = 0.0
        self.asked: Future[None] | None = None
        self.stored: ExecutionProgress | None = None


class ProgressThread:
    """Runs beside one master until it is closed. Progress is separate state, not an event: no decision of the journal
    depends on it, and it changes often.
    """

    def __init__(
        self,
        master: Master,
        store: ExecutionStore,
        amounts: ProgressAmounts,
        interval_s: float = INTERVAL_S,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._master = master
        self._store = store
        self._amounts = amounts
        self._interval_s = interval_s
        self._followed: dict[ExecutionId, _FollowedAttempt] = {}
        self._lock = threading.Lock()
        self._read: dict[ExecutionId, ExecutionProgress] = {}
        self._unwritten: dict[ExecutionId, ExecutionProgress] = {}
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="zoe-progress")
        self._files = ThreadPoolExecutor(_FILE_WORKERS, thread_name_prefix="zoe-progress-files")
        self._thread = threading.Thread(target=self._run, name="zoe-progress", daemon=True)
        self._thread.start()

    def latest(self) -> Mapping[ExecutionId, ExecutionProgress]:
        """Return the newest progress of each running execution that has reported some."""
        with self._lock:
            return dict(self._read)

    def close(self) -> None:
        """End the thread without waiting for a hanging file system."""
        self._closing.set()
        self._thread.join()
        self._pool.shutdown(cancel_futures=True)
        self._files.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        while not self._clock.wait(self._closing, min(_LOOK_S, self._interval_s)):
            try:
                self._look(self._clock.monotonic_s())
                self._write()
            except StoreError as error:
                log.warning("progress is not stored", why=str(error))
            except Exception:  # a failed reading must not end the others
                log.exception("looking at progress failed")

    def _look(self, now_s: float) -> None:
        tick = self._master.latest
        if tick is None:
            return
        telling = {
            e.id: (e, component, service) for e, component, service in _reporting_executions(tick.snapshot.active)
        }
        self._follow({followed: execution for followed, (execution, _, _) in telling.items()})
        asked = [
            followed for followed in self._followed.values() if followed.asked is not None and not followed.asked.done()
        ]
        room = {
            by_file: _AT_ONCE_MAX - sum(followed.by_file is by_file for followed in asked) for by_file in (False, True)
        }
        for execution_id, followed in sorted(self._followed.items(), key=lambda pair: pair[1].next_s):
            if followed.next_s > now_s:
                return
            if room[followed.by_file] > 0 and (followed.asked is None or followed.asked.done()):
                execution, component, service = telling[execution_id]
                followed.next_s = now_s + self._interval_s
                pool = self._files if followed.by_file else self._pool
                followed.asked = pool.submit(self._read_one, execution, component, service, followed)
                room[followed.by_file] -= 1

    def _follow(self, telling: Mapping[ExecutionId, Execution]) -> None:
        """Drop executions that no longer report, and continue from an earlier leader's readings."""
        known = {
            i: entry for i, entry in self._followed.items() if i in telling and entry.attempt == telling[i].attempt
        }
        new = [text for text in telling if text not in known]
        before = self._store.progress_of(new) if new else {}
        self._followed = known | {text: _FollowedAttempt(telling[text], before.get(text)) for text in new}
        with self._lock:
            self._read = {entry: progress for entry, progress in self._read.items() if entry in telling}

    def _read_one(
        self, execution: Execution, component: Component, service: Service, followed: _FollowedAttempt
    ) -> None:
        probe, history, at_s = component.progress, followed.history, self._clock.now_s()
        if probe is None:
            return
        problem = ""
        try:
            reading = self._amounts.read(probe, service.id, at_s)
            if reading is not None:
                before = history.readings[-1] if history.readings else None
                problem = history.take(not_less(reading, before) if probe.spark else reading)
        except (NoProgress, NoReading, BackendError) as error:
            problem = "" if _has_just_begun(service, history, at_s) else str(error)
        except Exception:
            log.exception("reading progress failed", execution=execution.id)
            return
        if not history.readings and not problem:
            return
        text = _text(history.readings[-1], probe.spark is not None) if history.readings else ""
        self._note(
            followed,
            ExecutionProgress(execution.id, followed.attempt, at_s, history.readings, text, _plain(problem)),
        )

    def _note(self, followed: _FollowedAttempt, now: ExecutionProgress) -> None:
        with self._lock:
            self._read[now.execution_id] = now
            if _differs(now, followed.stored):
                followed.stored = self._unwritten[now.execution_id] = now

    def _write(self) -> None:
        with self._lock:
            unwritten, self._unwritten = self._unwritten, {}
        if unwritten:
            self._store.set_progress(list(unwritten.values()))


def _reporting_executions(active: Sequence[Execution]) -> Iterator[tuple[Execution, Component, Service]]:
    """Return the running executions with a progress report, and the service that reports it."""
    for execution in active:
        component = execution.application.progress_component
        if component is None or execution.state is not ExecutionState.RUNNING:
            continue
        for service in execution.current():
            if service.component == component.name and service.index == 0 and service.state is ServiceState.READY:
                yield execution, component, service


def _has_just_begun(service: Service, history: ProgressHistory, at_s: float) -> bool:
    """Return whether the program may have started too recently to report."""
    ready_at_s = service.ready_at_s
    return not history.readings and ready_at_s is not None and at_s < ready_at_s + _BEGINS_S


def _differs(now: ExecutionProgress, before: ExecutionProgress | None) -> bool:
    if before is None or now.at_s - before.at_s >= _SAME_S or now.at_s < before.at_s:
        return True
    return (now.share, now.text, now.problem) != (before.share, before.text, before.problem)


def _plain(text: str) -> str:
    """Return a text without hidden or control characters."""
    return "".join(character if character.isprintable() else " " for character in text[:TEXT_MAX])


def _text(reading: ProgressReading, tasks: bool) -> str:
    """Return the unit of the share; empty for a plain share."""
    if tasks:
        return f"{reading.done:.0f} of {reading.total:.0f} {TASKS}"
    return "" if reading.total == 1 else f"{reading.done:g} of {reading.total:g}"
