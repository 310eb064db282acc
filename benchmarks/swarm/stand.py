"""Three engines, PostgreSQL, a real master and a real API on this machine, removed completely afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.support import temporary_home
from benchmarks.swarm.watch import Watch, things, wait_until
from tests.swarm.cluster import GATEWAY_IMAGE, Cluster
from zoe_client import Client
from zoe_embedded.stack import Stack


@dataclass(frozen=True)
class Stand:
    """Environment of every row."""

    cluster: Cluster
    stack: Stack
    client: Client
    watch: Watch
    workspaces: Path

    def await_removal(self) -> float:
        """Wait until no container is left on any engine; return the time."""
        hosts = self.cluster.hosts
        return wait_until(lambda: not things(hosts), lambda: things(hosts))


@contextmanager
def stand() -> Iterator[Stand]:
    """Start everything and wait until it is ready."""
    with ExitStack() as undo:
        home = undo.enter_context(temporary_home())
        workspaces = home.workspaces.parent / "swarm-workspaces"
        (workspaces / "default").mkdir(parents=True)
        workspaces.chmod(0o755)  # owned by root, otherwise tenants could replace the mounted directory
        (workspaces / "default").chmod(0o777)
        cluster = Cluster()
        undo.callback(cluster.remove)
        settings = {
            "backend": "swarm",
            "swarm_managers": [f"tcp://{cluster.manager.address}:2376"],
            "swarm_tls_dir": str(cluster.certificates),
            "engine_state_dir": str(home.state / "swarm"),
            "engine_workspaces_dir": str(workspaces),
            "engine_user": "65534:65534",
            "swarm_gateway_image": GATEWAY_IMAGE,  # with it nodes report whether a workspace is safe to mount
        }
        stack = undo.enter_context(Stack(home, spark=False, settings=settings))
        client = undo.enter_context(Client(stack.url, stack.token, timeout_s=60))
        watch = Watch(cluster.hosts)
        undo.callback(watch.close)
        yield Stand(cluster, stack, client, watch, workspaces)
