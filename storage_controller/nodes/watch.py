"""The controller `health`: checks each of the store's nodes at an interval, and stores the results.

A node that is away, slow or hangs delays no other one: a few threads check, each within a timeout, and a node that is
still being checked is not checked again.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

import httpx
from sqlalchemy.exc import SQLAlchemyError

from storage_controller.answers import RequestRefusedError
from storage_controller.database.controller_ledger import HEALTH_CONTROLLER
from storage_controller.database.supervision import Mode, Supervisor
from storage_controller.nodes.health import Bounds, Findings, NodeState, judge
from storage_controller.nodes.questions import ask
from storage_controller.nodes.restarts import NodeRestarts
from storage_controller.settings import NodeKind, NodeSettings
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_log = logging.getLogger(__name__)
_UNTOLD, _NOTHING = "not asked yet", Findings()
_THREADS = 16
_SLACK_S = 1.0
"""Slack for name resolution, which has a separate timeout in the system."""
_OFF = {
    Mode.OFF: "the controller health is off",
    Mode.DRY: "the controller health is in a dry run: it checks nodes, and does not keep the results",
}


@dataclass(frozen=True, slots=True)
class NodeHealth:
    """Health of a node. since_s: begin of its state; at_s: last check, both since the epoch. None: never checked."""

    name: str
    kind: NodeKind
    state: NodeState = NodeState.UNKNOWN
    reason: str = _UNTOLD
    since_s: float | None = None
    at_s: float | None = None
    found: Findings = _NOTHING


@dataclass(frozen=True, slots=True)
class StoreNodes:
    """Health and restarts of the nodes. mode_set: is called with a new mode of their controller."""

    all: Callable[[], Sequence[NodeHealth]]
    restarts: NodeRestarts
    mode_set: Callable[[Mode], None] = lambda _: None


class NodeWatch:
    """The threads. mode: of the controller; leads: whether this one does. `now_s` is the time since the epoch."""

    def __init__(
        self,
        nodes: Mapping[str, NodeSettings],
        supervisor: Supervisor,
        mode: Callable[[], Mode],
        bounds: Bounds = Bounds(),  # noqa: B008 - a frozen value
        interval_s: float = 10.0,
        timeout_s: float = 5.0,
        leads: Callable[[], bool] = lambda: True,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._nodes = dict(nodes)
        self._supervisor = supervisor
        self._mode = mode
        self._bounds = bounds
        self._interval_s = interval_s
        self._timeout_s = timeout_s
        self._leads = leads
        self._clock = clock
        self._silent_since_s: dict[str, float] = {}
        self._found: dict[str, NodeHealth] = {}
        self._asked: dict[str, Future[Findings]] = {}
        self._untold = _UNTOLD
        self._last_mode = Mode.ON
        self._http = httpx.Client(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
        self._pool = ThreadPoolExecutor(_THREADS, "zoe-node")
        self._closing, self._soon = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-nodes", daemon=True)

    def begin(self) -> None:
        """Start the threads."""
        self._thread.start()

    def close(self) -> None:
        """End the threads."""
        self._closing.set()
        self._soon.set()
        if self._thread.is_alive():
            self._thread.join()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._http.close()

    def look_soon(self) -> None:
        """Check all nodes now, and not when the interval ends."""
        self._soon.set()

    def mode_set(self, mode: Mode) -> None:
        """Apply a new mode, and check at once: until the interval ends, the old results would be wrong."""
        if mode is not self._last_mode:
            self._found, self._untold, self._last_mode = {}, _OFF.get(mode, _UNTOLD), mode
        self._soon.set()

    def nodes(self) -> list[NodeHealth]:
        """Return the health of each node, in the order of the settings."""
        found, untold = dict(self._found), self._untold
        return [
            self._as_of_now(found[name]) if name in found else NodeHealth(name, settings.kind, reason=untold)
            for name, settings in self._nodes.items()
        ]

    def _as_of_now(self, one: NodeHealth) -> NodeHealth:
        silent_since_s = self._silent_since_s.get(one.name)
        if one.state is not NodeState.AWAY or silent_since_s is None:
            return one
        now_s = self._clock.now_s()
        return replace(one, reason=judge(one.kind, one.found, self._bounds, now_s, now_s - silent_since_s)[1])

    def look(self) -> None:
        """Check all nodes once, and store the results."""
        mode = self._mode_now()
        if mode is not Mode.ON:
            self._found, self._untold = {}, _OFF[mode]
        if mode is Mode.OFF:
            return
        for name, node in self._nodes.items():
            if name not in self._asked:
                self._asked[name] = self._pool.submit(ask, self._http, node.kind, node.url, self._timeout_s)
        wait(self._asked.values(), self._timeout_s + _SLACK_S)
        looked = {name: self._health_of(name) for name in self._nodes}
        states = Counter(health.state for health in looked.values())
        counts = ", ".join(f"{states[state]} {state}" for state in NodeState if states[state])
        self._supervisor.record_action(HEALTH_CONTROLLER, f"asked {len(looked)} nodes: {counts}")
        if mode is Mode.ON:
            self._tell(looked)
            self._found = looked

    def _mode_now(self) -> Mode:
        """Return the mode; while the database is away, the last one."""
        try:
            self._last_mode = self._mode()
        except (RequestRefusedError, SQLAlchemyError) as error:
            _log.warning("cannot read the mode of the controller health: %s", error)
        return self._last_mode

    def _health_of(self, name: str) -> NodeHealth:
        found, now_s = Findings(away=f"no answer within {self._timeout_s:g} s"), self._clock.now_s()
        if self._asked[name].done():
            found = self._asked.pop(name).result()
        if not found.away:
            self._silent_since_s[name] = now_s
        silent_s = now_s - self._silent_since_s.setdefault(name, now_s)
        kind = self._nodes[name].kind
        state, reason = judge(kind, found, self._bounds, now_s, silent_s)
        before = self._found.get(name)
        since_s = before.since_s if before is not None and before.state is state else now_s
        return NodeHealth(name, kind, state, reason, since_s, now_s, found)

    def _tell(self, looked: Mapping[str, NodeHealth]) -> None:
        for name, health in looked.items():
            before = self._found.get(name)
            if before is None and health.state is NodeState.UP:
                continue
            if before is None or before.state is not health.state:
                level = logging.INFO if health.state is NodeState.UP else logging.WARNING
                _log.log(
                    level, "the node %s is %s%s", name, health.state, f": {health.reason}" if health.reason else ""
                )

    def _run(self) -> None:
        while not self._closing.is_set():
            if self._leads():
                if self._supervisor.ready(HEALTH_CONTROLLER):
                    with self._supervisor.run(HEALTH_CONTROLLER):
                        self.look()
            else:
                self._found, self._untold = {}, _UNTOLD
            self._clock.wait(self._soon, self._interval_s)
            self._soon.clear()
