"""Fence lost nodes, so that no container continues there, by a program that the admin names."""

from __future__ import annotations

import logging
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.waker import TickWaker

_log = logging.getLogger(__name__)
_AT_ONCE = 4
_WORDS_MAX = 300


@dataclass(frozen=True, slots=True)
class _Try:
    done: bool = False
    failure: str = ""
    ended_at_s: float | None = None


class NodeFences:
    """Runs the program once for each loss of a node, and again after a pause if it fails; resets when the node is
    back.
    """

    def __init__(self, settings: SwarmSettings, waker: TickWaker, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._command = settings.fence_command
        self._timeout_s = settings.fence_timeout_s
        self._retry_s = settings.fence_retry_s
        self._waker = waker
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="zoe-fence")
        self._lock = threading.Lock()
        self._tries: dict[str, _Try] = {}

    def is_fenced(self, node: str) -> bool:
        """Return whether a lost node is fenced, as far as possible; begin to fence it if it is not."""
        if self._command is None:
            return True
        with self._lock:
            last = self._tries.get(node)
            if last is not None and (
                last.done or last.ended_at_s is None or self._clock.monotonic_s() < last.ended_at_s + self._retry_s
            ):
                return last.done
            begun = self._tries[node] = _Try(failure=last.failure if last is not None else "")
        self._pool.submit(self._run, node, begun)
        return False

    def note_return(self, node: str) -> None:
        """Record that the node is back."""
        with self._lock:
            self._tries.pop(node, None)

    def problem(self, node: str) -> str:
        """Return why a lost node is not fenced yet, as text; empty if it is, or was not lost."""
        with self._lock:
            last = self._tries.get(node)
        if last is None or last.done:
            return ""
        return f"it is being fenced{last.failure and f'; the last attempt failed: {last.failure}'}"

    def close(self) -> None:
        """Wait for running programs; their time is bounded."""
        self._pool.shutdown(cancel_futures=True)

    def _run(self, node: str, begun: _Try) -> None:
        failure = self._failure(node)
        if failure:
            _log.warning("cannot fence node %s: %s", node, failure)
        with self._lock:
            # An earlier run does not fence a node that came back and was lost again meanwhile.
            if self._tries.get(node) is begun:
                self._tries[node] = _Try(not failure, failure, self._clock.monotonic_s())
        self._waker.wake()

    def _failure(self, node: str) -> str:
        try:
            done = subprocess.run(
                [str(self._command), node], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                timeout=self._timeout_s,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"{self._command} took longer than {self._timeout_s:g} s"
        except OSError as error:
            return f"{self._command}: {error.strerror}"
        if done.returncode == 0:
            return ""
        output = (done.stderr or done.stdout).decode(errors="replace").strip()[-_WORDS_MAX:]
        return f"{self._command} exited with {done.returncode}{output and f': {output}'}"
