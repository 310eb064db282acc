"""The catalogue's Spark notebook with 20 workers, until all have registered and the notebook answers HTTP."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.swarm.bare import Bare
from benchmarks.swarm.stand import Stand
from benchmarks.swarm.table import Figure
from tests.swarm.engine_host import EngineHost
from tests.swarm.image_cache import archive_of
from zoe_lib.descriptions import parse
from zoe_lib.domain.applications.application import Component
from zoe_master.backends.base import PeerService, ServiceStart
from zoe_master.backends.engine.spec.rendering import render
from zoe_master.backends.swarm import SwarmSettings

WORKERS = 20
TENANT = "default"
PAUSE_S = 2.0
IMAGES = ("base", "gateway", "spark", "jupyter-spark")
DESCRIPTION = Path(__file__).resolve().parents[2] / "app_descriptions" / "spark-notebook.json"
_ALL_THERE = f"""
import json, time, urllib.request
def asked(url):
    try:
        return urllib.request.urlopen(url, timeout=5).read()
    except OSError:
        return b""
while json.loads(asked("http://spark-master-0:8080/json/") or b"{{}}").get("aliveworkers") != {WORKERS}:
    time.sleep(0.1)
while not asked("http://notebook-0:8888/api"):
    time.sleep(0.05)
"""


def description() -> dict[str, Any]:
    """Return a description with workers of the least size; one of them is core, as in the catalogue."""
    document: dict[str, Any] = json.loads(DESCRIPTION.read_text())
    size = {"worker_memory": "1GiB", "worker_cores": 0.1}
    document["frameworks"][0]["parameters"] = {"core_workers": 1, "elastic_workers": WORKERS - 1, **size}
    return document


def measure(stand: Stand, runs: int) -> list[Figure]:
    """Measure, after loading the images; the bare side starts all containers at once."""
    _load(stand)
    bare = Bare(stand.cluster.hosts)
    ours, beside = [], []
    for _ in range(runs):
        ours.append(_by_zoe(stand))
        beside.append(_by_bare(stand, bare))
    what = f"Spark with {WORKERS} workers and a notebook"
    return [Figure(what, "s", ours, beside, "containers by 8 threads", 1.15)]


def _load(stand: Stand) -> None:
    archives = [archive_of(name) for name in IMAGES]

    def load(host: EngineHost) -> None:
        for archive in archives:
            with archive.open("rb") as file:
                host.api.load_image(file)

    with ThreadPoolExecutor(len(stand.cluster.hosts)) as pool:
        list(pool.map(load, stand.cluster.hosts))
    for host in stand.cluster.hosts:
        host.api.prune_images()


def _by_zoe(stand: Stand) -> float:
    time.sleep(PAUSE_S)
    began_s = stand.watch.begin()
    execution = stand.client.submit(description()).id
    stand.watch.last_of("start", 1)
    _await_all(stand, "jupyter lab")
    took_s = time.time() - began_s
    stand.client.cancel(execution)
    stand.client.wait(execution, 120)
    stand.await_removal()
    return took_s


def _by_bare(stand: Stand, bare: Bare) -> float:
    time.sleep(PAUSE_S)
    began_s = stand.watch.begin()
    bare.start_like_zoe(stand.cluster.hosts, list(_starts(stand)))
    _await_all(stand, "jupyter lab")
    took_s = time.time() - began_s
    bare.remove()
    stand.await_removal()
    return took_s


def _await_all(stand: Stand, name: str) -> None:
    """Wait with one process in the notebook's container until all have registered, whichever side started them."""
    while True:
        for host in stand.cluster.hosts:
            for container in host.api.containers():
                if name in str(container["Command"]):
                    made = host.api.exec_create(container["Id"], ["python3", "-c", _ALL_THERE])
                    printed = host.api.exec_start(made["Id"])
                    code = host.api.exec_inspect(made["Id"])["ExitCode"]
                    assert code == 0, (code, printed, host.api.logs(container["Id"], tail=20))
                    return
        time.sleep(0.05)


def _starts(stand: Stand) -> Any:
    """Return every container as Zoe would fill its templates, on all nodes in turn."""
    document = description()
    del document["components"][0]["environment"][
        "JUPYTER_TOKEN_FILE"
    ]  # Zoe makes that file; without it Jupyter makes a token
    application = parse(document)
    services = [(component, index) for component in application.components for index in range(component.total_count)]
    nodes = [host.name for host in stand.cluster.hosts]
    peers = tuple(_peer(component, index, nodes[0]) for component, index in services)
    settings = SwarmSettings(state_dir=stand.stack.home.state, workspaces_dir=stand.workspaces, user="65534:65534")
    for position, (component, index) in enumerate(services):
        service = f"bare.{component.name}.{index}.1"
        start = ServiceStart(service, "bare", TENANT, "admin", component, index, nodes[position % len(nodes)], peers)
        yield render(start, settings)


def _peer(component: Component, index: int, node: str) -> PeerService:
    return PeerService(f"bare.{component.name}.{index}.1", component.name, index, node, component.ports)
