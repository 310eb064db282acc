"""Machines that are network namespaces: each has an address on one switch, and can be disconnected from it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_SUBNET = "10.213.0"
_NAMESPACES = Path("/run/netns")
_CLONE_NEWNET = 0x40000000


class Network:
    """The machines by name, from the begin to the end of the `with`; all processes in them are killed at the end."""

    def __init__(self, names: Sequence[str]) -> None:
        self._prefix = f"zoe-drill-{os.getpid()}"
        self.addresses = {name: f"{_SUBNET}.{number}" for number, name in enumerate(names, 11)}
        self._outside = os.open("/proc/self/ns/net", os.O_RDONLY)

    def __enter__(self) -> Network:
        switch = self._namespace("switch")
        _ip("netns", "add", switch)
        try:
            _ip("-n", switch, "link", "add", "bridge", "type", "bridge")
            _ip("-n", switch, "link", "set", "bridge", "up")
            for name, address in self.addresses.items():
                self._add(name, address, switch)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        _setns(self._outside)
        for name in (*self.addresses, "switch"):
            self.kill_all(name)
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", self._namespace(name))

    def enter(self, name: str) -> None:
        """Move this process, and its later children, to a machine."""
        descriptor = os.open(_NAMESPACES / self._namespace(name), os.O_RDONLY)
        try:
            _setns(descriptor)
        finally:
            os.close(descriptor)

    def command_prefix(self, name: str) -> list[str]:
        """Return the prefix of a command line for a machine."""
        return ["nsenter", f"--net={_NAMESPACES / self._namespace(name)}", "--"]

    def cut_off(self, name: str) -> None:
        """Block all traffic of a machine."""
        _ip("-n", self._namespace("switch"), "link", "set", name, "down")

    def connect(self, name: str) -> None:
        """Undo `cut_off`."""
        _ip("-n", self._namespace("switch"), "link", "set", name, "up")

    def kill_all(self, name: str) -> None:
        """Kill all processes of a machine, except this one."""
        with suppress(FileNotFoundError):
            inode = (_NAMESPACES / self._namespace(name)).stat().st_ino
            while pids := [pid for pid in _pids() if pid != os.getpid() and _namespace_of(pid) == inode]:
                for pid in pids:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                _reap(pids)

    def _add(self, name: str, address: str, switch: str) -> None:
        namespace = self._namespace(name)
        _ip("netns", "add", namespace)
        _ip("-n", namespace, "link", "set", "lo", "up")
        _ip("-n", switch, "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", namespace)
        _ip("-n", switch, "link", "set", name, "master", "bridge", "up")
        _ip("-n", namespace, "address", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", namespace, "link", "set", "eth0", "up")

    def _namespace(self, name: str) -> str:
        return f"{self._prefix}-{name}"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def _setns(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, _CLONE_NEWNET) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def _namespace_of(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    except OSError:
        return None


def _reap(pids: Sequence[int]) -> None:
    """Collect child processes: a zombie keeps its namespace."""
    for pid in pids:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
