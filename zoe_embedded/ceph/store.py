"""A temporary Ceph of one monitor, one node in memory and RADOS gateways, from Debian's packages."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from zoe_embedded.processes.children import end_with_parent
from zoe_embedded.processes.log_files import log_to
from zoe_embedded.processes.ports import HeldPorts
from zoe_embedded.runtimes.needs import find_program

PROGRAMS = ("ceph", "ceph-authtool", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin")
INSTALL = "apt-get install -y --no-install-recommends ceph-mon ceph-osd ceph-common radosgw"
_START_S_MAX = 90.0
_STOP_S_MAX = 15.0
_RETRY_S = 0.2
_COMMAND_S_MAX = 60
_KEYS = {
    "mon.": ("--cap", "mon", "allow *"),
    "client.admin": ("--cap", "mon", "allow *", "--cap", "osd", "allow *"),
    "osd.0": ("--cap", "mon", "allow *", "--cap", "osd", "allow *"),
}
_KEYS_OF_GATEWAY = ("--cap", "mon", "allow rw", "--cap", "osd", "allow rwx")
_CONFIGURATION = """\
[global]
fsid = {fsid}
mon_initial_members = a
mon_host = [v2:127.0.0.1:{monitor}]
public_addr = 127.0.0.1
ms_bind_ipv6 = false
keyring = {directory}/keyring
admin_socket = {directory}/$name.asok
run_dir = {directory}
pid_file = {directory}/$name.pid
log_file = {directory}/$name.log
mon_data = {directory}/mon
osd_data = {directory}/osd
rgw_data = {directory}/rgw
osd_objectstore = memstore
memstore_device_bytes = {memory_bytes}
osd_numa_auto_affinity = false
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 1000
mon_osd_full_ratio = 0.98
"""
_GATEWAY = """\
[{name}]
rgw_frontends = beast endpoint=127.0.0.1:{port}
rgw_swift_account_in_url = true
"""


class CephError(Exception):
    """Ceph does not start; the message says why and what to do."""


def lacking() -> list[str]:
    """Return the programs that are not installed."""
    return [name for name in PROGRAMS if find_program(name) is None]


class CephStore:
    """Use as a context manager; everything is in `directory`, and objects are in memory."""

    def __init__(self, directory: Path, memory_bytes: int = 2 << 30, gateways: int = 1) -> None:
        self.directory, self._memory_bytes = directory, memory_bytes
        self._gateways = [f"client.rgw.{'abcdefgh'[number]}" for number in range(gateways)]
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._held = HeldPorts(1 + gateways)

    @property
    def auth_url(self) -> str:
        """Return the URL at which users sign in by Swift's protocol."""
        return f"{self.url}/auth/v1.0"

    @property
    def url(self) -> str:
        """Return the URL of the first gateway, for S3."""
        return self.urls[0]

    @property
    def urls(self) -> list[str]:
        """Return the URLs of the gateways."""
        return [f"http://127.0.0.1:{port}" for port in self._held.numbers[1:]]

    def __enter__(self) -> Self:
        if missing := lacking():
            raise CephError(f"not installed: {', '.join(missing)}; {INSTALL}")
        try:
            self._configure()
            self._spawn("monitor", ["ceph-mon", "-f", "-i", "a"])
            self._wait("the monitor", lambda: bool(self._ceph("status", check=False)))
            self._make_node()
            self._spawn("node", ["ceph-osd", "-f", "-i", "0"])
            self._wait("the node", lambda: json.loads(self._ceph("osd", "stat", "-f", "json"))["num_up_osds"] == 1)
            for name, url in zip(self._gateways, self.urls, strict=True):
                self._spawn(name, ["radosgw", "-f", "-n", name])
                self._wait(f"the gateway {name}", partial(_answers, url))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def ended_program(self) -> str | None:
        """Return the name of a program that ended by itself; None if all run."""
        return next((name for name, popen in self._processes.items() if popen.poll() is not None), None)

    def add_user(self, name: str, key: str) -> str:
        """Create a user with an account of that name, and return its login for Swift's protocol."""
        self.admin("user", "create", f"--uid={name}", f"--display-name={name}")
        made = (f"--uid={name}", f"--subuser={name}:swift", "--access=full", "--key-type=swift", f"--secret={key}")
        self.admin("subuser", "create", *made)
        return f"{name}:swift"

    def admin(self, *words: str) -> str:
        """Return the output of `radosgw-admin`. Raises CephError."""
        return self._run("radosgw-admin", "-n", self._gateways[0], *words)

    def close(self) -> None:
        """Stop all programs, the gateway first."""
        for process in reversed(self._processes.values()):
            process.terminate()
            try:
                process.wait(_STOP_S_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()
        self._held.close()

    def _configure(self) -> None:
        monitor, *ports = self._held.numbers
        for name in ("mon", "osd", "rgw"):
            (self.directory / name).mkdir(parents=True)
        fsid = str(uuid.uuid4())
        text = _CONFIGURATION.format(
            fsid=fsid, directory=self.directory, monitor=monitor, memory_bytes=self._memory_bytes
        ) + "".join(_GATEWAY.format(name=name, port=port) for name, port in zip(self._gateways, ports, strict=True))
        (self.directory / "ceph.conf").write_text(text)
        keyring, initial = self.directory / "keyring", self.directory / "monmap"
        for name, grants in (_KEYS | dict.fromkeys(self._gateways, _KEYS_OF_GATEWAY)).items():
            create = [] if keyring.exists() else ["--create-keyring"]
            self._run("ceph-authtool", str(keyring), *create, "--gen-key", "-n", name, *grants)
        at = f"[v2:127.0.0.1:{monitor}]"
        self._run("monmaptool", "--create", "--addv", "a", at, "--fsid", fsid, str(initial))
        self._run("ceph-mon", "--mkfs", "-i", "a", "--monmap", str(initial), "--keyring", str(keyring))

    def _make_node(self) -> None:
        one = str(uuid.uuid4())  # the monitor admits only nodes with its own id
        self._ceph("osd", "new", one)
        self._run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", one, "--no-mon-config")

    def _ceph(self, *words: str, check: bool = True) -> str:
        return self._run("ceph", "--connect-timeout", "10", *words, check=check)

    def _run(self, *command: str, check: bool = True) -> str:
        done = subprocess.run(
            _with_path(command),
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=_COMMAND_S_MAX,
            check=False,
        )
        if check and done.returncode:
            raise CephError(f"{' '.join(command[:4])} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return done.stdout

    def _spawn(self, name: str, command: Sequence[str]) -> None:
        with log_to(self.directory / f"{name}.out") as log:
            self._processes[name] = subprocess.Popen(
                _with_path(command),
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=end_with_parent,  # noqa: PLW1509 - it takes no lock
            )

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "CEPH_CONF": str(self.directory / "ceph.conf")}

    def _wait(self, what: str, ready: Callable[[], bool]) -> None:
        give_up_s = time.monotonic() + _START_S_MAX
        while not ready():
            for name, process in self._processes.items():
                if process.poll() is not None:
                    story = (self.directory / f"{name}.out").read_text(errors="replace")[-2000:]
                    raise CephError(f"{name} ended with {process.returncode}:\n{story}")
            if time.monotonic() > give_up_s:
                raise CephError(f"{what} did not come up within {_START_S_MAX:g} s")
            time.sleep(_RETRY_S)


def _with_path(command: Sequence[str]) -> list[str]:
    return [find_program(command[0]) or command[0], *command[1:]]


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - it is our own
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
