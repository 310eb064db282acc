"""The process that answers questions of an API process, one after the other: see `pool.py`, which starts it."""

from __future__ import annotations

import math
import pickle
import resource
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from zoe_api.questions import pickling
from zoe_lib.settings.config import Settings
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.submission.place import LeaderPlace

CPU_S_MAX = 10
"""Maximum CPU time of an answer, in seconds."""
MEMORY_BYTES_MAX = 2 << 30
IDLE_S = 60.0
Question = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A function of a module, and its arguments."""


def main() -> int:
    """Answer until no question has come for a while, or the API process has ended."""
    pickling.install()
    with Connection(sys.stdin.fileno()) as line:
        settings: Settings = line.recv()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
        store = PostgresStore(settings.database_url.get_secret_value(), pool_size=1, read_only=True)
        place = LeaderPlace(settings, store)
        while line.poll(IDLE_S):
            try:
                line.send(_answer(place, line.recv()))
            except (EOFError, BrokenPipeError):
                break
        store.close()
    return 0


def _answer(place: LeaderPlace, question: Question) -> tuple[bool, Any]:
    """Return True and the result, or False and the error. The kernel ends the process after too much CPU time."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time()) + CPU_S_MAX, hard))
    try:
        work, given, named = question
        return True, work(place, *given, **named)
    except Exception as error:
        error.add_note(traceback.format_exc())
        return False, _picklable(error)


def _picklable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - its own
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


if __name__ == "__main__":
    sys.exit(main())
