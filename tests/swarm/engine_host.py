"""One machine of the test swarm: namespaces of its own with a Docker Engine in them, all gone when one process dies."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import docker

DISK_BYTES = 6 * 2**30
ENGINE_DEADLINE_S = 40.0
# First process of the namespaces: it mounts the data root and stays.
_HOLDER = """
set -e
hostname "$1"
ip link set lo up
if [ -n "$4" ]; then
    cp --sparse=always "$4" "$2/disk"
    if [ "$(stat -c %s "$2/disk")" -lt "$3" ]; then
        truncate -s "$3" "$2/disk"
        e2fsck -fp "$2/disk" > /dev/null 2>&1 || [ $? = 1 ]
        resize2fs "$2/disk" > /dev/null 2>&1
    fi
else
    truncate -s "$3" "$2/disk"
    mkfs.ext4 -q -O ^has_journal -m 0 "$2/disk"
fi
mkdir -p "$2/data"
mount -o loop "$2/disk" "$2/data"
if [ -n "$5" ]; then sh "$6" "$5" "$2/images" "$2/data"; fi
echo ready
exec docker-init -s -- sleep infinity
"""
_LAYERS = str(Path(__file__).with_name("layers.sh"))


class EngineHost:
    """Network, mount, process and host-name namespaces, held by one process; SIGKILL to it removes everything.

    `own_network=False` leaves it in this machine's network. Its disk is empty, or a copy of the file `disk`; from the
    beginning it has the images of the disk `images`, of which it keeps no copy.
    """

    def __init__(
        self,
        name: str,
        base: Path,
        cgroup_parent: str,
        own_network: bool = True,
        disk_bytes: int = DISK_BYTES,
        disk: Path | None = None,
        images: Path | None = None,
    ) -> None:
        self.name = name
        self.base = base / name
        self.base.mkdir()
        self.socket = self.base / "sock"
        self._cgroup_parent = cgroup_parent
        self.address = ""
        self.api = docker.APIClient(f"unix://{self.socket}", version="1.41", timeout=30)
        self._engine: subprocess.Popen[bytes] | None = None
        spaces = [*(["--net"] if own_network else []), "--uts", "--mount", "--pid", "--fork"]
        self.holder = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", *spaces, "--kill-child", "--mount-proc",
             "sh", "-c", _HOLDER, "holder", name, str(self.base), str(disk_bytes), str(disk or ""),
             str(images or ""), _LAYERS],
            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        (self.base / "holder").write_text(str(self.holder.pid))

    def await_namespaces(self) -> None:
        """Until the data root is mounted."""
        assert self.holder.stdout is not None
        assert self.holder.stdout.readline() == b"ready\n", f"no namespaces for {self.name}"

    @property
    def first_pid(self) -> int:
        """The first process in the namespaces, by its number outside."""
        pid = self.holder.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def connect(self, bridge: str, outside: str, address: str, prefix: int) -> None:
        """A cable from the bridge into the network namespace."""
        self.address, self._cable = address, outside
        _run("ip", "link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", str(self.first_pid))
        _run("ip", "link", "set", outside, "master", bridge, "up")
        self.inside("ip", "address", "add", f"{address}/{prefix}", "dev", "eth0")
        self.inside("ip", "link", "set", "eth0", "up")

    def unplug(self) -> None:
        """Disconnect this machine from all others."""
        _run("ip", "link", "set", self._cable, "down")

    def plug(self) -> None:
        """Undo `unplug`."""
        _run("ip", "link", "set", self._cable, "up")

    def inside(self, *command: str) -> bytes:
        """Run a command in the namespaces."""
        return _run("nsenter", "-t", str(self.first_pid), "--net", "--uts", "--mount", "--pid", *command)

    def start_engine(self, *options: str) -> None:
        """Begin dockerd, listening on its socket; `await_engine` waits for it."""
        (self.base / "daemon.json").write_text("{}")
        (self.base / "pid").unlink(missing_ok=True)
        log = (self.base / "log").open("ab")
        self._engine = subprocess.Popen(
            ["nsenter", "-t", str(self.first_pid), "--net", "--uts", "--mount", "--pid",
             "env", "DOCKER_SERVICE_PREFER_OFFLINE_IMAGE=1", "GOGC=400",  # collects more rarely
             f"PATH={sys.prefix}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
             "dockerd", "--config-file", str(self.base / "daemon.json"),
             "--data-root", str(self.base / "data"), "--exec-root", str(self.base / "exec"),
             "--pidfile", str(self.base / "pid"), "--cgroup-parent", self._cgroup_parent,
             "--oom-score-adjust", "0", "-H", f"unix://{self.socket}", *options],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        log.close()

    def await_engine(self) -> None:
        """Until the engine answers."""
        wait_for(lambda: self._listens() and self.api.ping(), lambda: (self.base / "log").read_text()[-2000:])

    def _listens(self) -> bool:
        """Asked without the client, which would leave a socket open for each refusal."""
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(str(self.socket))
            return True

    @property
    def engine_runs(self) -> bool:
        return self._engine is not None and self._engine.poll() is None

    def pause_engine(self) -> None:
        """Let the daemon stand still; `nsenter`, which runs it, does so, too."""
        self.inside("kill", "-STOP", (self.base / "pid").read_text())

    def resume_engine(self) -> None:
        """Let both go on: while `nsenter` stands still it does not hear of the daemon's end."""
        assert self._engine is not None
        self._engine.send_signal(signal.SIGCONT)
        self.inside("kill", "-CONT", (self.base / "pid").read_text())

    def kill_engine(self) -> None:
        """SIGKILL to the daemon, not to its containers."""
        assert self._engine is not None
        self.inside("kill", "-KILL", (self.base / "pid").read_text())
        self._engine.wait(10)

    def end_engine(self) -> None:
        """Tell the daemon to end, and wait until it has written everything."""
        assert self._engine is not None
        self.inside("kill", (self.base / "pid").read_text())
        self._engine.wait(60)

    def close(self) -> None:
        """Release resources held here for a machine that is gone."""
        self.api.close()
        assert self.holder.stdout is not None
        self.holder.stdout.close()
        self.holder.wait(10)
        if self._engine is not None:
            self._engine.wait(10)


def wait_for(condition: Callable[[], object], story: Callable[[], str], deadline_s: float = ENGINE_DEADLINE_S) -> None:
    """Ask until it is true; a refused connection is a no."""
    end_s = time.monotonic() + deadline_s
    while True:
        try:
            if condition():
                return
        except (OSError, docker.errors.DockerException):
            pass
        assert time.monotonic() < end_s, f"not within {deadline_s} s: {story()}"
        time.sleep(0.1)


def _run(*command: str) -> bytes:
    done = subprocess.run(command, capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.decode()}"
    return done.stdout
