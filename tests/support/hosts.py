"""Several hosts on this machine: network namespaces on one switch, whose traffic the kernel counts.

Everything depends on processes that end with their maker, so nothing remains after its death.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from tests.support.needs import need_program, need_root
from tests.support.waiting import DEADLINE_S

_HOLD = "ip link set lo up && echo ready && read _"


class Hosts:
    """`addresses` of the hosts; `outside` is this machine's own. Each host has `near`, an address on its loopback."""

    def __init__(self, count: int) -> None:
        need_root()
        for program in ("ip", "nsenter", "setpriv", "unshare"):
            need_program(program)
        number = os.getpid() % 250
        self._prefix = f"zh{os.getpid() % 10**6}"
        self.addresses = [f"10.215.{number}.{host}" for host in range(1, count + 1)]
        self.outside = f"10.215.{number}.254"
        self.near = f"10.216.{number}.1"
        self._holders: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        try:
            self._holders = [self._hold() for _ in (*self.addresses, "switch")]
            switch = self._holders[-1]
            self._inside(switch, "ip", "link", "add", "br0", "type", "bridge")
            self._inside(switch, "ip", "link", "set", "br0", "up")
            self._cable(0, None, self.outside)
            for position, (holder, address) in enumerate(zip(self._holders, self.addresses, strict=False), 1):
                self._cable(position, holder, address)
                self._inside(holder, "ip", "address", "add", f"{self.near}/32", "dev", "lo")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the holders; with the last process in it a namespace goes, and its cables."""
        for holder in self._holders:
            assert holder.stdin is not None
            assert holder.stdout is not None
            holder.stdin.close()
            holder.wait(DEADLINE_S)
            holder.stdout.close()
        self._holders = []

    def on(self, host: int, command: Sequence[str], uid: int | None = None, gid: int | None = None) -> list[str]:
        """Return the command that runs something on a host, counted from 0."""
        enter = ["nsenter", f"--net=/proc/{self._holders[host].pid}/ns/net"]
        account = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"] if uid is not None else []
        return [*enter, *account, *command]

    def received(self) -> list[int]:
        """Return the bytes that each host received over its cable."""
        return [self._received(host) for host, _ in enumerate(self.addresses)]

    def _received(self, host: int) -> int:
        # /proc/net is of the reader's namespace; /sys is of the one that mounted it.
        read = self.on(host, ["cat", "/proc/net/dev"])
        told = subprocess.run(read, check=True, capture_output=True, text=True, timeout=DEADLINE_S).stdout
        [line] = [line for line in told.splitlines() if line.strip().startswith("eth0:")]
        return int(line.partition(":")[2].split()[0])

    def _hold(self) -> subprocess.Popen[str]:
        command = ["unshare", "--net", "sh", "-c", _HOLD]
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        return holder

    def _cable(self, position: int, holder: subprocess.Popen[str] | None, address: str) -> None:
        """From the switch to a host, or to this machine."""
        here, there = f"{self._prefix}a{position}", f"{self._prefix}b{position}"
        _ip("link", "add", here, "type", "veth", "peer", "name", there)
        switch = self._holders[-1]
        _ip("link", "set", there, "netns", str(switch.pid))
        self._inside(switch, "ip", "link", "set", there, "master", "br0", "up")
        if holder is None:
            _ip("address", "add", f"{address}/24", "dev", here)
            _ip("link", "set", here, "up")
            return
        _ip("link", "set", here, "netns", str(holder.pid))
        self._inside(holder, "ip", "link", "set", here, "name", "eth0")
        self._inside(holder, "ip", "address", "add", f"{address}/24", "dev", "eth0")
        self._inside(holder, "ip", "link", "set", "eth0", "up")

    @staticmethod
    def _inside(holder: subprocess.Popen[str], *command: str) -> None:
        enter = ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
        subprocess.run([*enter, *command], check=True, timeout=DEADLINE_S)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, timeout=DEADLINE_S)
