"""Addresses of those who ask, and those that others wrote into a request or an answer."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from urllib.parse import SplitResult, urlsplit

from starlette.requests import HTTPConnection

# RFC 9110, section 7.2: a name or an IPv4 address, or an IPv6 address in brackets; never a user, a path or an escape.
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?)(?::([0-9]{0,5}))?", re.ASCII)
_PORT_MAX = 65535


def address_of(connection: HTTPConnection) -> str:
    """Return the address of the one who asks; as a trusted proxy says, when there is one between."""
    return connection.client.host if connection.client else ""


def parts_of(address: str) -> SplitResult | None:
    """Its parts; None when it is no address."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # looked at here only: it raises for what is no number
    except ValueError:
        return None
    return parts


def host_name(host: str) -> str | None:
    """Return the name or address that a header `Host` names, in lower case, without a last dot, brackets and port.

    None when it is none of these.
    """
    match = _HOST.fullmatch(host.lower())
    if match is None or int(match[3] or 0) > _PORT_MAX:
        return None
    if match[1] is None:
        return match[2]
    try:
        return str(IPv6Address(match[1]))
    except ValueError:
        return None
