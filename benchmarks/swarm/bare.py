"""The same containers with docker-py alone, in several ways; the fastest counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import local
from typing import Any

import docker
from docker.types import (
    ContainerSpec,
    DriverConfig,
    EndpointSpec,
    NetworkAttachmentConfig,
    Resources,
    RestartPolicy,
    ServiceMode,
    TaskTemplate,
)

from benchmarks.swarm.watch import wait_until
from tests.swarm.engine_host import EngineHost
from zoe_master.backends.engine.spec.rendering import RenderedService

THREADS = 8
IMAGE = "zoe/tiny:latest"
MEMORY_BYTES = 16 * 2**20
NANO_CORES = 5 * 10**8
PROCESSES = 4096
LOG = {"max-size": "8m", "max-file": "2"}
GRACE_S = 10
_numbers = count()


class Bare:
    """Starts and removes containers on all engines; `way` is the method."""

    def __init__(self, hosts: Sequence[EngineHost]) -> None:
        self._sockets = [f"unix://{host.socket}" for host in hosts]
        self._own = local()
        self._pool = ThreadPoolExecutor(THREADS)
        self._network = ""
        self._undo: list[Callable[[], Any]] = []

    def api(self, engine: int = 0) -> docker.APIClient:
        """Return this thread's client of an engine."""
        known: dict[int, Any] = self._own.__dict__.setdefault("apis", {})
        if engine not in known:
            known[engine] = docker.APIClient(self._sockets[engine], version="1.41", timeout=120)
        return known[engine]

    def network(self) -> str:
        """Create an overlay network, attachable, as plain containers need it."""
        self._network = self.api().create_network(f"bare-{next(_numbers)}", "overlay", attachable=True)["Id"]
        return self._network

    def all_at_once(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        """Run the calls in all threads."""
        return list(self._pool.map(lambda job: job(), jobs))

    def remove(self) -> None:
        """Remove everything that `start` has created the same way; each container has its grace period."""
        for undo in self._undo:
            undo()
        wait_until(self._without_network, lambda: "the network cannot be removed")

    def _without_network(self) -> bool:
        if not self._network:
            return True
        try:
            self.api().remove_network(self._network)
        except docker.errors.APIError:
            return False
        self._network = ""
        return True

    def start_like_zoe(self, hosts: Sequence[EngineHost], wanted: Sequence[RenderedService]) -> None:
        """Start the containers that Zoe would create, in several threads, with their host names and limits."""
        network, engines = self.network(), {host.name: position for position, host in enumerate(hosts)}
        jobs = [lambda entry=entry: self._one_of_these(engines[entry.start.node], entry, network) for entry in wanted]
        made = self.all_at_once(jobs)
        self._undo = [lambda: self.all_at_once([lambda o=entry: self.stop_container(*o) for entry in made])]

    def _one_of_these(self, engine: int, one: RenderedService, network: str) -> tuple[int, str]:
        api, component = self.api(engine), one.start.component
        binds = [f"{mount['Source']}:{mount['Target']}" for mount in one.mounts if mount["Type"] == "bind"]
        host = api.create_host_config(
            mem_limit=component.memory_limit_bytes or component.reservation.memory_bytes,
            nano_cpus=(component.cores_limit_milli or 0) * 10**6, pids_limit=PROCESSES, init=True, cap_drop=["ALL"],
            network_mode=network, binds=binds, log_config={"type": "json-file", "config": LOG},
        )  # fmt: skip
        names = api.create_networking_config({network: api.create_endpoint_config(aliases=[one.host])})
        made = api.create_container(
            component.image, list(one.arguments), hostname=one.host, environment=dict(one.environment),
            user="65534:65534", working_dir=one.work_dir, host_config=host, networking_config=names,
        )["Id"]  # fmt: skip
        api.start(made)
        return engine, str(made)

    # Ways

    def one_service(self, replicas: int, command: list[str]) -> None:
        """Create one Swarm service with this many replicas."""
        network = self.network()
        made = self.api().create_service(**_service(f"bare-{next(_numbers)}", command, network, replicas))["ID"]
        self._undo = [lambda: self.api().remove_service(made)]

    def services(self, number: int, command: list[str]) -> None:
        """Create this many Swarm services of one replica, in several threads."""
        network = self.network()
        names = [f"bare-{next(_numbers)}" for _ in range(number)]
        made = self.all_at_once(
            [lambda n=name: self.api().create_service(**_service(n, command, network, 1))["ID"] for name in names]
        )
        self._undo = [lambda: self.all_at_once([lambda i=entry: self.api().remove_service(i) for entry in made])]

    def containers(self, number: int, command: list[str]) -> None:
        """Start plain containers, in several threads, on all engines in turn."""
        network = self.network()
        engines = [position % len(self._sockets) for position in range(number)]
        jobs = [lambda e=engine: (e, self.start_container(e, command, network)) for engine in engines]
        made = self.all_at_once(jobs)
        self._undo = [lambda: self.all_at_once([lambda o=entry: self.stop_container(*o) for entry in made])]

    def run_container(self, number: int, command: list[str]) -> int:
        """Run a plain container to its end and remove it; return its exit code."""
        engine = number % len(self._sockets)
        made = self.start_container(engine, command, None)
        code = int(self.api(engine).wait(made)["StatusCode"])
        self.api(engine).remove_container(made)
        return code

    def run_service(self, _number: int, command: list[str]) -> int:
        """Run a Swarm service of one task to its end and remove it; return its exit code."""
        made = self.api().create_service(**_service(f"bare-{next(_numbers)}", command, None, 1))["ID"]
        wait_until(lambda: self._ended_tasks(made), lambda: f"service {made} does not end")
        code = int(self._ended_tasks(made)[0]["Status"]["ContainerStatus"]["ExitCode"])
        self.api().remove_service(made)
        return code

    def _ended_tasks(self, service: str) -> list[dict[str, Any]]:
        tasks = self.api().tasks(filters={"service": service})
        return [task for task in tasks if task["Status"]["State"] in ("complete", "failed", "rejected")]

    def start_container(self, engine: int, command: list[str], network: str | None) -> str:
        """Start one plain container and wait until it runs."""
        api = self.api(engine)
        host = api.create_host_config(
            mem_limit=MEMORY_BYTES, nano_cpus=NANO_CORES, pids_limit=PROCESSES, init=True, cap_drop=["ALL"],
            network_mode=network or "bridge", log_config={"type": "json-file", "config": LOG},
        )  # fmt: skip
        made = str(api.create_container(IMAGE, command, user="65534:65534", host_config=host)["Id"])
        api.start(made)
        return made

    def stop_container(self, engine: int, container: str) -> None:
        """Stop the container, then remove it."""
        self.api(engine).stop(container, timeout=GRACE_S)
        self.api(engine).remove_container(container)


def _service(name: str, command: list[str], network: str | None, replicas: int) -> dict[str, Any]:
    container = ContainerSpec(
        IMAGE, args=command, user="65534:65534", init=True, cap_drop=["ALL"], stop_grace_period=GRACE_S * 10**9
    )
    limits = Resources(cpu_limit=NANO_CORES, mem_limit=MEMORY_BYTES)
    limits["Limits"]["Pids"] = PROCESSES
    task = TaskTemplate(
        container,
        resources=limits,
        restart_policy=RestartPolicy("none"),
        log_driver=DriverConfig("json-file", LOG),
        networks=[NetworkAttachmentConfig(network)] if network else None,
    )
    return {
        "task_template": task,
        "name": name,
        "mode": ServiceMode("replicated", replicas=replicas),
        "endpoint_spec": EndpointSpec(mode="dnsrr"),
    }
