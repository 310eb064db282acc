"""A connection into an execution's own network, as only its services have: made in a container's network namespace."""

from __future__ import annotations

import ctypes
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.swarm.engine_host import EngineHost

_CLONE_NEWNET = 0x40000000


def dial(host: EngineHost, container: dict[str, Any], port: int) -> socket.socket:
    """Connect to a port of a container, given as its engine tells of it, at its address in the overlay network."""
    networks = container["NetworkSettings"]["Networks"]
    address = next(network["IPAddress"] for name, network in networks.items() if name.startswith("zoe-"))
    # A thread enters the namespace and ends; the socket stays in it and works everywhere.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_connect_within, _namespace(host, container), address, port).result()


def _namespace(host: EngineHost, container: dict[str, Any]) -> Path:
    """The engine counts processes in a namespace of its own, whose /proc its host's first process sees."""
    return Path(f"/proc/{host.first_pid}/root/proc/{container['State']['Pid']}/ns/net")


def _connect_within(namespace: Path, address: str, port: int) -> socket.socket:
    with namespace.open() as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return socket.create_connection((address, port), timeout=30)
