"""One machine with the Podman service of a user who is not root; the user exists only in its mount namespace."""

from __future__ import annotations

import os
import subprocess

from tests.docker.one_engine import OneEngine
from tests.podman.podman_engine import _SETTINGS, PodmanHost

UID = 61_000
NAME = "podman-user"
_SUBORDINATE = 600_000_000
_PREPARE = f"""
set -e
cd "$1"
mkdir -p home run
chown {UID}:{UID} . home run
chmod 711 . ..
chmod 700 run
for file in passwd group subuid subgid; do cat /etc/$file > $file; done
echo '{NAME}:x:{UID}:{UID}::{{home}}:/bin/sh' | sed "s|{{home}}|$1/home|" >> passwd
echo '{NAME}:x:{UID}:' >> group
echo '{NAME}:{_SUBORDINATE}:65536' | tee -a subuid >> subgid
for file in passwd group subuid subgid; do mount --bind $file /etc/$file; done
[ -c tun ] || mknod -m 666 tun c 10 200
mount --bind tun /dev/net/tun
"""


class RootlessHost(PodmanHost):
    """A machine whose engine is the Podman of a user."""

    def start_engine(self, *options: str) -> None:
        """Begin the user's service on the socket."""
        if not (self.base / "home").exists():
            self.inside("sh", "-c", _PREPARE, "prepare", str(self.base))
        (self.base / "containers.conf").write_text(_SETTINGS)
        self.socket.unlink(missing_ok=True)
        log = (self.base / "log").open("ab")
        self._engine = subprocess.Popen(
            ["nsenter", "-t", str(self.first_pid), "--net", "--uts", "--mount", "--pid",
             "setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups",
             "env", "-i", f"HOME={self.base}/home", f"USER={NAME}", f"XDG_RUNTIME_DIR={self.base}/run",
             f"PATH={os.environ['PATH']}", f"CONTAINERS_CONF={self.base}/containers.conf",
             "podman", *options, "system", "service", "--time", "0", f"unix://{self.socket}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/",
        )  # fmt: skip
        log.close()


class RootlessEngine(OneEngine):
    """The engine of the tests, as the Podman of a user."""

    host_class = RootlessHost
