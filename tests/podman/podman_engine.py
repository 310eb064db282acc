"""One machine with Podman's service in namespaces of its own, which netavark's firewall rules do not leave."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

from tests.docker.one_engine import OneEngine
from tests.swarm.engine_host import EngineHost

# crun refuses control groups of versions 1 and 2 side by side; there is no journal here.
_SETTINGS = """
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
"""
_STORAGE = """
[storage]
driver = "overlay"
graphroot = "{base}/data/graph"
runroot = "{base}/run"
"""


class PodmanHost(EngineHost):
    """A machine whose engine is Podman."""

    def start_engine(self, *options: str) -> None:
        """Begin the service on the socket; options: of `podman`."""
        (self.base / "containers.conf").write_text(_SETTINGS)
        (self.base / "storage.conf").write_text(_STORAGE.format(base=self.base))
        log = (self.base / "log").open("ab")
        self._engine = subprocess.Popen(
            ["nsenter", "-t", str(self.first_pid), "--net", "--uts", "--mount", "--pid",
             "env", f"CONTAINERS_CONF={self.base}/containers.conf",
             f"CONTAINERS_STORAGE_CONF={self.base}/storage.conf",
             "podman", *options, "system", "service", "--time", "0", f"unix://{self.socket}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        log.close()

    def kill_engine(self) -> None:
        """SIGKILL to the service, not to its containers, which go on."""
        assert self._engine is not None
        self.inside("pkill", "-KILL", "-f", f"podman system service.*{self.socket}")
        self._engine.wait(10)


class PodmanEngine(OneEngine):
    """The engine of the tests, as Podman."""

    host_class = PodmanHost

    def remove(self) -> None:
        """Also remove Podman's control groups, which are empty then."""
        super().remove()
        for group in Path("/sys/fs/cgroup").glob("*/libpod_parent"):
            for directory, _, _ in os.walk(group, topdown=False):
                with contextlib.suppress(OSError):  # another engine's
                    Path(directory).rmdir()
