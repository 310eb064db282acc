"""Moves of workspaces from users who leave to others; the time grows with the number of files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass

from zoe_master.backends.base import BackendError, MovedWorkspace, MoveState, WorkspaceMove
from zoe_master.backends.services.failures import CannotStartError

# Shorter than the API's timeout.
_WAIT_S = 1.0
_CLOSE_S = 5.0
_SHOWN_MAX = 10
Work = Callable[[threading.Event], str]
"""Moves a workspace, and returns the name of the new directory, empty if there was nothing to move; ends early when the
event is set. Raises BackendError, CannotStartError, OSError.
"""


@dataclass(frozen=True, slots=True)
class _Job:
    move: WorkspaceMove
    done: Future[str]
    thread: threading.Thread


def waiting_for(user: str, executions: Sequence[str]) -> MovedWorkspace:
    """Return that executions still use the files."""
    shown = ", ".join(executions[:_SHOWN_MAX]) + (", ..." if len(executions) > _SHOWN_MAX else "")
    return MovedWorkspace(MoveState.WAITING, f"{shown} still run as {user} and use the files: wait, or cancel them")


class WorkspaceMoves:
    """Runs each move in a thread, one at a time for a user of a tenant. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._jobs: dict[tuple[str, str], _Job] = {}

    def is_active(self, move: WorkspaceMove) -> bool:
        """Return whether a move has begun, and its result was not returned yet."""
        with self._lock:
            return (move.tenant, move.user) in self._jobs

    def begin_or_poll(self, move: WorkspaceMove, work: Work) -> MovedWorkspace:
        """Begin a move unless one is in progress, wait a moment, and return its state. The result is returned once."""
        key = move.tenant, move.user
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = self._begin(move, work)
        if job.move.to != move.to:
            return MovedWorkspace(MoveState.FAILED, f"the files of {move.user} are being given to {job.move.to}")
        with suppress(TimeoutError):
            job.done.exception(_WAIT_S)
        if not job.done.done():
            return MovedWorkspace(MoveState.MOVING)
        with self._lock:
            if self._jobs.get(key) is job:
                del self._jobs[key]
        return _moved_workspace(job)

    def close(self) -> None:
        """End them all; a repeated move continues where it ended."""
        self._closing.set()
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.thread.join(_CLOSE_S)

    def _begin(self, move: WorkspaceMove, work: Work) -> _Job:
        done: Future[str] = Future()

        def run() -> None:
            try:
                done.set_result(work(self._closing))
            except BaseException as error:
                done.set_exception(error)

        thread = threading.Thread(target=run, name="zoe-workspace-move", daemon=True)
        thread.start()
        return _Job(move, done, thread)


def _moved_workspace(job: _Job) -> MovedWorkspace:
    try:
        name = job.done.result()
    except (BackendError, CannotStartError) as error:
        return MovedWorkspace(MoveState.FAILED, str(error))
    except OSError as error:
        return MovedWorkspace(MoveState.FAILED, f"the files of {job.move.user} stay: {error.strerror or error}")
    return MovedWorkspace(MoveState.MOVED, directory=name) if name else MovedWorkspace(MoveState.NOTHING)
