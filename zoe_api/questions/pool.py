"""A few processes that answer questions which would hold the interpreter of the API for longer than others may wait.

A tenant has one of them at most. They start when they are needed, and end when they are not.
"""

from __future__ import annotations

import signal
import socket
import sys
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from zoe_api.http.attempts.lane import Lane, NoPlace
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.questions import pickling, worker
from zoe_api.questions.children import TooLong, start
from zoe_api.questions.worker import Question
from zoe_lib.settings.config import Settings
from zoe_lib.submission.place import SubmissionPlace

P = ParamSpec("P")
T = TypeVar("T")
AT_ONCE_MAX, OF_TENANT_AT_ONCE_MAX = 2, 1
# Running and waiting.
INSIDE_MAX, OF_TENANT_MAX = 16, 4
SECONDS_MAX = 60.0
"""Time limit of an answer, on a machine too busy to give it the CPU time that it may use."""


class QuestionPool:
    """Answers questions in processes of their own. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        pickling.install()
        self._settings = settings
        self._lane = Lane("questions", AT_ONCE_MAX, INSIDE_MAX, OF_TENANT_MAX, OF_TENANT_AT_ONCE_MAX)
        self._idle: deque[_Worker] = deque()
        self._workers: set[_Worker] = set()

    def answer(
        self, tenant: str, work: Callable[Concatenate[SubmissionPlace, P], T], *given: P.args, **named: P.kwargs
    ) -> T:
        """Return the result of a function of a module, which gets the process's own settings and read-only store, and
        these values; all are pickled.

        Raises its errors; ApiProblem: 429 if too many wait, 422 if it takes too long.
        """
        try:
            answered: T = self._lane.submit(tenant, lambda: self._ask((work, given, named))).result()
        except NoPlace:
            hint = f"a tenant may have {OF_TENANT_MAX} long checks in progress"
            raise ApiProblem(Code.CHECK_BUSY, "too many long checks are in progress", hint) from None
        except TooLong as error:
            raise ApiProblem(Code.CHECK_TOO_LONG, str(error), "split the description or workflow") from None
        return answered

    def close(self) -> None:
        """End the processes."""
        self._lane.close()
        for used in list(self._workers):
            used.kill()

    def _ask(self, question: Question) -> Any:
        used = self._idle_worker() or _Worker(self._settings)
        self._workers.add(used)
        try:
            done, result = used.ask(question)
        except BaseException:
            self._end(used)
            raise
        self._idle.append(used)
        if isinstance(result, MemoryError):
            raise TooLong(f"the check took more than {worker.MEMORY_BYTES_MAX >> 30} GiB of memory")
        if not done:
            raise result
        return result

    def _idle_worker(self) -> _Worker | None:
        while self._idle:
            used = self._idle.pop()
            if used.is_there():
                return used
            self._end(used)
        return None

    def _end(self, used: _Worker) -> None:
        self._workers.discard(used)
        used.close()


class _Worker:
    """One process, and the line to it."""

    def __init__(self, settings: Settings) -> None:
        here, there = socket.socketpair()
        with there:
            command = [sys.executable, "-P", "-m", worker.__name__]  # nothing is imported from its directory
            self._process = start(command, Path("/"), stdin=there.fileno())
        self._line = Connection(here.detach())
        self._line.send(settings)

    def is_there(self) -> bool:
        """Return whether it still runs: one that was idle for long has ended."""
        return self._process.poll() is None and not self._line.poll()

    def ask(self, question: Question) -> Any:
        """Return its answer; TooLong if it reaches a limit."""
        try:
            self._line.send(question)
            if not self._line.poll(SECONDS_MAX):
                raise TooLong(f"the check took longer than {SECONDS_MAX:g} s")
            return self._line.recv()
        except (EOFError, OSError):
            number = self._process.wait()
            limits = {-signal.SIGXCPU: f"the check took more than {worker.CPU_S_MAX} s of CPU time"}
            raise TooLong(limits.get(number, f"its process ended with {number}")) from None

    def kill(self) -> None:
        """End the process; a thread that waits for its answer gets TooLong."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the process, and the line to it."""
        self.kill()
        self._line.close()
