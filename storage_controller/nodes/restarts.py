"""Restarts of the store's nodes, one at a time for each node, by the programs of the settings."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from storage_controller.answers import RequestRefusedError
from storage_controller.nodes.command import run
from storage_controller.settings import NodeSettings
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_log = logging.getLogger(__name__)
RUNNING_MAX = 4
"""Most restarts at the same time: a store without many of its nodes fails requests."""
Run = Callable[[Sequence[str], float], tuple[int | None, str]]


@dataclass(frozen=True, slots=True)
class NodeRestart:
    """A restart, with times since the epoch. ended_s: None while it runs. code: None while it runs, and if it was
    killed or did not start. output: the end of its program's output.
    """

    author: str | None
    began_s: float
    ended_s: float | None = None
    code: int | None = None
    output: str = ""


class NodeRestarts:
    """Runs restarts. Thread-safe. seconds: timeout of a restart; after: called at its end."""

    def __init__(
        self,
        nodes: Mapping[str, NodeSettings],
        seconds: float,
        after: Callable[[], None] = lambda: None,
        run_it: Run = run,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._nodes = dict(nodes)
        self._seconds = seconds
        self._after = after
        self._run_it = run_it
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[str, NodeRestart] = {}

    def can(self, name: str) -> bool:
        """Return whether the settings have a command to restart a node."""
        return name in self._nodes and bool(self._nodes[name].restart)

    def last_restart(self, name: str) -> NodeRestart | None:
        """Return the running restart of a node, or its last one since this controller started."""
        with self._lock:
            return self._last.get(name)

    def begin(self, name: str, author: str | None) -> None:
        """Begin a restart, which continues in a thread. Raises RequestRefusedError."""
        node = self._nodes.get(name)
        if node is None:
            raise RequestRefusedError(404, f"the store has no node {name} in the settings of its controller")
        if not node.restart:
            raise RequestRefusedError(
                409, f"{name} cannot be restarted from here: set swift_nodes.{name}.restart to a command"
            )
        with self._lock:
            running = [other for other, entry in self._last.items() if entry.ended_s is None]
            if name in running:
                raise RequestRefusedError(409, f"{name} is being restarted")
            if len(running) >= RUNNING_MAX:
                raise RequestRefusedError(
                    409, f"{', '.join(sorted(running))} are being restarted; wait for one of them"
                )
            began = self._last[name] = NodeRestart(author, self._clock.now_s())
        _log.warning("%s restarts the node %s", author or "someone unknown", name)
        threading.Thread(target=self._restart, args=(name, node, began), name="zoe-restart", daemon=True).start()

    def _restart(self, name: str, node: NodeSettings, began: NodeRestart) -> None:
        code, output = None, "the controller failed"
        try:
            code, output = self._run_it(node.restart, self._seconds)
        finally:
            with self._lock:
                self._last[name] = replace(began, ended_s=self._clock.now_s(), code=code, output=output)
            _log.warning("the restart of the node %s ended with %s", name, code)
            self._after()
