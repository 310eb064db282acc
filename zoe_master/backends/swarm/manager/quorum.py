"""Watch whether the managers can change anything: one without a majority still lists everything, from memory."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from docker.errors import DockerException

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.errors import UNREACHABLE
from zoe_master.backends.swarm.manager.managers import Managers
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.waker import TickWaker

MANAGERS_SILENT = "the swarm's managers do not answer"
_log = logging.getLogger(__name__)
_INTERVAL_S = 1.0
_TIMEOUT_S = 3.0
"""Of a request for the few managers. Nodes must be reported within five seconds, also if all managers hang."""
_REACHABLE = "reachable"


class NoQuorumError(DockerException):
    """The managers that answer are too few to change anything."""


def check_quorum(managers: Sequence[Mapping[str, Any]]) -> None:
    """Raise NoQuorumError unless the leader reaches a majority of the managers, by its list of nodes.

    A leader that has lost its majority answers reads for ten more seconds, and hangs on every change.
    """
    reached = [node["ManagerStatus"].get("Reachability") == _REACHABLE for node in managers if "ManagerStatus" in node]
    if 2 * sum(reached) <= len(reached):
        raise NoQuorumError(f"the swarm has no quorum: managers reachable: {sum(reached)} of {len(reached)}")


class ManagerQuorum:
    """Asks the managers for themselves at each interval, from a thread of its own: requests for changes may hang."""

    def __init__(self, settings: SwarmSettings, waker: TickWaker, clock: Clock = SYSTEM_CLOCK) -> None:
        timeout_s = min(_TIMEOUT_S, settings.engine_timeout_s)
        self._managers = Managers([Engine(url, settings.tls_dir, timeout_s) for url in settings.managers], clock)
        self._waker = waker
        self._clock = clock
        self._problem = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zoe-swarm-quorum", daemon=True)

    def begin(self) -> None:
        """Look once, then start the thread."""
        self.look()
        self._thread.start()

    @property
    def problem(self) -> str:
        """Return why the managers cannot change anything, as text; empty if they can."""
        return self._problem or (MANAGERS_SILENT if self._managers.silent else "")

    def look(self) -> None:
        """Ask now. A manager outside of the majority is like one that does not answer: the next one is asked."""
        before = self._problem
        try:
            self._managers.ask(lambda api: check_quorum(api.nodes(filters={"role": "manager"})))
            self._problem = ""
        except NoQuorumError as error:
            self._problem = str(error)
        except UNREACHABLE:
            self._problem = MANAGERS_SILENT if self._managers.silent else before
        if self._problem != before:
            _log.warning("%s", self._problem or "the swarm's managers have a quorum again")
            self._waker.wake()

    def close(self) -> None:
        """End the thread and close its connections."""
        self._closing.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._managers.close()

    def _run(self) -> None:
        while not self._clock.wait(self._closing, _INTERVAL_S):
            try:
                self.look()
            except Exception:  # one failure must not end the watch
                _log.exception("cannot look for the managers' quorum")
