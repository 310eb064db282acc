"""The network on which the nodes of a job reach each other."""

from __future__ import annotations

import fcntl
import socket
import struct
from ipaddress import ip_interface

_GET_ADDRESS, _GET_MASK = 0x8915, 0x891B  # SIOCGIFADDR, SIOCGIFNETMASK of linux/sockios.h
_ANY_PORT = 9


def subnet_to(host: str) -> str | None:
    """Return the IPv4 network, as `10.0.1.0/24`, of the interface that leads to a host; None if unknown."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((host, _ANY_PORT))  # this sends nothing
            own = probe.getsockname()[0]
            for _, name in socket.if_nameindex():
                if _interface_value(probe, name, _GET_ADDRESS) == own:
                    return str(ip_interface(f"{own}/{_interface_value(probe, name, _GET_MASK)}").network)
    except (OSError, ValueError):
        return None
    return None


def _interface_value(probe: socket.socket, name: str, what: int) -> str | None:
    try:
        answer = fcntl.ioctl(probe.fileno(), what, struct.pack("256s", name.encode()[:15]))
    except OSError:  # an interface without an address
        return None
    return socket.inet_ntoa(answer[20:24])
