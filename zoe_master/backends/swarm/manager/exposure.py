"""Detect control ports of nodes, and the cloud's metadata service, that an execution's container can reach."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from docker.errors import APIError, NotFound

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.engine.daemon.engine_events import EngineEvents
from zoe_master.backends.engine.daemon.probe_containers import ImageProgram, ask, candidates
from zoe_master.backends.engine.errors import UNREACHABLE
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.waker import TickWaker

_log = logging.getLogger(__name__)
OUTSIDE = "docker_gwbridge"
"""The bridge from overlay networks to the outside; engines create it with the first of these networks."""
BRIDGES = {OUTSIDE: OUTSIDE, "docker0": "bridge"}
"""Bridges from executions' containers to the outside, with the engine's network; devices use the second."""
CONTROL_PORTS = (2375, 2376, 2377, 7946, 5100, 5101, 5102, 5432)
"""Engines, Swarm, Zoe's API and master, PostgreSQL; UDP ports cannot be tested."""
METADATA = ("169.254.169.254", "fd00:ec2::254")
HINT = "restrict its containers with deploy/close-nodes.sh"
_ADDRESSES_MAX = 6
_INTERVAL_S = 600.0
_RETRY_S = 60.0
_WORKERS = 2
_CANNOT = 3
# One process per address, one second per port: bounded, even if a firewall drops packets.
_SCRIPT = """
if command -v bash > /dev/null; then
    reach() { timeout 1 bash -c ': < "/dev/tcp/$0/$1"' "$1" "$2"; }
elif nc 2>&1 | grep -q BusyBox; then
    reach() { nc -w 1 "$1" "$2" -e true; }
else
    exit 3
fi
for target in "$@"; do
    address=${target%%,*}
    (IFS=,; for port in ${target#*,}; do
        reach "$address" "$port" > /dev/null 2>&1 < /dev/null && echo "$address $port"
    done) &
done
wait
"""


class NodeExposure:
    """Checks nodes at intervals, in a separate pool; the last result stands until the next one."""

    def __init__(self, settings: SwarmSettings, waker: TickWaker, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._settings = settings
        self._waker = waker
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="zoe-swarm-exposure")
        self._lock = threading.Lock()
        self._warnings: dict[str, str] = {}
        self._next_s: dict[str, float] = {}

    def warning(self, node: str) -> str:
        """Return the reachable ports as a sentence; empty if none is known."""
        return self._warnings.get(node, "")

    def look(self, watches: Iterable[EngineEvents]) -> None:
        """Begin to check the nodes that are due."""
        if not self._settings.check_closed:
            return
        now_s = self._clock.monotonic_s()
        for watch in watches:
            if watch.reachable and watch.images and now_s >= self._next_s.get(watch.node, 0.0):
                self._next_s[watch.node] = float("inf")  # until the result arrives
                self._pool.submit(self._look, watch)

    def close(self) -> None:
        """Wait for running checks."""
        self._pool.shutdown(cancel_futures=True)

    def _look(self, watch: EngineEvents) -> None:
        pause_s = _RETRY_S
        try:
            found = self._probe_bridges(watch)
            if found:
                pause_s = _INTERVAL_S if len(found) == len(BRIDGES) else _RETRY_S
                self._warnings[watch.node] = _words(found)
                self._waker.wake()
        except UNREACHABLE as error:
            _log.info("%s cannot check what its containers reach: %s", watch.node, error)
        except Exception:  # a failed check loses a warning, not the node
            _log.exception("checking on %s what its containers reach failed", watch.node)
        self._next_s[watch.node] = self._clock.monotonic_s() + pause_s

    def _probe_bridges(self, watch: EngineEvents) -> dict[str, frozenset[str]]:
        """Return the targets reachable through each bridge, except bridges that no image can test."""
        answers = {bridge: self._probe_bridge(watch, network) for bridge, network in BRIDGES.items()}
        return {bridge: frozenset(shown) for bridge, shown in answers.items() if shown is not None}

    def _probe_bridge(self, watch: EngineEvents, network: str) -> list[str] | None:
        api = watch.engine.api
        ports = {*CONTROL_PORTS, self._settings.engine_port}
        tried = ",".join(str(port) for port in sorted(ports))
        try:
            addresses = _addresses(api, network)
        except NotFound:
            return None  # no container has needed the bridge yet, or the engine has none
        targets = [f"{address},{tried}" for address in addresses] + [f"{text},80" for text in METADATA]
        question = ImageProgram("/bin/sh", ["-c", _SCRIPT, "reach", *targets], network=network)
        for image in candidates(watch.images or (), self._settings):
            try:
                code, shown = ask(api, image, self._settings.installation, question)
            except APIError as error:
                _log.info("%s cannot check %s: %s", image, network, error)
                continue
            if code != _CANNOT:
                return shown.splitlines()
        return None


def _addresses(api: Any, network: str) -> list[str]:
    """Return the addresses of the node, of its bridge, and of the managers."""
    swarm: Mapping[str, Any] = api.info()["Swarm"]
    managers = [str(entry["Addr"]).rpartition(":")[0].strip("[]") for entry in swarm.get("RemoteManagers") or []]
    bridge = [str(entry["Gateway"]) for entry in api.inspect_network(network)["IPAM"]["Config"] if entry.get("Gateway")]
    return list(dict.fromkeys([str(swarm["NodeAddr"]), *bridge, *managers]))[:_ADDRESSES_MAX]


def _words(found: Mapping[str, frozenset[str]]) -> str:
    if len(set(found.values())) == 1:
        found = {"": next(iter(found.values()))}
    open_by = {bridge: _describe_targets(lines) for bridge, lines in found.items() if lines}
    sentences = "; ".join(
        f"containers on this node{bridge and f' on {bridge}'} reach {text}" for bridge, text in open_by.items()
    )
    return sentences and f"{sentences}: {HINT}"


def _describe_targets(lines: Iterable[str]) -> str:
    kinds: dict[str, list[str]] = {"control ports": [], "metadata": []}
    for line in sorted(lines):
        address, port = line.split()
        shown = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        kinds["metadata" if address in METADATA else "control ports"].append(shown)
    return " and ".join(f"{kind} ({', '.join(shown)})" for kind, shown in kinds.items() if shown)
