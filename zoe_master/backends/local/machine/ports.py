"""The port of this machine for each named port of each service."""

from __future__ import annotations

import errno
import socket
import threading
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from zoe_lib.domain.executions.execution import ExecutionId, ServiceId
from zoe_master.backends.local.supervisor import files
from zoe_master.backends.services.failures import CannotStartError

_EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


class PortBook:
    """Ports by (service, name), kept in one file per execution so that peers agree and restarts keep them.

    A port belongs to a service until it is released. It may be allocated before the service starts, since peers need to
    know it. Ports in use are skipped. If another program takes a port later, this is detected right before the
    component runs, and the next attempt, being another service, gets another port.
    """

    def __init__(self, directory: Path, first: int, last: int, is_free: Callable[[int], bool] | None = None) -> None:
        self._directory = directory
        self._first = first
        self._count = last - first + 1
        self._is_free = is_free or can_be_bound
        self._lock = threading.Lock()
        self._ports: dict[ExecutionId, dict[ServiceId, dict[str, int]]] = {}
        # Two installations on one machine must not start at the same port.
        self._next = zlib.crc32(str(directory).encode()) % self._count
        for path in directory.glob("*.new"):  # an incomplete write
            path.unlink()
        for path in sorted(directory.glob("*.json")):
            value = files.read_json(str(path))
            if value is not None:
                self._ports[path.stem] = value
        self._used = {
            port for services in self._ports.values() for ports in services.values() for port in ports.values()
        }

    def allocate(self, execution: ExecutionId, service: ServiceId, names: Iterable[str]) -> dict[str, int]:
        """Return the ports of a service, allocating new ones; CannotStartError if none is left."""
        with self._lock:
            ports = self._ports.setdefault(execution, {}).setdefault(service, {})
            missing = [name for name in names if name not in ports]
            for name in missing:
                ports[name] = self._take()
            if missing:
                self._write(execution)
            return dict(ports)

    def ports_of(self, execution: ExecutionId, service: ServiceId) -> dict[str, int]:
        """Return the present ports of a service."""
        with self._lock:
            return dict(self._ports.get(execution, {}).get(service, {}))

    def release(self, execution: ExecutionId, service: ServiceId | None = None) -> None:
        """Release the ports of a service, or of a whole execution."""
        with self._lock:
            services = self._ports.get(execution, {})
            gone = [service] if service is not None else list(services)
            for name in gone:
                self._used.difference_update(services.pop(name, {}).values())
            if not services:
                self._ports.pop(execution, None)
            self._write(execution)

    def executions(self) -> list[ExecutionId]:
        """Return the executions that hold ports."""
        with self._lock:
            return list(self._ports)

    def _take(self) -> int:
        for _ in range(self._count):
            port = self._first + self._next
            self._next = (self._next + 1) % self._count
            if port not in self._used and self._is_free(port):
                self._used.add(port)
                return port
        raise CannotStartError(f"no free port between {self._first} and {self._first + self._count - 1}")

    def _write(self, execution: ExecutionId) -> None:
        path = self._directory / f"{execution}.json"
        if execution in self._ports:
            files.write_json(str(path), dict(self._ports[execution]))
        else:
            path.unlink(missing_ok=True)


def can_be_bound(port: int) -> bool:
    """Return whether the port is free on all addresses."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - never listened on
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def below_ephemeral(first: int, last: int) -> tuple[int, int]:
    """Return the range, cut where the kernel's own range for clients begins, so that no client takes an allocated
    port.
    """
    try:
        low = int(_EPHEMERAL_RANGE.read_text().split()[0])
    except (OSError, ValueError):
        return first, last
    return (first, min(last, low - 1)) if low > first else (first, last)
