"""Zoe's cookies: their names, attributes, and all values that a browser sends for one.

Over HTTPS they have the prefix that lets browsers reject cookies set by other origins (RFC 6265bis). Over plain HTTP an
application on the same host, or below the same domain, can set cookies of our names with other paths; browsers send all
of them, in an order that the application chooses.
"""

from __future__ import annotations

import re

from starlette.requests import HTTPConnection
from starlette.responses import Response

_HOST_ONLY = "__Host-"
SESSION, APP, SIGN_IN, BY_ADDRESS = "zoe-session", "zoe-app", "zoe-sign-in", "zoe-by-address"
OURS = frozenset(f"{prefix}{name}" for name in (SESSION, APP, SIGN_IN, BY_ADDRESS) for prefix in ("", _HOST_ONLY))
VALUES_MAX = 180
"""Browsers keep at most this many cookies of a domain; further values in a header are ignored."""
# The results of `secrets.token_urlsafe` for 32 and for 48 bytes.
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}|[A-Za-z0-9_-]{64}", re.ASCII)


def cookie_name(name: str, secure: bool) -> str:
    """Return the cookie's name over HTTPS, or over plain HTTP, where browsers refuse the prefix."""
    return f"{_HOST_ONLY}{name}" if secure else name


def is_secure(connection: HTTPConnection) -> bool:
    """Return whether the browser speaks TLS."""
    return connection.url.scheme in ("https", "wss")


def is_sent(connection: HTTPConnection, name: str) -> bool:
    """Return whether the browser sends a cookie with this name."""
    return bool(_sent_values(connection, name))


def secrets_in(connection: HTTPConnection, name: str) -> list[str]:
    """Return the cookie's values that could be one of Zoe's secrets: in order, without duplicates, limited in
    number.
    """
    secrets = dict.fromkeys(value for value in _sent_values(connection, name) if _SECRET.fullmatch(value))
    return list(secrets)[:VALUES_MAX]


def put(response: Response, connection: HTTPConnection, name: str, secret: str, lifetime_s: float) -> None:
    """Set the cookie for this host only (no domain is given), hidden from scripts."""
    secure = is_secure(connection)
    age_s = round(lifetime_s)
    response.set_cookie(cookie_name(name, secure), secret, age_s, secure=secure, httponly=True, samesite="lax")


def remove(response: Response, connection: HTTPConnection, name: str) -> None:
    """Make the browser delete the cookie."""
    secure = is_secure(connection)
    response.delete_cookie(cookie_name(name, secure), secure=secure, httponly=True, samesite="lax")


def _sent_values(connection: HTTPConnection, name: str) -> list[str]:
    cookie = cookie_name(name, is_secure(connection))
    pairs = [pair.partition("=") for line in connection.headers.getlist("cookie") for pair in line.split(";")]
    return [value.strip() for key, _, value in pairs if key.strip() == cookie]
