"""Parse and check addresses: of clients behind proxies, in headers of requests, and in URLs."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from urllib.parse import SplitResult, urlsplit

from starlette.requests import HTTPConnection

# RFC 9110, section 7.2: a name or an IPv4 address, or an IPv6 address in brackets; never a user, a path or an escape.
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?)(?::([0-9]{0,5}))?", re.ASCII)
_PORT_MAX = 65535


def address_of(connection: HTTPConnection) -> str:
    """Return the client's address; behind a trusted proxy, the address that the proxy reports."""
    return connection.client.host if connection.client else ""


def parts_of(address: str) -> SplitResult | None:
    """Return the parts of an address; None if it is invalid."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # only access raises an error for an invalid number
    except ValueError:
        return None
    return parts


def host_name(host: str) -> str | None:
    """Return the name or address in a `Host` header, in lower case, without a final dot, brackets and port.

    None if the header is neither."""
    match = _HOST.fullmatch(host.lower())
    if match is None or int(match[3] or 0) > _PORT_MAX:
        return None
    if match[1] is None:
        return match[2]
    try:
        return str(IPv6Address(match[1]))
    except ValueError:
        return None
