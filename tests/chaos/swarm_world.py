"""Three engines as a swarm: engines are killed and paused, nodes are parted, containers are killed."""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import docker
import requests

from tests.chaos.applications import Store
from tests.chaos.world import After, Blow
from tests.support.installation import TENANT, Installation
from tests.support.swarm import need_swarm
from tests.swarm.cluster import GATEWAY_IMAGE, Cluster
from tests.swarm.engine_host import EngineHost, wait_for

_AWAY_S = (0.5, 15.0)
_PAUSED_S = (0.5, 10.0)
_READY_S = 180.0
# Power off: everything on the node but the two processes that hold its namespaces.
_FENCE = """#!{python}
import os, sys
first = open("{base}/" + sys.argv[1] + "/first").read()
space = os.readlink("/proc/" + first + "/ns/pid")
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        ours = os.readlink("/proc/" + pid + "/ns/pid") == space
        parent = open("/proc/" + pid + "/stat").read().rsplit(")", 1)[1].split()[1]
        name = open("/proc/" + pid + "/comm").read().strip()
        if ours and pid != first and (parent, name) != (first, "sleep"):
            os.kill(int(pid), 9)
    except OSError:
        pass
"""


class SwarmWorld:
    """A node that is lost is fenced by killing everything on it."""

    # What a killed master left of a check is swept when it is two minutes old, every two minutes.
    clean_within_s = 300.0
    stores: Sequence[Store] = (Store.NONE,)
    programs_know_their_service = False

    def __init__(self) -> None:
        need_swarm()
        self._cluster = Cluster()
        self._base = Path(tempfile.mkdtemp(prefix="zoe-chaos-"))
        self._base.chmod(0o755)
        (self._base / TENANT).mkdir()
        (self._base / TENANT).chmod(0o777)
        fence = self._base / "fence"
        fence.write_text(_FENCE.format(python=sys.executable, base=self._cluster.base))
        fence.chmod(0o755)
        for host in self._cluster.hosts:
            (host.base / "first").write_text(str(host.first_pid))
        self._parted: set[str] = set()
        self._ended_s: dict[str, float] = {}
        self.settings: Mapping[str, Any] = {
            "backend": "swarm",
            "swarm_managers": [f"tcp://{self._cluster.manager.address}:2376"],
            "swarm_tls_dir": str(self._cluster.certificates),
            "engine_state_dir": str(self._base / "state"),
            "engine_workspaces_dir": str(self._base),
            "swarm_gateway_image": GATEWAY_IMAGE,
            "swarm_fence_command": str(fence),
            "swarm_check_closed": False,
        }

    def begin(self, installation: Installation) -> None:
        """Nothing is to be done."""

    def blows(self, chance: random.Random, after: After) -> Mapping[str, Blow]:
        """Return those of engines, cables and containers."""

        def kill_engine() -> bool:
            host = self._any(chance)
            if host is not None:
                self._resume(host)
                host.kill_engine()
            return host is not None

        def pause_engine() -> bool:
            host = self._any(chance)
            if host is not None:
                host.pause_engine()
                after(chance.uniform(*_PAUSED_S), lambda: self._resume(host))
            return host is not None

        def part_node() -> bool:
            host = self._any(chance)
            if host is None or host.name in self._parted:
                return False
            host.unplug()
            self._parted.add(host.name)
            after(chance.uniform(*_AWAY_S), lambda: self._plug(host))
            return True

        def kill_container() -> bool:
            host = self._any(chance)
            if host is None or host.name in self._parted:
                return False
            with suppress(docker.errors.APIError, requests.RequestException):
                found = host.api.containers()
                if found:
                    host.api.kill(chance.choice(found)["Id"])
                    return True
            return False

        def begin_engines() -> bool:
            """No harm: engines that ended, by a kill or by the fence, come back after a while."""
            now_s = time.monotonic()
            for host in self._cluster.hosts:
                if host.engine_runs:
                    self._ended_s.pop(host.name, None)
                elif now_s - self._ended_s.setdefault(host.name, now_s) > chance.uniform(0, 10):
                    self._begin(host)
            return False

        return {
            "engine killed": Blow(2, kill_engine),
            "engine paused": Blow(2, pause_engine),
            "node parted": Blow(2, part_node),
            "container killed": Blow(3, kill_container),
            "engines begun": Blow(8, begin_engines),
        }

    def mend(self) -> None:
        """Connect all nodes, and start all engines."""
        for host in self._cluster.hosts:
            if host.name in self._parted:
                self._plug(host)
            self._resume(host)
            if not host.engine_runs:
                self._begin(host)
        for host in self._cluster.hosts:
            state = partial(self._cluster.node_state, host.name)
            wait_for(lambda of=state: of() == "ready", lambda of=state: of(), _READY_S)

    def shared(self) -> Path:
        """Return the directory that every node mounts."""
        return self._base / TENANT

    def left(self) -> list[str]:
        """Return services, secrets, networks and containers."""
        api: Any = self._cluster.manager.api
        found = [f"service {service['Spec']['Name']}" for service in api.services()]
        found += [
            f"network {network['Name']}"
            for network in api.networks()
            if network["Scope"] == "swarm" and not _own(network)
        ]
        for host in self._cluster.hosts:
            containers = host.api.containers(all=True)
            found += [
                f"container of {host.name}: {container['Labels']}, {container['Status']}" for container in containers
            ]
        return found

    def credential(self) -> Mapping[str, str] | None:
        """Return None: there is no object store."""
        return None

    def programs(self) -> Mapping[str, int]:
        """Return none: masters and APIs are all."""
        return {}

    def close(self) -> None:
        """Remove the cluster."""
        for host in self._cluster.hosts:
            self._resume(host)
        self._cluster.remove()
        shutil.rmtree(self._base)

    def _any(self, chance: random.Random) -> EngineHost | None:
        host = chance.choice(self._cluster.hosts)
        return host if host.engine_runs else None

    def _plug(self, host: EngineHost) -> None:
        host.plug()
        self._parted.discard(host.name)

    def _begin(self, host: EngineHost) -> None:
        with suppress(AssertionError):  # on a busy machine it needs longer to come up than a test of one would wait
            self._cluster.restart_engine(host.name)

    @staticmethod
    def _resume(host: EngineHost) -> None:
        with suppress(AssertionError, OSError):  # the fence has ended it
            host.resume_engine()


def _own(network: Mapping[str, Any]) -> bool:
    return network["Name"] == "ingress"
