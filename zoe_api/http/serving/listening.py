"""Check that the API can listen on the address in the settings."""

from __future__ import annotations

import errno
import socket
from contextlib import suppress

CANNOT_LISTEN = 3
"""The exit code of the API if it cannot listen: uvicorn's."""
_OF_PORT = (errno.EADDRINUSE, errno.EACCES)


class _NoSocket(Exception):  # noqa: N818 - the name is the fact
    """The machine has no addresses of this family; the server leaves them out as well."""


def _probe(family: int, kind: int, protocol: int) -> socket.socket:
    try:
        probe = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _NoSocket from error
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    return probe


def listening_trouble(host: str, port: int) -> str | None:
    """Return why the API cannot listen there, and which setting to change; None if it can."""
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in places:
            with suppress(_NoSocket), _probe(family, kind, protocol) as probe:
                probe.bind(address)
    except UnicodeError:
        return f"cannot listen on {host} port {port}: it is no name of a host; change api_host (ZOE_API_HOST)"
    except OSError as error:
        name, variable = ("api_port", "ZOE_API_PORT") if error.errno in _OF_PORT else ("api_host", "ZOE_API_HOST")
        return f"cannot listen on {host} port {port}: {error.strerror}; change {name} ({variable})"
    return None
