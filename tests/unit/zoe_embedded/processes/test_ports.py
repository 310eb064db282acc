"""Ports that are reserved for their server."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from zoe_embedded.processes.ports import HeldPorts

# Which ports the kernel may choose for one socket (Linux 6.3, linux/in.h): the lowest, and the highest above 16 bits.
IP_LOCAL_PORT_RANGE = 51


def only(port: int) -> socket.socket:
    """A socket for which the kernel may choose that port and no other."""
    made = socket.socket()
    try:
        made.setsockopt(socket.IPPROTO_IP, IP_LOCAL_PORT_RANGE, struct.pack("I", port << 16 | port))
    except OSError as error:
        made.close()
        if error.errno == errno.ENOPROTOOPT:
            pytest.skip("this kernel chooses from one range for all")
        raise
    return made


def test_they_are_different_and_a_server_can_listen_while_they_are_held() -> None:
    with HeldPorts(5) as held:
        assert len(set(held.numbers)) == 5
        for port in held.numbers:
            with socket.create_server(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)):
                pass


def test_held_port_is_refused_to_other_programs() -> None:
    with socket.create_server(("127.0.0.1", 0)) as somewhere, HeldPorts(1) as held:
        [port] = held.numbers
        with only(port) as other, pytest.raises(OSError):  # noqa: PT011 - which error is the kernel's choice
            other.connect(somewhere.getsockname())
        for reuse in (0, 1):
            with only(port) as other:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
                with pytest.raises(OSError):  # noqa: PT011
                    other.bind(("127.0.0.1", 0))
        held.close()
        with only(port) as other:
            other.connect(somewhere.getsockname())
