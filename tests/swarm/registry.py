"""A registry of images on the first machine of the test swarm, made of Debian's program."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from tests.swarm.cluster import Cluster
from tests.swarm.engine_host import wait_for

_PORT = 5000


@contextmanager
def registry(swarm: Cluster) -> Iterator[str]:
    """Its address, as host:port; it speaks plain HTTP and forgets everything at the end."""
    host = swarm.manager
    place = host.base / "registry"
    settings = {
        "version": 0.1,
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(place)}},
        "http": {"addr": f"{host.address}:{_PORT}"},
    }
    file = host.base / "registry.yml"
    file.write_text(json.dumps(settings))  # which is YAML, too
    namespaces = ["nsenter", "-t", str(host.first_pid), "--net", "--mount", "--pid"]
    with (host.base / "registry.log").open("wb") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *namespaces, "docker-registry", "serve", str(file)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    address = f"{host.address}:{_PORT}"
    try:
        wait_for(lambda: _answers(address), lambda: (host.base / "registry.log").read_text()[-1000:])
        yield address
    finally:
        process.terminate()
        process.wait(10)


def _answers(address: str) -> bool:
    with urllib.request.urlopen(f"http://{address}/v2/", timeout=5) as answer:
        return bool(answer.status == 200)
