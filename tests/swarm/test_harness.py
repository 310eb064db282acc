"""The swarm of the tests leaves nothing behind, however its maker ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.swarm import need_swarm
from tests.swarm.cluster import Cluster
from tests.swarm.engine_host import wait_for

ROOT = Path(__file__).resolve().parents[2]
SWARM = """
import time
from tests.swarm.cluster import Cluster
cluster = Cluster(["only"])
print(cluster.base, cluster._bridge, flush=True)
time.sleep(600)
"""
BUILDER = """
import time
from tests.swarm.builder import builder
with builder() as engine:
    print(engine.environment["DOCKER_HOST"].split("//")[1].rsplit("/", 2)[0], "no-bridge", flush=True)
    time.sleep(600)
"""


def traces(base: str, bridge: str) -> list[str]:
    """Files, links, loop devices and processes of a swarm."""
    links = [path.name for path in Path("/sys/class/net").iterdir() if path.name.startswith(bridge)]
    loops = subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=True).stdout
    found = [*links, *([base] if Path(base).exists() else []), *([loops] if base in loops else [])]
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if base.encode() in process.read_bytes():
                found.append(str(process))
        except OSError:
            continue
    return found


def test_the_swarm_has_three_ready_nodes(swarm: Cluster) -> None:
    assert {host.name: swarm.node_state(host.name) for host in swarm.hosts} == {
        "node-1": "ready",
        "node-2": "ready",
        "node-3": "ready",
    }


@pytest.mark.parametrize("program", [SWARM, BUILDER], ids=["swarm", "builder"])
def test_killed_maker_leaves_no_trace(program: str) -> None:
    need_swarm()
    maker = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert maker.stdout is not None
    base, bridge = maker.stdout.readline().split()
    assert traces(base, bridge)
    maker.send_signal(signal.SIGKILL)
    maker.wait(10)
    maker.stdout.close()
    wait_for(lambda: not traces(base, bridge), lambda: str(traces(base, bridge)))
