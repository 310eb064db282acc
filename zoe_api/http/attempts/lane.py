"""A few threads that serve networks in turn, so that a busy network delays only itself."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class NoPlace(Exception):  # noqa: N818 - the name is the fact
    """The lane is full, or a waiting task gave its place to a network with fewer."""


@dataclass(slots=True)
class _Job:
    work: Callable[[], Any]
    future: Future[Any]


class Lane:
    """Run tasks in a few threads, taking one of each network in turn. Thread-safe.

    Any other name of a group works like a network. `of_network_at_once_max`: threads that one of them may have.
    """

    def __init__(
        self,
        name: str,
        at_once_max: int,
        inside_max: int,
        of_network_max: int,
        of_network_at_once_max: int | None = None,
    ) -> None:
        self._lock = threading.Lock()
        self._executor = ThreadPoolExecutor(at_once_max, name)
        self._at_once_max = at_once_max
        self._inside_max = inside_max
        self._of_network_max = of_network_max
        self._of_network_at_once_max = of_network_at_once_max or at_once_max
        self._running: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()  # running or waiting tasks by network
        self._waiting: OrderedDict[str, deque[_Job]] = OrderedDict()  # the network whose turn is next comes first

    @property
    def inside(self) -> int:
        """Return the number of running and waiting tasks."""
        with self._lock:
            return self._inside.total()

    @property
    def is_busy(self) -> bool:
        """Return whether one more task would have to wait."""
        with self._lock:
            return self._running.total() >= self._at_once_max

    def submit(self, network: str, work: Callable[[], T]) -> Future[T]:
        """Run the task when it is the network's turn; NoPlace, at once or later, if too many wait."""
        job = _Job(_in_this_context(work), Future())
        with self._lock:
            if self._inside[network] >= self._of_network_max:
                raise NoPlace
            displaced = self._displaced_by(network) if self._inside.total() >= self._inside_max else None
            self._inside[network] += 1
            self._waiting.setdefault(network, deque()).append(job)
            self._start()
        if displaced is not None and displaced.set_running_or_notify_cancel():
            displaced.set_exception(NoPlace())
        return job.future

    def close(self) -> None:
        """Let the threads end after their running task."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _displaced_by(self, network: str) -> Future[Any]:
        """Remove the last task of the longest queue; NoPlace unless that queue stays at least as long as the
        newcomer's.
        """
        most = max(self._waiting, key=lambda text: len(self._waiting[text]), default=network)
        own = len(self._waiting.get(network, ()))
        if len(self._waiting.get(most, ())) < own + 2:
            raise NoPlace
        self._leave(most)
        return self._waiting[most].pop().future

    def _start(self) -> None:
        while self._running.total() < self._at_once_max and (network := self._next()) is not None:
            jobs = self._waiting.pop(network)
            job = jobs.popleft()
            if jobs:
                self._waiting[network] = jobs
            self._running[network] += 1
            self._executor.submit(self._run, network, job)

    def _next(self) -> str | None:
        """Return the network whose turn is next among those with a thread left."""
        return next((name for name in self._waiting if self._running[name] < self._of_network_at_once_max), None)

    def _run(self, network: str, job: _Job) -> None:
        """Free the place before the outcome is set: the caller may return at once."""
        tell = _run_job(job) if job.future.set_running_or_notify_cancel() else _drop_outcome
        try:
            with self._lock:
                self._running[network] -= 1
                self._running = +self._running
                self._leave(network)
                self._start()
        finally:
            tell()  # also in a lane that was closed, which starts nothing

    def _leave(self, network: str) -> None:
        self._inside[network] -= 1
        self._inside = +self._inside


def _in_this_context(work: Callable[[], T]) -> Callable[[], T]:
    context = copy_context()
    return lambda: context.run(work)


def _run_job(job: _Job) -> Callable[[], None]:
    """Do the task; return a function that sets its outcome."""
    try:
        outcome = job.work()
    except BaseException as error:
        return partial(job.future.set_exception, error)
    return partial(job.future.set_result, outcome)


def _drop_outcome() -> None:
    """Set no outcome: the caller has left."""
