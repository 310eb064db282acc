"""Select the headers that pass between a browser and an application; others are Zoe's or belong to one hop."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from zoe_api.apps.request_target import same_origin
from zoe_api.apps.targets import Target
from zoe_api.http.addresses import parts_of
from zoe_api.http.cookies import OURS

Headers = Iterable[tuple[str, str]]

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_OF_WEBSOCKETS = "sec-websocket-"
# CGI, WSGI and others convert other characters to underscores or dashes: `x_zoe_secret` would become X-Zoe-Secret.
_UNFOLDED = re.compile(r"[A-Za-z0-9-]+", re.ASCII)
# RFC 9110, sections 5.1 and 5.5. Obsolete folding and control characters could end a header.
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")


def is_sound(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether these headers may be written into a response."""
    return all(_NAME.fullmatch(name) and _VALUE.fullmatch(value) for name, value in headers)


def to_application(headers: Headers, target: Target, scheme: str) -> Iterator[tuple[str, str]]:
    """Rewrite headers as if the browser used the application's own address, since many applications check host and
    origin."""
    headers = list(headers)
    dropped = {name.lower() for name in target.headers} | _of_this_hop(headers)
    for name, value in headers:
        match name:
            case _ if name in dropped or not _UNFOLDED.fullmatch(name) or name.startswith(_OF_WEBSOCKETS):
                continue
            case "host":
                yield "X-Forwarded-Host", value
            case "origin":
                yield name, f"http://{target.authority}"
            case "referer":
                page = parts_of(value)
                if page is not None:
                    yield name, page._replace(scheme="http", netloc=target.authority).geturl()
            case "cookie":
                cookies = _without_ours(value)
                if cookies:
                    yield name, cookies
            case "x-forwarded-for" | "x-forwarded-host" | "x-forwarded-proto" | "x-real-ip" | "forwarded":
                continue
            case _:
                yield name, value
    yield "X-Forwarded-Proto", scheme
    yield "Host", target.authority
    yield from target.headers.items()


_OF_EACH_SERVER = frozenset({"date", "server"})
"""The API's server sends these headers itself; each may occur only once (RFC 9110, sections 6.6.1 and 10.2.4)."""


def to_browser(headers: Headers, target: Target) -> Iterator[tuple[str, str]]:
    """Rewrite redirects to the application's own address to its origin here; limit cookies to that origin."""
    headers = list(headers)
    dropped = _of_this_hop(headers)
    for name, value in headers:
        match name.lower():
            case lower if lower in dropped or lower in _OF_EACH_SERVER:
                continue
            case "location":
                yield name, _relative(value, target)
            case "set-cookie":
                cookie = _host_only(value)
                if cookie is not None:
                    yield name, cookie
            case _:
                yield name, value


def _of_this_hop(headers: Headers) -> set[str]:
    """Return the headers of this hop in lower case, including those listed in `Connection` (RFC
    9110, section 7.6.1)."""
    named = (value.split(",") for name, value in headers if name.lower() == "connection")
    return {name.strip().lower() for names in named for name in names} | HOP_BY_HOP


def _without_ours(cookies: str) -> str:
    pairs = (pair.strip() for pair in cookies.split(";"))
    return "; ".join(pair for pair in pairs if pair.partition("=")[0].strip() not in OURS)


def _host_only(cookie: str) -> str | None:
    """Return the cookie limited to this host; None if it would replace one of Zoe's cookies."""
    first, *attributes = cookie.split(";")
    if first.partition("=")[0].strip() in OURS:
        return None
    kept = (a for a in attributes if a.partition("=")[0].strip().lower() != "domain")
    return ";".join([first, *kept]).strip(" \t")  # no server accepts a value with spaces around it


def _relative(location: str, target: Target) -> str:
    parts = parts_of(location)
    if parts is None or parts.netloc != target.authority:
        return location
    query, fragment = f"?{parts.query}" * bool(parts.query), f"#{parts.fragment}" * bool(parts.fragment)
    return f"{same_origin(parts.path or '/')}{query}{fragment}"
